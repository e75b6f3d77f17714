"""Looks at what a campaign's sizes can be known from: its folder, its code, earlier runs, and the hub."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from lastro.flow.built_state import built_state
from lastro.flow.earlier import Earlier
from lastro.flow.hub import HubFound, ask_hub
from lastro.flow.measured_saves import measured_saves
from lastro.flow.weights_here import weights_here
from lastro.locale import _
from lastro.plan.disk_need import Found, Measured
from lastro.plan.state import State, Weights
from lastro.spec.campaign import Campaign
from lastro.spec.data import DataSpec, Stored
from lastro.spec.load import LoadedCampaign

#: All folders together are counted for so long. A warm disk gives 135,000 names and more a second, a cold
#: one 44,000 and more (docs/plan-disk.md); whoever waits for a plan waits no longer.
COUNTING_SECONDS = 5.0
#: How often the clock is looked at within one folder.
_LOOK_EVERY = 1000


def measure(
    loaded: LoadedCampaign,
    spec: Campaign,
    *,
    code_digest: str | None = None,
    earlier: Earlier | None = None,
    online: bool = False,
) -> Measured:
    """Return what is known of sizes. What is not there, or does not answer, is told and never an error.

    Args:
        loaded: its folder is looked at.
        spec: the campaign that is planned.
        code_digest: of the code as it is now; saves of other campaigns with the same code count.
        earlier: what this home has done before; None: it is not looked at.
        online: ask the hub about repositories that `data` names.
    """
    until = time.monotonic() + COUNTING_SECONDS
    data = spec.data or DataSpec()
    stored = dict(_stored(data))
    there = {one.path: loaded.folder / one.path for one in stored.values() if one.path is not None}
    corpus = loaded.folder / spec.corpus.path if spec.corpus else None
    weights: dict[str, Weights] = {}
    oddities: list[str] = []
    for name, one in data.weights.items():
        if one.path is not None and (read := weights_here(loaded.folder / one.path)) is not None:
            oddities += (f"{name}: {oddity}" for oddity in read.oddities)
            if read.weights is not None:
                weights[name] = read.weights
    asked = {name: ask_hub(one.hub) for name, one in stored.items() if online and one.hub is not None}
    answers = {name: answer for name, answer in asked.items() if isinstance(answer, HubFound)}
    of_hub = {name: one.weights for name, one in answers.items() if one.weights and name in data.weights}
    saves = None
    if spec.data is not None and earlier is not None:
        saves = measured_saves(earlier, loaded.path, code_digest)
    return Measured(
        paths={path: found(place, until) for path, place in there.items() if place.exists()},
        hubs={name: answer.found for name, answer in answers.items()},
        unreached={name: answer for name, answer in asked.items() if isinstance(answer, str)},
        corpus=found(corpus, until) if corpus and corpus.exists() else None,
        weights={**weights, **of_hub},
        saves=saves,
        code=_code(loaded, spec) if saves is None else None,
        oddities=tuple(oddities),
    )


def _stored(data: DataSpec) -> Iterator[tuple[str, Stored]]:
    yield from data.weights.items()
    if data.dataset is not None:
        yield "dataset", data.dataset
    if data.unpacked is not None:
        yield "unpacked", data.unpacked


def _code(loaded: LoadedCampaign, spec: Campaign) -> State | str | None:
    """Ask the campaign's own code; what earlier runs have saved makes that needless."""
    state = spec.data.state if spec.data else None
    if state is None or state.origin is None:
        return None
    runs = spec.runs()
    return built_state(
        state.origin,
        [run.config for run in runs],
        command=runs[0].argv,
        folder=loaded.folder,
        seconds=state.within.total_seconds(),
        own_program=spec.checkpoints is not None,
    )


def found(path: Path, until: float) -> Found:
    """Return bytes and files below a path; see `_Count` for links.

    Args:
        path: a file or a folder.
        until: when counting ends, by the monotonic clock; what was not reached by then is not counted.
    """
    if not path.is_dir():
        return Found(bytes=path.stat().st_size, files=1, why=_("{path} here").format(path=path.name))
    count = _Count(path, until)
    count.all()
    why = _("{path} here").format(path=path.name)
    if count.late:
        why = _("at least: {path} here was counted for a few seconds, and there is more").format(
            path=path.name
        )
    elif count.closed:
        why = _("at least: {closed} below {path} cannot be read").format(closed=count.closed, path=path.name)
    return Found(bytes=count.bytes, files=count.files, why=why, at_least=bool(count.late or count.closed))


class _Count:
    """Bytes and files so far. `closed`: a folder that cannot be read. `late`: the time was over.

    A link to a file elsewhere counts as that file, because a cache of weights is such links; any other link
    counts as itself: what it leads to is counted where it lies, or is a folder, which may lead back.
    """

    def __init__(self, root: Path, until: float) -> None:
        self.bytes = 0
        self.files = 0
        self.closed: str | None = None
        self.late = False
        self._root = root.resolve()
        self._until = until

    def all(self) -> None:
        waiting = [str(self._root)]
        while waiting and not self._is_late():
            folder = waiting.pop()
            try:
                with os.scandir(folder) as entries:
                    waiting += self._of(entries)
            except FileNotFoundError:
                continue
            except OSError:
                self.closed = self.closed or Path(folder).name

    def _of(self, entries: Iterator[os.DirEntry[str]]) -> list[str]:
        folders = []
        for number, entry in enumerate(entries, start=1):
            if number % _LOOK_EVERY == 0 and self._is_late():
                break
            try:
                facts = entry.stat(follow_symlinks=self._leads_out(entry))
            except FileNotFoundError:
                continue
            if stat.S_ISDIR(facts.st_mode):
                folders.append(entry.path)
            else:
                self.bytes += facts.st_size
                self.files += 1
        return folders

    def _leads_out(self, entry: os.DirEntry[str]) -> bool:
        if not entry.is_symlink() or not entry.is_file():
            return False
        return not Path(entry.path).resolve().is_relative_to(self._root)

    def _is_late(self) -> bool:
        self.late = self.late or time.monotonic() >= self._until
        return self.late
