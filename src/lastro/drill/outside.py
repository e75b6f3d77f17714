"""Drills a job in which no update can be seen: by what it prints and what it leaves, from start to end."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lastro.checkpoint import digest
from lastro.checkpoint.foreign import find_saves
from lastro.checkpoint.store import file_digest
from lastro.drill import spoil
from lastro.drill.arm import Arm, Subject, live_through, tidy
from lastro.drill.printed import Outside, Shared, difference, shared_by
from lastro.drill.progress import UNDISTURBED, Progress
from lastro.drill.verdict import Answer, ArmResult, DrillResult
from lastro.errors import StorageError
from lastro.locale import _
from lastro.paths import RunFolder
from lastro.probe.instructions import Instructions
from lastro.procs.identity import send
from lastro.procs.job import adopt

#: Larger files that a job leaves are compared by their size alone.
_LARGEST_BYTES = 1 << 32


class OutsideDrill:
    """The drill of a job that no probe sees into. Every life goes to the job's own end."""

    def __init__(self, subject: Subject, root: Path, seconds: float, tell: Progress) -> None:
        self._subject, self._root, self._seconds, self._tell = subject, root, seconds, tell
        self._parts = UNDISTURBED + 2

    def run(self, first: Arm) -> DrillResult:
        """Carry it out; `first` is an undisturbed life that has ended well."""
        if first.over:
            why = _("the job did not come to its end in time; give it less to do, or more time by --longest")
            return self._result(Answer.NOT_PROVEN, why, (), 1)
        if not _copies(first.run):
            return self._result(Answer.NOT_PROVEN, _nothing_to_resume(), (), 1)
        undisturbed = [self._seen(first)]
        for number in range(2, UNDISTURBED + 1):
            what = _("undisturbed life {number}").format(number=number)
            undisturbed.append(self._seen(self._live(what, f"plain-{number}", number)))
        shared = shared_by(undisturbed)
        if shared.nothing:
            why = _("no two undisturbed lives print a number or leave a file that is the same")
            return self._result(Answer.NOT_PROVEN, why, (), UNDISTURBED)
        killed = self._killed("killed", _("killed after its first save was copied"), shared, UNDISTURBED + 1)
        if killed.answer is not Answer.EXACT:
            return self._result(killed.answer, killed.why, (killed,), UNDISTURBED)
        what = _("killed, and given a save with changed bytes on purpose")
        control = self._killed("control", what, shared, UNDISTURBED + 2, spoils=True)
        if control.answer is not Answer.DIFFERENT:
            why = _("this drill cannot see a difference: a save with changed bytes led to the same end")
            return self._result(Answer.NOT_PROVEN, why, (killed, control), UNDISTURBED)
        return self._result(Answer.EXACT, killed.why, (killed, control), UNDISTURBED)

    def _result(self, answer: Answer, why: str, arms: tuple[ArmResult, ...], undisturbed: int) -> DrillResult:
        return DrillResult(
            verdict=answer,
            why=why,
            different_from=None,
            cause=None,
            updates=0,
            undisturbed=undisturbed,
            arms=arms,
            left_out=(),
            limits=(_how_it_was_compared(),) if arms else (),
            seconds=0.0,
        )  # fmt: skip

    # --- lives ----------------------------------------------------------------------------------------

    def _live(
        self,
        what: str,
        name: str,
        part: int,
        look: Callable[[RunFolder], None] = lambda _run: None,
        subject: Subject | None = None,
    ) -> Arm:
        self._tell.begins(what, part, self._parts)
        told = Instructions(until=sys.maxsize, pattern=self._subject.order.checkpoints)
        return live_through(
            subject or self._subject, name, told, self._root, seconds=self._seconds, look=look
        )

    def _killed(self, name: str, what: str, shared: Shared, part: int, *, spoils: bool = False) -> ArmResult:
        """Let the job be killed once, after a save of it was copied, and judge the end that it comes to."""
        killed_at: list[float] = []

        def look(run: RunFolder) -> None:
            if not killed_at and _copies(run) and (job := adopt(run.attempt(1))) is not None:
                killed_at.append(time.monotonic())
                send(job.job, signal.SIGKILL)

        arm = self._live(what, name, part, look, _with_spoiled_saves(self._subject) if spoils else None)
        seen = self._seen(arm)
        if len(seen.lives) < 2 or not killed_at:
            why = _("the job ended before it was killed: let it run longer, or save earlier")
            return ArmResult(name=name, what=what, answer=Answer.NOT_PROVEN, why=why)
        told = arm.failure or difference(seen, shared)
        if told is not None:
            return ArmResult(name=name, what=what, answer=Answer.DIFFERENT, why=told)
        why = _("what it printed after the resume and what it left are the same")
        return ArmResult(name=name, what=what, answer=Answer.EXACT, why=why)

    def _seen(self, arm: Arm) -> Outside:
        numbers = sorted(int(path.name) for path in arm.run.attempts.glob("[0-9]*"))
        logs = [arm.run.attempt(number).log for number in numbers]
        lives = [log.read_text(errors="replace").splitlines() if log.exists() else [] for log in logs]
        seen = Outside(lives=tuple(tuple(life) for life in lives), files=self._left(arm))
        tidy(arm)
        return seen

    def _left(self, arm: Arm) -> dict[str, str]:
        """Return digests of what the job has published, and of files in its folder that are no saves."""
        pattern = self._subject.order.checkpoints
        saves = {save.origin for save in find_saves(arm.workdir, pattern)} if pattern else set()
        left = {}
        for root in (arm.run.outputs, arm.workdir):
            for path in sorted(root.rglob("*")):
                name = path.relative_to(root).as_posix()
                own = name.startswith("spoiled-") or "/spoiled-" in name
                within = any(name == save or name.startswith(f"{save}/") for save in saves)
                if path.is_file() and not path.is_symlink() and not within and not own:
                    left[name] = _digest(path)
        return left


def _digest(path: Path) -> str:
    size = path.stat().st_size
    if size > _LARGEST_BYTES:
        return f"{size} bytes"
    found = file_digest(path, digest.ALGORITHM)
    if found is None:
        raise StorageError(_("{path} cannot be read").format(path=path))
    return found


def _copies(run: RunFolder) -> bool:
    """Say whether a save of the job was copied."""
    return any(True for _path in run.checkpoints.glob("*-a*/manifest.json"))


def _with_spoiled_saves(subject: Subject) -> Subject:
    """Return the job with a start that changes what it is given to go on from."""
    command = subject.order.command
    spoiling = (sys.executable, os.fspath(Path(str(spoil.__file__))), str(len(command)), *command)
    return replace(subject, order=replace(subject.order, command=spoiling))


def _how_it_was_compared() -> str:
    return _(
        "no update was seen (none by PyTorch, and the job does not attach): it was compared by what it "
        "prints and leaves, to its end; what was not restored cannot be named"
    )


def _nothing_to_resume() -> str:
    hint = shlex.join(["--checkpoints", "out/save-*", "--resume-arg", "--resume {latest}"])
    return _(
        "no update was seen (none by PyTorch, and the job does not attach), and no save of it; "
        "if it saves by itself, name the files: {hint}"
    ).format(hint=hint)
