"""What the stages of a campaign say, as one digest: a calendar that was laid out otherwise is no change."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

from pydantic import BaseModel

from lastro.spec.campaign import Campaign
from lastro.spec.run_id import canonical_json


def stages_digest(campaign: Campaign) -> str | None:
    """Return the SHA-256 of the stages in canonical JSON; None for a campaign without any."""
    if not campaign.stages:
        return None
    return hashlib.sha256(canonical_json(_plain(campaign.stages))).hexdigest()


def _plain(value: Any) -> Any:
    """Return a value of the campaign file as JSON has it."""
    if isinstance(value, BaseModel):
        return {name: _plain(getattr(value, name)) for name in type(value).model_fields}
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
