"""One arm of a drill: the job's lives from its first start to the last update, supervised as in earnest."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from lastro import atomic, probe, strictjson
from lastro.drill.trace import Life, read_lives
from lastro.errors import ProviderError
from lastro.journal.events import EventType
from lastro.journal.streams import read_stream
from lastro.locale import _
from lastro.paths import CampaignFolder, Disk, RunFolder, stream_of_attempt
from lastro.probe.exchange import file_name
from lastro.probe.instructions import VARIABLE, Instructions, trace_name
from lastro.procs.killtree import end_tree
from lastro.providers.environment import NOTICE, with_interpreter
from lastro.records import dataclass
from lastro.rules import CheckpointPolicy, End, Order
from lastro.storage.secrets import redacted

#: Marks everything that a drill has started, with its folder: so nothing of it stays.
MARK = "LASTRO_DRILL"
#: Only the last save is gone back to; one more, as long as the next is being made.
_KEPT = 2
_CAMPAIGN = "drill"
#: More lives than any plan of kills has: a job that ends otherwise is not started for ever.
_MOST_STARTS = 6
_LOOK_EVERY = 0.05
_END_OF_TRACE = 1 << 16
_STEP = re.compile(rb'"step": (\d+), "n"')
_END_OF_LOG = 4096


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What is drilled: an order as for any machine, and the archive of its code."""

    order: Order
    archive: Path
    every_steps: int


@dataclass(frozen=True, kw_only=True)
class Arm:
    """What came of one arm.

    `run`: its folder. `workdir`: of its first machine. `seconds`: from its start to its end; `over`: its time
    was over before that. `failure`: why its last life ended, in words, unless that was at the last update.
    """

    name: str
    run: RunFolder
    workdir: Path
    lives: tuple[Life, ...]
    seconds: float
    failure: str | None
    over: bool

    @property
    def last(self) -> int:
        """The last update that was made in any life."""
        return max((life.last for life in self.lives), default=0)


def live_through(
    subject: Subject,
    name: str,
    told: Instructions,
    root: Path,
    *,
    seconds: float,
    look: Callable[[RunFolder], None] = lambda _run: None,
    leave_out: tuple[str, ...] = (),
) -> Arm:
    """Let the job live as the instructions say, killed and resumed, to its end.

    Args:
        subject: the job.
        name: of this arm, and of its folder below `root`.
        told: instructions for the probe.
        root: folder of the drill.
        seconds: after so many everything is ended; what was seen until then counts.
        look: called some times a second, with the folder of the run.
        leave_out: groups that a job which attaches does not get back, on purpose.
    """
    place, began = root / name, time.monotonic()
    marker, over = marker_of(root), False
    run = Disk(place / "disk").campaign(_CAMPAIGN).run(subject.order.run)
    atomic.make_folder(run.root / "code")
    assert subject.order.code is not None
    shutil.copyfile(subject.archive, run.code(subject.order.code.digest))
    try:
        for number in range(1, _MOST_STARTS + 1):
            notice = place / f"notice-{number}.json"
            _write_orders(subject, run, place, number, replace(told, notice=str(notice)), leave_out)
            over = _supervise(run, marker, notice, began + seconds, look)
            if over or _is_over(run):
                break
    finally:
        end_tree(marker)
    lives = read_lives(run.root)
    return Arm(
        name=name,
        run=run,
        workdir=_workdir(place, 1),
        lives=lives,
        seconds=time.monotonic() - began,
        failure=_failure(run, lives),
        over=over,
    )


def marker_of(root: Path) -> tuple[str, str]:
    """Return the variable by which the processes of a drill are found; `root`: its folder."""
    return (MARK, str(root))


def tidy(arm: Arm) -> None:
    """Remove what is large of an arm that was read: its saves, its outputs, its working folders."""
    for kept in arm.run.attempts.glob(f"*/{file_name('*')}"):
        kept.unlink(missing_ok=True)
    for large in (arm.run.checkpoints, arm.run.outputs, *arm.workdir.parent.glob("machine-*")):
        shutil.rmtree(large, ignore_errors=True)


def _workdir(place: Path, machine: int) -> Path:
    return place / f"machine-{machine}"


def _failure(run: RunFolder, lives: Sequence[Life]) -> str | None:
    """Return why the last life ended, in words; None when it came to the last update, or ended well."""
    if lives and lives[-1].ended == "until":
        return None
    number = max((int(path.name) for path in run.attempts.glob("[0-9]*")), default=0)
    campaign = CampaignFolder(run.root.parent.parent)
    events = read_stream(campaign.stream(stream_of_attempt(run.root.name, number))).events
    ended = [event for event in events if event.type is EventType.ATTEMPT_ENDED]
    if not ended or ended[-1].facts["cause"]["end"] == End.DONE.value:
        return None
    why = str(ended[-1].facts["cause"]["why"])
    said = _last_line(run.attempt(number).log)
    return f"{why}: {said}" if said and said not in why else why


def _last_line(log: Path) -> str | None:
    """Return the last line that a job wrote; None when there is none."""
    with contextlib.suppress(OSError), log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _END_OF_LOG))
        lines = file.read().decode(errors="replace").strip().splitlines()
        return redacted(lines[-1].strip())[:200] if lines else None
    return None


def _write_orders(
    subject: Subject,
    run: RunFolder,
    place: Path,
    number: int,
    told: Instructions,
    leave_out: tuple[str, ...],
) -> None:
    """Write what the supervisor and the probe are told; each machine of an arm has a folder of its own."""
    instructions = place / "probe.json"
    atomic.write_text(instructions, strictjson.pretty(told.as_json()))
    site = Path(str(probe.__file__)).parent / "site"
    paths = [
        str(site),
        *filter(None, [subject.order.environment.get("PYTHONPATH", os.environ.get("PYTHONPATH"))]),
    ]
    environment = {
        **subject.order.environment,
        VARIABLE: str(instructions),
        "PYTHONPATH": os.pathsep.join(paths),
        **dict([marker_of(place.parent)]),
    }
    order = replace(
        subject.order,
        campaign=_CAMPAIGN,
        workdir=str(_workdir(place, number)),
        campaign_folder=str(run.root.parent.parent),
        machine=f"drill-{number}",
        environment=environment,
        checkpoint=CheckpointPolicy(every_steps=subject.every_steps, keep=_KEPT),
        stop=(),
        leave_out=leave_out,
    )
    atomic.write_text(run.order, strictjson.pretty(order.as_json()))


def _supervise(
    run: RunFolder, marker: tuple[str, str], notice: Path, deadline: float, look: Callable[[RunFolder], None]
) -> bool:
    """Carry out the order on one machine. Says whether the time was over."""
    environment = {**with_interpreter(os.environ), marker[0]: marker[1], NOTICE: str(notice)}
    command = [sys.executable, "-m", "lastro.run", str(run.root)]
    with (run.root / "drill.log").open("ab") as log:
        process = subprocess.Popen(
            command, cwd=run.root, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True,
        )  # fmt: skip
        while process.poll() is None:
            look(run)
            if time.monotonic() > deadline:
                end_tree(marker)
                process.wait()
                return True
            time.sleep(_LOOK_EVERY)
    if process.returncode and not read_lives(run.root):
        raise ProviderError(
            _("the job could not be supervised; see {log}").format(log=run.supervisor_log),
            hint=_("try `lastro run` first: the drill needs a job that starts"),
        )
    return False


def last_step(run: RunFolder) -> int:
    """Return the last update that the traces tell of; 0 before the first. Reads the end of one file."""
    traces = sorted(run.attempts.glob(f"*/{trace_name(0)}"), key=lambda path: int(path.parent.name))
    if not traces:
        return 0
    with traces[-1].open("rb") as file:
        file.seek(max(0, traces[-1].stat().st_size - _END_OF_TRACE))
        steps = _STEP.findall(file.read())
    return int(steps[-1]) if steps else 0


def _is_over(run: RunFolder) -> bool:
    """Say whether the last life ended for good: at its last update, or by itself."""
    lives = read_lives(run.root)
    numbers = [int(path.name) for path in run.attempts.glob("[0-9]*")]
    if not lives or lives[-1].number != max(numbers, default=0):
        return True  # the probe was not heard in the last one
    ended = lives[-1].ended
    return ended is None or ended == "until"
