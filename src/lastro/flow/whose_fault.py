"""Whom a failed preflight speaks against: this box, all machines of its offer, or the campaign. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from lastro.preflight.check import Level


class Whose(str, Enum):
    """BOX: another machine of the same offer may be well. OFFER: each would be like this one.

    CAMPAIGN: no other machine mends it, and the next one would only cost money.
    """

    BOX = "box"
    OFFER = "offer"
    CAMPAIGN = "campaign"


#: Of the campaign's own files, its lock and its disk, which go from machine to machine.
_CAMPAIGN = frozenset(
    {
        "command", "disk_space", "disk_inodes", "disk_write", "trial", "trial_reload", "isolation",
        "lock_missing", "lock_cut", "lock_edited", "lock_campaign",
    }
)  # fmt: skip
#: Of what a provider sells under the name of the offer: its image, its driver, its cards, its memory.
_OFFER = frozenset(
    {
        "python_version", "packages", "memory", "shared_memory", "descriptors", "image", "gpu",
        "driver_minimum", "driver_version", "driver_cuda", "gpu_count", "gpu_name", "gpu_memory",
        "gpu_compute_mode", "gpu_mig", "gpu_visible", "kernel",
    }
)  # fmt: skip
_LOCKED = "lock."


def whose_fault(facts: Mapping[str, Any]) -> Whose:
    """Return whom the findings speak against that forbid a machine, the farthest first.

    Args:
        facts: of `preflight.done`.
    """
    accepted = facts.get("accepted") or {}
    against = {
        _of(str(one["code"]))
        for one in facts.get("findings") or ()
        if _forbids(one) and one["code"] not in accepted
    }
    return next((one for one in (Whose.CAMPAIGN, Whose.OFFER) if one in against), Whose.BOX)


def _forbids(finding: Mapping[str, Any]) -> bool:
    level = finding["level"]
    return bool(level == Level.FAIL.value or (level == Level.NO_ANSWER.value and finding["required"]))


def _of(code: str) -> Whose:
    """Return whom a finding speaks against; one that is not known here may well be of this box alone."""
    if code in _CAMPAIGN:
        return Whose.CAMPAIGN
    return Whose.OFFER if code in _OFFER or code.startswith(_LOCKED) else Whose.BOX
