"""A campaign in small for its rehearsal, and its faults as a file that the local provider plays."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import timedelta

from lastro import strictjson
from lastro.flow.small import tiny
from lastro.plan.rehearsal_draw import Drawn
from lastro.plan.rehearsal_weather import Kind
from lastro.rules import decide_notice
from lastro.spec.campaign import Campaign
from lastro.spec.faults import FaultSpec

#: So long a machine may say nothing before it is given up: some signs more than a busy computer misses.
SILENCE = timedelta(seconds=10)
#: A notice that leaves no time to save, in seconds; and the longest: a save in small takes less than that.
TOO_SHORT, LONGEST = 0.2, 10.0


def machines_in_small(machines: int, runs: int) -> int:
    """Return how many machines rehearse: as many as are planned, as far as there is work and a processor."""
    return max(1, min(machines, runs, os.cpu_count() or 1))


def in_small(machines: int, every: int) -> Callable[[Campaign], Campaign]:
    """Return what makes a campaign small: saved each `every` steps, whatever the real one does."""

    def adapt(campaign: Campaign) -> Campaign:
        saving = {"every": f"{every} steps", "max_loss": None, "milestones": None, "older": None}
        return tiny(campaign).model_copy(
            update={
                "machines": machines,
                "silence": SILENCE,
                "checkpoint": campaign.checkpoint.model_copy(update=saving),
            }
        )

    return adapt


def is_shortened(campaign: Campaign) -> bool:
    """Say whether the runs have other values in small, so that they may have fewer steps."""
    return any(campaign.control.get(key) != value for key, value in campaign.smoke.items())


def as_file(faults: Sequence[Drawn], save: timedelta | None) -> str:
    """Return drawn faults as a faults file: what is JSON is YAML.

    Args:
        faults: in their order; a fault's index is its place in the file.
        save: what a save of the real run was measured to take. One that does not fit into the notice would
            fit in small; so the notice is played as one that leaves no time.
    """
    return "faults:\n" + "".join(f"  - {strictjson.dumps(_spelled(fault, save))}\n" for fault in faults)


def _spelled(fault: Drawn, save: timedelta | None) -> dict[str, object]:
    if fault.kind is Kind.REFUSED:
        return {"create": fault.create}
    told: dict[str, object] = {"run": fault.run, "step": fault.step}
    if fault.kind is Kind.SILENT:
        return {**told, "silent": True}
    if fault.notice is None:
        return {**told, "notice": "none"}
    return {**told, "notice": f"{played_notice(fault.notice, save) * 1000:.0f} ms"}


def played_notice(notice: float, save: timedelta | None) -> float:
    """Return the seconds of notice that a small run gets in the place of the real one."""
    seconds = save.total_seconds() if save else None
    planned = decide_notice(notice, save_seconds=seconds, save_in_flight=False, since_save=0.0)
    return min(notice, LONGEST) if planned.save else TOO_SHORT


def from_file(specs: Sequence[FaultSpec]) -> tuple[Drawn, ...]:
    """Return the faults of a user's own file as if they had been drawn."""
    return tuple(
        Drawn(
            index=spec.index,
            kind=_kind(spec),
            run=spec.run,
            step=spec.step,
            notice=spec.notice_seconds,
            create=spec.create,
        )
        for spec in specs
    )


def _kind(spec: FaultSpec) -> Kind:
    if spec.create is not None:
        return Kind.REFUSED
    if spec.silent:
        return Kind.SILENT
    return Kind.SUDDEN if spec.notice_seconds is None else Kind.NOTICE
