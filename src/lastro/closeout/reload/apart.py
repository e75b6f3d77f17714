"""Loaders that use a library which interprets the output: they run in a process of their own, in a jail.

What such a process is asked and what it answers are JSON; `child` is what runs there.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import lastro
from lastro import strictjson
from lastro.closeout.reload.command import Bench, how_it_ended
from lastro.closeout.reload.level import JAILED, level_for
from lastro.closeout.reload.loader import Opened
from lastro.closeout.reload.place import GIVEN, OUTPUTS, Place
from lastro.errors import LastroError
from lastro.locale import _
from lastro.procs.child import Finished
from lastro.records import dataclass
from lastro.sandbox.interpreter import Interpreter, interpreter

ANSWER = "answer.json"
_OUTPUT, _RECORDED, _BASE = "output", "recorded", "base"
_KILLED = -9


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a loader is asked, with paths as it sees them.

    path: the output. recorded: a small input and what the model said to it. base: the model that an adapter
    belongs to. rows: how many images or rows there have to be.
    """

    path: str
    recorded: str | None = None
    base: str | None = None
    rows: int | None = None


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """What a loader answers; the fields are those of `Opened`."""

    problem: str | None = None
    unchecked: tuple[str, ...] = ()
    weaker: str | None = None
    proof: str | None = None


class ApartLoader(Protocol):
    """One format. `packages`: have to be installed where lastro is. `only_jailed`: never loaded elsewhere."""

    name: str
    packages: tuple[str, ...]
    only_jailed: bool

    def reads(self, path: Path) -> bool:
        """Say whether this loader is for this output, by its name or by what lies in the folder."""
        ...

    def load(self, request: Request) -> Loaded:
        """Load the output, in the process of its own. What a library raises is the output's problem."""
        ...


@dataclass(frozen=True, kw_only=True)
class Subject:
    """An output to be loaded, with paths on this machine.

    base: the model that it belongs to, below `base_root`, which has to be shown whole.
    """

    path: Path
    recorded: Path | None = None
    base: Path | None = None
    base_root: Path | None = None
    rows: int | None = None


def load_apart(loader: ApartLoader, subject: Subject, bench: Bench, room: Path) -> Opened:
    """Load an output in a process of its own. Where a package is missing it is not loaded, which is told.

    Args:
        loader: of its format.
        subject: the copied and checked output.
        bench: environment and deadline; code and inputs are not shown.
        room: a folder that does not exist yet.

    Raises:
        OSError: the room cannot be written to.
    """
    level, level_why = level_for(bench.environment)
    if loader.only_jailed and level != JAILED:
        why = _("a pickle is loaded only in a jail, and there is none: {why}").format(why=level_why)
        return Opened(loader=loader.name, weaker=why)
    python = interpreter(sys.executable, bench.environment)
    absent = [name for name in loader.packages if python is None or name not in python.versions]
    if absent:
        why = _("{packages} is not installed where lastro is").format(packages=", ".join(absent))
        return Opened(loader=loader.name, weaker=why)
    place = _place(subject, bench, room, level)
    place.prepare()
    began = time.monotonic()
    done, answer = _ask(loader, _request(subject, place), place, python, bench.deadline_seconds)
    return Opened(
        loader=loader.name,
        level=level,
        level_why=level_why,
        versions=python.versions if python is not None else {},
        seconds=round(time.monotonic() - began, 3),
        **_told(done, answer, bench.deadline_seconds),
    )


def _place(subject: Subject, bench: Bench, room: Path, level: str) -> Place:
    given = {_name(subject): subject.path}
    if subject.recorded is not None:
        given[_RECORDED] = subject.recorded
    lent = {_BASE: subject.base_root} if subject.base_root is not None else {}
    return Place(level=level, room=room, environment=bench.environment, given=given, lent=lent)


def _name(subject: Subject) -> str:
    # Libraries tell formats apart by their endings.
    return _OUTPUT if subject.path.is_dir() else f"{_OUTPUT}{subject.path.suffix}"


def _request(subject: Subject, place: Place) -> Request:
    base = None
    if subject.base is not None and subject.base_root is not None:
        below = subject.base.relative_to(subject.base_root).parts
        base = place.seen(GIVEN, _BASE, *below)
    return Request(
        path=place.seen(GIVEN, _name(subject)),
        recorded=place.seen(GIVEN, _RECORDED) if subject.recorded is not None else None,
        base=base,
        rows=subject.rows,
    )


def _ask(
    loader: ApartLoader, request: Request, place: Place, python: Interpreter | None, seconds: float
) -> tuple[Finished, Mapping[str, Any] | None]:
    question = strictjson.dumps({"loader": loader.name, **asdict(request)})
    words = [sys.executable, "-m", "lastro.closeout.reload.child", question]
    done = place.run(words, python, seconds, packages=Path(lastro.__file__).parents[1])
    try:
        return done, strictjson.read(place.room / OUTPUTS / ANSWER)
    except (LastroError, OSError, ValueError):
        return done, None


def _told(done: Finished, answer: Mapping[str, Any] | None, seconds: float) -> Mapping[str, Any]:
    """Return the fields of `Opened` that an answer, or its absence, stands for. Pure."""
    if done.timed_out:
        return {"problem": _("it was not loaded after {seconds:g} s").format(seconds=seconds)}
    if done.code == 0 and answer is not None:
        return {**answer, "unchecked": tuple(answer["unchecked"])}
    if done.code == _KILLED:
        return {"weaker": _("the process that loaded it was killed, as when memory runs out")}
    said = (done.err.strip() or done.out.strip()).splitlines()
    return {"problem": f"{how_it_ended(done)}: {said[-1] if said else ''}"}
