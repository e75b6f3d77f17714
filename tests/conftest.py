"""What all tests share: they read English texts, whatever the language of who runs them."""

from __future__ import annotations

import os

os.environ["LASTRO_LANG"] = "en"
