"""`str.format` that writes decimal fractions with a comma, for languages that do."""

from __future__ import annotations

import string
from decimal import Decimal
from typing import Any


class Comma(string.Formatter):
    """Formats as `str.format` does, but for the point of a fraction; names keep their points."""

    def format_field(self, value: Any, format_spec: str) -> str:
        shown = str(super().format_field(value, format_spec))
        return shown.replace(".", ",") if isinstance(value, (float, Decimal)) else shown
