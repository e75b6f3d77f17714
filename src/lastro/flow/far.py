"""Campaigns whose disk lies on another computer: the way there, and what is found there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from lastro.clock import Clock, from_iso
from lastro.locale import _
from lastro.paths import Disk, Home
from lastro.preflight.check import Finding, Level, verdict_of
from lastro.providers.base import Machine
from lastro.providers.ssh.ssh import DEFAULT_DISK, Ssh, replica_key
from lastro.spec.campaign import Campaign
from lastro.units import show_bytes

#: More than this between two clocks is told: a lease that ends by the wall clock would end at another time.
_CLOCKS_APART_SECONDS = 60.0


def path_there(spec: Campaign, disk: Path | None) -> str:
    """Return where the disk lies on the machine: as `--disk` says, else the campaign file."""
    if disk is not None:
        return str(disk)
    return spec.disk.path if spec.disk is not None else DEFAULT_DISK


def copy_of(home: Home, provider: str, path: str) -> Disk:
    """Return where home keeps what it needs of a disk at a path on a machine."""
    return Disk(home.replica(replica_key(provider, path)))


def check_far(ssh: Ssh, campaign: Campaign, now: datetime) -> Mapping[str, Any]:
    """Return the facts of `preflight.done` for a machine that is reached by ssh.

    What is asked for there: Python, memory, GPUs, room on the disk, and the clock. Checks that try things out
    (the tail of the disk, the job in small, kernels) run where lastro is installed: `lastro preflight` there.
    """
    told = ssh.facts()
    findings = [*_room(told, campaign), _clocks(told, now), *_wants(campaign)]
    return {
        "verdict": verdict_of(findings).value,
        "summary": "; ".join(one.text for one in findings if one.level is not Level.PASS),
        "findings": [one.as_json() for one in findings],
        "stack": told["stack"],
        "node_id": told["node"],
        "trusted": verdict_of(findings) is not Level.FAIL,
    }


def _room(told: Mapping[str, Any], campaign: Campaign) -> list[Finding]:
    free = int(told["free"])
    wanted = campaign.disk.size if campaign.disk is not None else None
    short = wanted is not None and free < wanted
    return [
        Finding(
            code="disk_room",
            level=Level.FAIL if free == 0 else Level.WARN if short else Level.PASS,
            fact=_("free on the disk there"),
            value=show_bytes(free),
            expected=_("the campaign file says {size}").format(size=show_bytes(wanted)) if wanted else None,
            consequence=_("the campaign may wait for room") if short else None,
            next_step=_("take a larger disk, or keep less") if short else None,
        )
    ]


def _wants(campaign: Campaign) -> list[Finding]:
    """Say that nobody has asked whether the machine is what is wanted: that is not the same as well."""
    if not campaign.want:
        return []
    return [
        Finding(
            code="want",
            level=Level.WARN,
            fact=_("what the campaign wants of its machine"),
            value=_("not compared over ssh yet"),
            consequence=_("it may be another card, driver or framework"),
            next_step=_("log in there and type `lastro preflight`"),
        )
    ]


def _clocks(told: Mapping[str, Any], now: datetime) -> Finding:
    apart = abs((from_iso(told["at"]) - now).total_seconds())
    far = apart > _CLOCKS_APART_SECONDS
    return Finding(
        code="clock",
        level=Level.WARN if far else Level.PASS,
        fact=_("its clock beside this one"),
        value=_("{seconds:.0f} s apart").format(seconds=apart),
        expected=_("at most {seconds:.0f} s").format(seconds=_CLOCKS_APART_SECONDS) if far else None,
        consequence=_("what ends at a time of day ends so much earlier or later") if far else None,
        next_step=_("let the machine's clock be set (NTP)") if far else None,
    )


def checking(ssh: Ssh, campaign: Campaign, clock: Clock) -> Callable[[Machine], Mapping[str, Any]]:
    """Return what checks such a machine, as the driver calls it."""
    return lambda _machine: check_far(ssh, campaign, clock.now())
