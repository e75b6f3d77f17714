"""Preflight of a machine before the first attempt on it, as the driver calls it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lastro.preflight.run import preflight
from lastro.providers.base import Machine
from lastro.spec.campaign import Campaign


def preflight_of(campaign: Campaign, folder: Path, disk: Path) -> Callable[[Machine], Mapping[str, Any]]:
    """Return what checks a machine for this campaign and gives the facts of `preflight.done`.

    Machines of `here` and `local` are this box, so the checks run in this process.
    """

    def check(machine: Machine) -> Mapping[str, Any]:
        return preflight(campaign, folder, disk).as_json()

    return check
