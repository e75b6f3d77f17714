"""What the disk has to hold: weights, data, checkpoints, results, caches, and slack; unknown parts by name."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from lastro.locale import _
from lastro.plan.eligible import Peak
from lastro.plan.parts import DiskNeed, DiskPart
from lastro.plan.state import in_memory, state_bytes
from lastro.spec.campaign import Campaign
from lastro.spec.data import DataSpec, Stored
from lastro.spec.disks import Disk, rented_size
from lastro.units import show_bytes

#: Sizes without a provider's own steps are shown in steps of 10 GB, from 50 GB: the smallest that is
#: usually sold.
_STEP = 10 * 10**9
_SMALLEST = 50 * 10**9


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What was found of sizes: of paths of the campaign's folder, and of one checkpoint."""

    paths: Mapping[str, Found] = field(default_factory=dict)
    corpus: Found | None = None
    state: int | None = None
    state_why: str = ""


@dataclass(frozen=True, kw_only=True)
class Found:
    """Bytes and files of something that was looked at; `why`: how."""

    bytes: int
    files: int
    why: str


def disk_need(campaign: Campaign, measured: Measured, row: Disk | None) -> DiskNeed:
    """Return what the disk has to hold, and the size to rent.

    Args:
        campaign: its `data` says what there is; without it only the corpus is known.
        measured: what was looked at.
        row: the disk that would be rented, for its steps; None: steps of 10 GB from 50 GB.
    """
    parts = tuple(_parts(campaign, measured))
    known = [part.bytes for part in parts if part.bytes is not None]
    complete = bool(parts) and len(known) == len(parts)
    if not known:
        why = _("nothing says how much there is: `data:` in the campaign file does")
        return DiskNeed(parts=parts, needed=None, complete=False, recommended=None, row=None, why=why)
    slack = campaign.data.slack if campaign.data else 0.2
    needed = math.ceil(sum(known) * (1 + slack))
    why = _("{sum} and {slack:.0%} slack").format(sum=show_bytes(sum(known)), slack=slack)
    if not complete:
        missing = ", ".join(part.name for part in parts if part.bytes is None)
        why = _("{why}; unknown and not counted: {missing}").format(why=why, missing=missing)
    if row is None:
        size: int | None = max(_SMALLEST, -(-needed // _STEP) * _STEP)
    else:
        rented = rented_size(row, needed)
        size = rented.bytes
        why = f"{why}; {rented.why}"
    return DiskNeed(
        parts=parts,
        needed=needed,
        complete=complete,
        recommended=size,
        row=row.name if row else None,
        why=why,
    )


def _parts(campaign: Campaign, measured: Measured) -> Iterator[DiskPart]:
    data = campaign.data or DataSpec()
    for name, one in data.weights.items():
        yield _stored(_("weights {name}").format(name=name), one, measured)
    if measured.corpus is not None:
        corpus = measured.corpus
        yield DiskPart(name=_("corpus"), bytes=corpus.bytes, files=corpus.files, why=corpus.why)
    if data.dataset is not None:
        yield _stored(_("dataset"), data.dataset, measured)
    if data.unpacked is not None:
        yield _stored(_("dataset while it is unpacked"), data.unpacked, measured)
    yield from _checkpoints(campaign, data, measured)
    if data.results is not None:
        runs = len(campaign.runs())
        why = _("{runs} runs of {size}").format(runs=runs, size=show_bytes(data.results))
        yield DiskPart(name=_("results"), bytes=data.results * runs, why=why)
    if data.caches is not None:
        yield DiskPart(name=_("caches"), bytes=data.caches, why=_("declared"))


def _stored(name: str, one: Stored, measured: Measured) -> DiskPart:
    if one.size is not None:
        return DiskPart(name=name, bytes=one.size, files=one.files, why=one.source or _("declared"))
    found = measured.paths.get(one.path or "")
    if found is None:
        why = _("{path} is not there").format(path=one.path)
        return DiskPart(name=name, bytes=None, files=one.files, why=why)
    return DiskPart(name=name, bytes=found.bytes, files=one.files or found.files, why=found.why)


def _checkpoints(campaign: Campaign, data: DataSpec, measured: Measured) -> Iterator[DiskPart]:
    """A save is written beside those that are kept, and each run keeps its own until it is closed."""
    size, why = state_of(campaign, measured)
    name = _("checkpoints")
    if size is None:
        if campaign.data is not None and campaign.resume == "training":
            yield DiskPart(name=name, bytes=None, why=why)
        return
    runs, keep = len(campaign.runs()), campaign.checkpoint.keep
    at_once = min(campaign.machines, runs)
    count = runs * keep + at_once
    text = _("{size} each ({why}): {runs} runs keep {keep}, and {writing} more while they are written")
    yield DiskPart(
        name=name,
        bytes=count * size,
        why=text.format(size=show_bytes(size), why=why, runs=runs, keep=keep, writing=at_once),
    )


def state_of(campaign: Campaign, measured: Measured) -> tuple[int | None, str]:
    """Return the size of one checkpoint in bytes and who says so; None: unknown, and why."""
    if measured.state is not None:
        return measured.state, measured.state_why
    data = campaign.data
    if data is not None and data.state is not None:
        return data.state, _("declared")
    if data is not None and data.model is not None:
        return state_bytes(data.model), _("predicted from the number of parameters")
    return None, _("neither `data.state` nor `data.model` says how large a checkpoint is")


def peak_of(campaign: Campaign) -> Peak | None:
    """Return the memory that training needs at least, without activations; None: nothing is known of it."""
    if campaign.data is None or campaign.data.model is None:
        return None
    return Peak(
        bytes=in_memory(campaign.data.model),
        why=_("weights, gradients and optimizer, without activations"),
    )
