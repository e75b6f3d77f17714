"""What the disk has to hold: weights, data, checkpoints, results, caches, slack; unknown parts by name."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import field

from lastro.locale import _
from lastro.plan.best import best_of
from lastro.plan.eligible import Peak
from lastro.plan.learned import Learned
from lastro.plan.parts import DiskNeed, DiskPart
from lastro.plan.state import State, Weights, predicted
from lastro.records import dataclass
from lastro.spec.campaign import Campaign
from lastro.spec.data import DataSpec, Stored
from lastro.spec.disks import Disk, rented_size
from lastro.units import show_bytes

#: Without a provider's own steps: 50 GB to 10 TB in steps of 10 GB, as disks are usually sold.
_STEP = 10 * 10**9
_SMALLEST = 50 * 10**9
LARGEST = 10 * 10**12


@dataclass(frozen=True, kw_only=True)
class Found:
    """Bytes and files of something that was looked at; `why`: how.

    `at_least`: there is more, and it was not counted to the end.
    """

    bytes: int
    files: int
    why: str
    at_least: bool = False


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What was found of sizes, and of durations.

    Args:
        paths: of the campaign's folder, by the path as it is written.
        hubs: of repositories, by the name of the thing in `data` that lies there.
        unreached: why a repository says nothing, by the same name.
        corpus: of the corpus.
        weights: what weights files hold, by their name in `data.weights`.
        saves: of checkpoints that were made.
        code: what the campaign's own code builds; a text: why that is not known.
        oddities: what is odd about what was looked at, a sentence each.
        durations: of runs of this campaign, in the place of what its file declares.
    """

    paths: Mapping[str, Found] = field(default_factory=dict)
    hubs: Mapping[str, Found] = field(default_factory=dict)
    unreached: Mapping[str, str] = field(default_factory=dict)
    corpus: Found | None = None
    weights: Mapping[str, Weights] = field(default_factory=dict)
    saves: State | None = None
    code: State | str | None = None
    oddities: tuple[str, ...] = ()
    durations: tuple[Learned, ...] = ()


def disk_need(campaign: Campaign, measured: Measured, row: Disk | None) -> DiskNeed:
    """Return what the disk has to hold, and the size to rent.

    Args:
        campaign: its `data` says what there is; without it only the corpus is known.
        measured: what was looked at.
        row: the disk that would be rented, for its steps; None: steps of 10 GB from 50 GB.
    """
    lines = tuple(_lines(campaign, measured))
    parts = tuple(line.part for line in lines)
    known = [part.bytes for part in parts if part.bytes is not None]
    if not known:
        why = _("nothing says how much there is: `data:` in the campaign file does")
        return DiskNeed(parts=parts, needed=None, complete=False, recommended=None, row=None, why=why)
    slack = campaign.data.slack if campaign.data else 0.2
    needed = math.ceil(sum(known) * (1 + slack))
    why = _("{sum} and {slack:.0%} slack").format(sum=show_bytes(sum(known)), slack=slack)
    missing = ", ".join(part.name for part in parts if part.bytes is None)
    if missing:
        why = _("{why}; unknown and not counted: {missing}").format(why=why, missing=missing)
    uncounted = ", ".join(line.part.name for line in lines if line.at_least)
    if uncounted:
        why = _("{why}; more than was counted: {uncounted}").format(why=why, uncounted=uncounted)
    size, steps = _size(needed, row)
    return DiskNeed(
        parts=parts,
        needed=needed,
        complete=not missing and not uncounted,
        recommended=size,
        row=row.name if row else None,
        why="; ".join(text for text in (why, steps) if text),
    )


def _size(needed: int, row: Disk | None) -> tuple[int | None, str]:
    """Return the size to rent, None when there is none so large, and what is to be said of it."""
    if row is not None:
        rented = rented_size(row, needed)
        return rented.bytes, rented.why
    size = max(_SMALLEST, -(-needed // _STEP) * _STEP)
    if size > LARGEST:
        return None, _("{needed} are more than the {largest} that are usually sold as one disk").format(
            needed=show_bytes(needed), largest=show_bytes(LARGEST)
        )
    return size, ""


@dataclass(frozen=True)
class _Line:
    part: DiskPart
    at_least: bool = False


def _lines(campaign: Campaign, measured: Measured) -> Iterator[_Line]:
    data = campaign.data or DataSpec()
    for name, one in data.weights.items():
        yield _stored(name, _("weights {name}").format(name=name), one, measured)
    if measured.corpus is not None:
        yield _looked_at(_("corpus"), measured.corpus, None)
    if data.dataset is not None:
        yield _stored("dataset", _("dataset"), data.dataset, measured)
    if data.unpacked is not None:
        yield _stored("unpacked", _("dataset while it is unpacked"), data.unpacked, measured)
    yield from _checkpoints(campaign, measured)
    if data.results is not None:
        runs = len(campaign.runs())
        why = _("{runs} runs of {size}").format(runs=runs, size=show_bytes(data.results))
        yield _Line(DiskPart(name=_("results"), bytes=data.results * runs, why=why))
    if data.caches is not None:
        yield _Line(DiskPart(name=_("caches"), bytes=data.caches, why=_("declared")))


def _looked_at(name: str, found: Found, files: int | None) -> _Line:
    part = DiskPart(name=name, bytes=found.bytes, files=files or found.files, why=found.why)
    return _Line(part, found.at_least)


def _stored(key: str, name: str, one: Stored, measured: Measured) -> _Line:
    if one.size is not None:
        return _Line(DiskPart(name=name, bytes=one.size, files=one.files, why=one.source or _("declared")))
    found = measured.hubs.get(key) if one.hub else measured.paths.get(one.path or "")
    if found is not None:
        return _looked_at(name, found, one.files)
    if one.hub is None:
        why = _("{path} is not there").format(path=one.path)
    else:
        why = measured.unreached.get(key) or _(
            "{repository} was not asked; `lastro plan --online` does"
        ).format(repository=one.hub.repository)
    return _Line(DiskPart(name=name, bytes=None, files=one.files, why=why))


def _checkpoints(campaign: Campaign, measured: Measured) -> Iterator[_Line]:
    """A save is written beside those that are kept, and each run keeps its own until it is closed.

    The latest are kept and the best one, which may be an older one.
    """
    state = state_of(campaign, measured)
    name = _("checkpoints")
    if isinstance(state, str):
        if campaign.data is not None and campaign.resume == "training":
            yield _Line(DiskPart(name=name, bytes=None, why=state))
        return
    runs, keep = len(campaign.runs()), campaign.checkpoint.keep + (best_of(campaign) is not None)
    at_once = min(campaign.machines, runs)
    count = runs * keep + at_once
    text = _("{size} each ({why}): {runs} runs keep {keep}, and {writing} more while they are written")
    if runs == 1:
        text = _("{size} each ({why}): the run keeps {keep}, and {writing} more while it is written")
    yield _Line(
        DiskPart(
            name=name,
            bytes=count * state.saved,
            why=text.format(
                size=show_bytes(state.saved), why=state.why, runs=runs, keep=keep, writing=at_once
            ),
        )
    )
    if state.once:
        text = _("{size}, written once by each of {runs} runs").format(size=show_bytes(state.once), runs=runs)
        yield _Line(DiskPart(name=_("what training does not change"), bytes=runs * state.once, why=text))


def state_of(campaign: Campaign, measured: Measured) -> State | str:
    """Return what a checkpoint holds and who says so; a text: it is unknown, and why.

    What was measured comes before what is declared, that before what the code builds, and that before what
    follows from the number of parameters.
    """
    data = campaign.data
    formula = _formula(campaign, measured)
    if measured.saves is not None:
        return measured.saves
    if data is None or (data.state is None and data.model is None):
        return _("neither `data.state` nor `data.model` says how large a checkpoint is")
    if data.state is not None and data.state.size is not None:
        return State(saved=data.state.size, once=0, memory=None, why=_("declared"))
    if isinstance(measured.code, State):
        return measured.code
    if formula is None:
        why = _("the weights {name} were not read").format(name=data.model.weights) if data.model else None
        return "; ".join(text for text in (measured.code, why) if text) or _("its code was not asked")
    if measured.code is not None:
        return State(
            saved=formula.saved,
            once=formula.once,
            memory=formula.memory,
            why=_("{formula}, as {why}").format(formula=formula.why, why=measured.code),
        )
    return formula


def _formula(campaign: Campaign, measured: Measured) -> State | None:
    model = campaign.data.model if campaign.data else None
    if model is None:
        return None
    weights = measured.weights.get(model.weights) if model.weights else None
    return predicted(model, weights, own_program=campaign.checkpoints is not None)


def had_again(campaign: Campaign, measured: Measured) -> int:
    """Return the bytes of weights and dataset that are known: what is downloaded again without the disk."""
    data = campaign.data or DataSpec()
    lines = [_stored(name, name, one, measured) for name, one in data.weights.items()]
    if data.dataset is not None:
        lines.append(_stored("dataset", "dataset", data.dataset, measured))
    return sum(line.part.bytes or 0 for line in lines)


def peak_of(campaign: Campaign, measured: Measured) -> Peak | None:
    """Return the memory that training needs at least, without activations; None: nothing is known of it."""
    state = measured.code if isinstance(measured.code, State) else _formula(campaign, measured)
    if state is None or state.memory is None:
        return None
    return Peak(bytes=state.memory, why=_("weights, gradients and optimizer, without activations"))
