"""Items made by a command that knows nothing of lastro: one call for each item that is missing."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from lastro.errors import UsageError
from lastro.job.items import Item, ItemLoop, Site
from lastro.job.leaving import LeaveRequest
from lastro.job.place import find_place
from lastro.job.room import FullDisk
from lastro.journal.signals import Heartbeat, Signal, SignalWriter
from lastro.locale import _
from lastro.records import dataclass
from lastro.storage.digest import files_below

_PLACES = re.compile(r"\{(id|path)\}")


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What is to be made.

    ids: in order. out: template of the names, relative to the outputs. command: its words, with `{path}`
    where the item is to be written, and `{id}`. batch: how many become durable together. keep_going: go on
    after an item that failed. output: descriptor that the commands write their output to.
    """

    ids: Sequence[str]
    out: str
    command: Sequence[str]
    batch: int = 1
    keep_going: bool = False
    output: int = 1


@dataclass(frozen=True, kw_only=True)
class Failure:
    """An item that could not be made, and why."""

    id: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Made:
    """How far it is. `done` of `total` ids; `skipped` of them were there already; `outputs`: the folder."""

    done: int
    total: int
    skipped: int
    failed: tuple[Failure, ...]
    outputs: Path


def make_items(wish: Wish, tell: Callable[[Made], None]) -> Made:
    """Call the command for each item that is missing, and publish what it has made.

    Works in the attempt that the environment names, else in one of its own in `./lastro-run`. Asked to leave
    (TERM, the first Ctrl-C) it completes the item in hand and ends the process with code 85.

    Args:
        wish: what is to be made.
        tell: told after each item.

    Raises:
        UsageError: the command has no `{path}` or is not there, an id stands twice, or `./lastro-run` has
            the work of another command.
        StorageError: the disk refuses.
    """
    if not any("{path}" in word for word in wish.command):
        raise UsageError(
            _("the command {command!r} does not say where {path} belongs").format(
                command=" ".join(wish.command), path="{path}"
            ),
            hint=_("write {path} where it takes the name of the file that it makes").format(path="{path}"),
        )
    site = _site(wish)
    loop = ItemLoop(site, wish.ids, wish.out)
    failed: list[Failure] = []
    new = 0

    def made() -> Made:
        return Made(
            done=loop.skipped + new,
            total=len(wish.ids),
            skipped=loop.skipped,
            failed=tuple(failed),
            outputs=site.place.folder.run.outputs,
        )

    for item in loop.one_by_one(wish.batch):
        why = _make(item, wish)
        if why is not None:
            loop.drop(item)
            failed.append(Failure(id=item.id, why=why))
            if not wish.keep_going:
                loop.publish()
                break
        else:
            new += 1
        tell(made())
    if failed:
        first = failed[0]
        site.signals.send(
            Signal.EXCEPTION, failure=f"item {first.id}: {first.why}", step=loop.done, full=False
        )
    return made()


def _site(wish: Wish) -> Site:
    place = find_place(items=(wish.out, wish.command))
    signals = SignalWriter(place.folder.signals)
    request = LeaveRequest()
    request.install()
    signals.send(Signal.STARTED, pid=os.getpid())
    full = FullDisk(place, request)
    heart = Heartbeat(place.folder.heartbeat)
    reached = 0

    def beat(count: int) -> None:
        nonlocal reached
        reached = count
        heart.beat(count)

    full.sign_of_life = lambda: heart.beat(reached)
    return Site(place=place, signals=signals, request=request, full=full, beat=beat, between=lambda: None)


def _make(item: Item, wish: Wish) -> str | None:
    """Call the command for one item; return why that made nothing, None when it did."""
    values = {"id": item.id, "path": str(item.path)}
    words = [_PLACES.sub(lambda found: values[found[1]], word) for word in wish.command]
    code = _call(words, wish.output)
    if code < 0:
        return _("the command was killed by signal {signal}").format(signal=-code)
    if code > 0:
        return _("the command ended with exit code {code}").format(code=code)
    if not item.path.exists():
        return _("the command wrote nothing to {path}").format(path="{path}")
    if _is_empty(item.path):
        return _("what the command wrote is empty")
    return None


def _call(words: Sequence[str], output: int) -> int:
    """Run a command to its end, out of reach of the terminal's Ctrl-C; return its code as subprocess does."""
    try:
        process = subprocess.Popen(
            list(words), stdin=subprocess.DEVNULL, stdout=output, start_new_session=True
        )
    except OSError as error:
        raise UsageError(
            _("{command} could not be started: {why}").format(command=words[0], why=error),
            hint=_("check its name and that it is installed"),
        ) from error
    try:
        return process.wait()
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise


def _is_empty(path: Path) -> bool:
    return next(files_below(path), None) is None if path.is_dir() else path.stat().st_size == 0
