"""How a program that lastro knows nothing about gets its last save back at the start of an attempt."""

from __future__ import annotations

import shlex
import time
from collections.abc import Collection, Sequence
from pathlib import Path

from lastro import atomic
from lastro.checkpoint import foreign, retention, store
from lastro.checkpoint.late import late_checkpoints
from lastro.journal.events import EventType
from lastro.journal.signals import Signal, SignalWriter
from lastro.journal.streams import Event, read_stream
from lastro.locale import _
from lastro.paths import AttemptFolder, CampaignFolder, RunFolder, stream_of_attempt
from lastro.records import dataclass
from lastro.rules import End, Order, judge_resume

#: How a command that needs a shell begins; see `with_resume`.
_SHELL = ("/bin/sh", "-c")


def with_resume(command: Sequence[str], resume_arg: str, latest: str) -> tuple[str, ...]:
    """Return a command with the words that let its program go on from `latest`. Pure.

    A command for the shell gets them as its positional parameters, `"$@"`.
    """
    words = [word.format(latest=latest) for word in shlex.split(resume_arg)]
    if tuple(command[:2]) == _SHELL and len(command) == 3:
        return (*command, "sh", *words)
    return (*command, *words)


@dataclass(frozen=True)
class Choice:
    """The checkpoint to go on from, None when there is none; what was passed over, with reasons."""

    folder: Path | None
    manifest: store.Manifest | None
    passed_over: tuple[tuple[str, str], ...]


def choose(run: RunFolder, failed: Collection[str]) -> Choice:
    """Return the latest copy of a program's own save that verifies.

    One that another run has made, or a replaced attempt too late, is passed over.

    One from which a start has failed already is passed over for an earlier one, as long as there is one: a
    save can be whole to the byte and not be what its program can read.

    Args:
        run: the run; its folder has its id for a name.
        failed: names of those from which a start ended in a crash before it had saved anything.
    """
    passed: list[tuple[str, str]] = []
    second_best: tuple[Path, store.Manifest] | None = None
    found = store.names(run.checkpoints)
    late = late_checkpoints(run, [folder.name for folder in found])
    for folder in found:
        manifest = store.committed(folder)
        if not isinstance(manifest, str) and foreign.origin_of(manifest) is None:
            continue
        why = late.get(folder.name) or _why_not(folder, manifest, run.root.name)
        if why is not None or isinstance(manifest, str):
            passed.append((folder.name, str(why)))
        elif folder.name in failed:
            second_best = second_best or (folder, manifest)
            passed.append((folder.name, _("a start from it failed before it had saved anything")))
        else:
            return Choice(folder, manifest, tuple(passed))
    if second_best is None:
        return Choice(None, None, tuple(passed))
    left = tuple(item for item in passed if item[0] != second_best[0].name)
    return Choice(*second_best, left)


def _why_not(folder: Path, manifest: store.Manifest | str, run: str) -> str | None:
    """Say why a checkpoint cannot be gone on from; None when it can. Reads every byte of it."""
    if isinstance(manifest, str):
        return manifest
    if manifest.facts.run != run:
        return _("it belongs to run {run}").format(run=manifest.facts.run)
    return "; ".join(store.verify(folder)) or None


def failed_starts(campaign: CampaignFolder, run: str, before: int) -> frozenset[str]:
    """Return the checkpoints from which an attempt below number `before` started in vain, and crashed."""
    failed = set()
    for number in range(1, before):
        name = _failed_start(read_stream(campaign.stream(stream_of_attempt(run, number))).events)
        if name is not None:
            failed.add(name)
    return frozenset(failed)


def _failed_start(events: Sequence[Event]) -> str | None:
    resumed: str | None = None
    for event in events:
        if event.type is EventType.ATTEMPT_RESUMED:
            resumed = event.facts["folder"]
        if event.type is EventType.CHECKPOINT_COMMITTED:
            return None
        if event.type is EventType.ATTEMPT_ENDED and event.facts["cause"]["end"] == End.CRASHED.value:
            return resumed
    return None


def command_of(folder: AttemptFolder, order: Order, before: int | None) -> tuple[str, ...] | None:
    """Return the command of a new attempt, with its program's last save back in place.

    Tells what was restored and passed over, as a job that uses lastro does. None: something was committed
    before and nothing of it can be used, which was told too; the job must not be started from nothing.

    Args:
        folder: of the attempt.
        order: whose command, pattern and argument for resuming count.
        before: the highest step committed so far; None when nothing was.
    """
    if order.checkpoints is None:
        return order.command
    began = time.monotonic()
    retention.remove_leftovers(folder.run.checkpoints)
    campaign = CampaignFolder(Path(order.campaign_folder))
    choice = choose(folder.run, failed_starts(campaign, order.run, folder.number))
    if order.resume_arg is None:
        if choice.folder is not None and order.code is not None and order.code.unpack:
            _place(choice, order, folder)  # a fresh working folder: what finds its last save by itself can
        return order.command
    signals = SignalWriter(folder.signals)
    for name, why in choice.passed_over:
        signals.send(Signal.PASSED_OVER, folder=name, why=why)
    if choice.folder is None or choice.manifest is None:
        stop = judge_resume(before, None)
        if stop is None:
            return order.command
        told = {"why": stop.why, "step": stop.step, "metric": stop.metric, "value": stop.value}
        signals.send(Signal.STOP, rule=stop.kind.value, **told)
        return None
    latest = _place(choice, order, folder)
    signals.send(
        Signal.RESTORED,
        step=choice.manifest.step,
        folder=choice.folder.name,
        seconds=round(time.monotonic() - began, 4),
    )
    return with_resume(order.command, order.resume_arg, str(latest))


def _place(choice: Choice, order: Order, attempt: AttemptFolder) -> Path:
    """Return where the chosen save lies for the program to read.

    Its own place, when it is there unchanged or nothing is. When something else lies there it stays
    untouched, and the program gets a copy that belongs to this attempt alone: what was published is
    never handed out to be written to.
    """
    assert choice.folder is not None and choice.manifest is not None
    position = foreign.origin_of(choice.manifest)
    assert position is not None
    original = Path(order.workdir) / str(position["origin"])
    if foreign.is_unchanged(choice.folder, choice.manifest, original):
        return original
    if original.exists() or original.is_symlink():
        original = attempt.resume / original.name
        atomic.remove_tree(attempt.resume)
    foreign.put_back(choice.folder, choice.manifest, original)
    return original
