"""The user's own command, as another machine would run it: a process that knows nothing of the run.

It is given the code snapshot, the inputs and the output to be reloaded. It is not given what it has to
recompute. Where it runs, and what is hidden from it there: see `place`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping
from dataclasses import field
from pathlib import Path

from lastro.closeout.reload.level import FRESH, JAILED, level_for
from lastro.closeout.reload.place import CODE, GIVEN, OUTPUTS, Place
from lastro.errors import UsageError
from lastro.locale import _
from lastro.procs.child import Finished
from lastro.records import dataclass
from lastro.spec import command as commands
from lastro.storage.digest import sha256_file
from lastro.storage.snapshot import unpack

LOADER = "command"
DEADLINE_SECONDS = 600.0

#: How much of what the command said is repeated to the user.
_LAST_CHARACTERS = 400


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What a reload may use.

    archive: the code snapshot. links: inputs, relative path -> where they are. environment: of the run's
    jobs, or of this process; the reload keeps very little of it.
    """

    archive: Path
    links: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    deadline_seconds: float = DEADLINE_SECONDS

    def place(self, room: Path, given: Mapping[str, Path], *, level: str) -> Place:
        """Return the place of one reload; `room` does not exist yet."""
        links = {name: Path(target) for name, target in self.links.items()}
        return Place(level=level, room=room, environment=self.environment, given=given, links=links)


@dataclass(frozen=True, kw_only=True)
class Reloaded:
    """What came of the command. `result`: the file that it recomputed, when one was asked for.

    `level`: how far away from this machine it was, and `level_why` why no farther; None: not started.
    `versions`: of the Python that it had, and of its packages. `seconds`: of the command itself.
    """

    result: Path | None = None
    problem: str | None = None
    level: str | None = None
    level_why: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    seconds: float | None = None


def lay_out(bench: Bench, folder: Path) -> Path:
    """Unpack the code into a new folder and put links to the inputs beside it; what the code has stays.

    Raises:
        StorageError, OSError: the snapshot is not there or cannot be unpacked.
    """
    folder.mkdir(parents=True)
    unpack(bench.archive, folder)
    for relative, target in bench.links.items():
        link = folder / relative
        if not os.path.lexists(link):
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(target)
    return folder


def reload_by_command(
    command: str, weights: Path, bench: Bench, room: Path, *, wanted: str | None, hidden: Collection[str]
) -> Reloaded:
    """Run the user's reload command on a copy of an output.

    Args:
        command: as promised, `{path}` stands for the output.
        weights: the copied and checked output, a file or a folder.
        bench: code, inputs and deadline.
        room: a folder that does not exist yet; everything of this reload lies in it.
        wanted: the file that the command has to write below LASTRO_OUTPUTS.
        hidden: SHA-256 of what it has to recompute: files of the code with such bytes are taken away.
    """
    level, level_why = level_for(bench.environment)
    unpack(bench.archive, room / CODE)
    if hidden:
        _take_away(room / CODE, hidden)
    place = bench.place(room, {weights.name: weights}, level=level)
    place.prepare()
    result = room / OUTPUTS / wanted if wanted is not None else None
    if result is not None:
        result.parent.mkdir(parents=True, exist_ok=True)
    words = commands.argv(commands.render(command, {"path": place.seen(GIVEN, weights.name)}))
    python = place.python_of(words)
    began = time.monotonic()
    try:
        done = place.run(words, python, bench.deadline_seconds)
    except UsageError as error:
        return Reloaded(problem=error.message)
    problem = _problem_of(done, bench.deadline_seconds, level)
    if problem is None and result is not None and (not result.is_file() or result.is_symlink()):
        problem = _("the reload command ended well, but wrote no {wanted} into LASTRO_OUTPUTS").format(
            wanted=wanted
        )
    return Reloaded(
        result=result if problem is None else None,
        problem=problem,
        level=level,
        level_why=level_why,
        versions=python.versions if python else {},
        seconds=round(time.monotonic() - began, 3),
    )


def _take_away(code: Path, digests: Collection[str]) -> None:
    for folder, _folders, names in os.walk(code):
        for name in names:
            file = Path(folder, name)
            if file.is_file() and not file.is_symlink() and sha256_file(file) in digests:
                file.unlink()


def _problem_of(done: Finished, deadline_seconds: float, level: str) -> str | None:
    if done.timed_out:
        return _("the reload command was killed after {seconds:g} s without an end").format(
            seconds=deadline_seconds
        )
    if done.code == 0:
        return None
    said = (done.err.strip() or done.out.strip())[-_LAST_CHARACTERS:]
    return {
        JAILED: _(
            "the reload command failed ({how}), without this machine's network, home and disks: {said}"
        ),
        FRESH: _("the reload command failed ({how}): {said}"),
    }[level].format(how=how_it_ended(done), said=said)


def how_it_ended(done: Finished) -> str:
    """Return the exit code or the signal of a command in words."""
    if done.code < 0:
        return _("signal {signal}").format(signal=-done.code)
    return _("exit code {code}").format(code=done.code)
