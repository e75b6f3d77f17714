"""What ssh costs beyond ssh: a start on a prepared machine, and a workdir of which one file has changed.

A real sshd on loopback, with a home and a disk of its own; what is compared takes turns.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.result import Result, median
from lastro import atomic, strictjson
from lastro.clock import SystemClock
from lastro.paths import CampaignFolder, Disk, Home, RunFolder
from lastro.providers.base import Machine, MachineRequest
from lastro.providers.ssh.replica import Replica
from lastro.providers.ssh.ssh import Ssh
from lastro.providers.ssh.transport import CONFIG
from lastro.rules import CodeIdentity, Order
from lastro.storage.snapshot import code_digest, code_files, unpack, write_archive
from tests.providers.ssh.sshd import Rented, rented

START_TARGET, SYNC_TARGET = 3.0, 2.0
STARTS, SYNCS = 10, 10
FILES, FILE_BYTES = 1000, 6000
_DEADLINE = 60.0

#: Its imports are those of every job that uses lastro; it says when they are done.
JOB = "import lastro\nopen('attached', 'w').close()\n"
_IMPORTS = [sys.executable, "-c", "import lastro"]


def run() -> Result:
    with (
        tempfile.TemporaryDirectory(prefix="lastro-bench-") as name,
        rented(Path(name) / "machine") as machine,
    ):
        os.environ[CONFIG] = str(machine.config)
        starts = [_start(Path(name), machine, number) for number in range(STARTS + 1)][1:]
        syncs = list(_syncs(Path(name), machine))[1:]
        del os.environ[CONFIG]
    return Result(
        measures=(
            median(
                "start on a prepared machine / ssh host true and the job's imports",
                [one.ours / one.bare for one in starts],
                "x",
                START_TARGET,
            ),
            *(median(f"  {part}", [one.parts[part] for one in starts], "s") for part in starts[0].parts),
            median("ssh host true and the job's imports", [one.bare for one in starts], "s"),
            median(
                f"{FILES} files, one changed / rsync",
                [one.ours / one.bare for one in syncs],
                "x",
                SYNC_TARGET,
            ),
            *(median(f"  {part}", [one.parts[part] for one in syncs], "s") for part in syncs[0].parts),
            median("rsync", [one.bare for one in syncs], "s"),
            median("unpacked into a run's own folder / tar", [one.unpacked / one.tar for one in syncs], "x"),
            median("unpacked into a run's own folder", [one.unpacked for one in syncs], "s"),
        ),
        notes=(
            f"{STARTS} starts and {SYNCS} changes, over sshd on loopback. A start is from the first word"
            " over ssh to the end of the job's imports; the code is there when its archive was read again.",
        ),
    )


@dataclass
class Turn:
    """One turn: seconds of ours by part, of what it is compared with, and of unpacking by us and by tar."""

    bare: float
    parts: dict[str, float] = field(default_factory=dict)
    unpacked: float = 0.0
    tar: float = 0.0

    @property
    def ours(self) -> float:
        return sum(self.parts.values())

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        began = time.monotonic()
        yield
        self.parts[name] = time.monotonic() - began


def _timed(action: Callable[[], object]) -> float:
    began = time.monotonic()
    action()
    return time.monotonic() - began


def _call(argv: list[str]) -> None:
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, capture_output=True)


def _true(machine: Rented) -> list[str]:
    return ["ssh", "-F", str(machine.config), "-p", str(machine.port), "127.0.0.1", "true"]


# --- starting -----------------------------------------------------------------------------------------


def _start(folder: Path, machine: Rented, number: int) -> Turn:
    """Start a run on a machine that was used before, as `lastro run` does once it has decided to."""
    turn = Turn(bare=_timed(lambda: _call(_true(machine))) + _timed(lambda: _call(_IMPORTS)))
    clock = SystemClock()
    home = Home(folder / "home")
    with turn.part("connected"):
        provider = Ssh(machine.spec, home, clock)
        provider.channel.connect()
    with turn.part("its disk is open"):
        link = provider.replica("disk")
        link.open("the benchmark")
    with turn.part("the machine is asked"):
        taken = provider.create(
            MachineRequest(tag="bench", campaign="bench", disk=link.local.root, lease=None)
        )
    with turn.part("the order and the code are there"):
        campaign, run = link.local.campaign("bench"), f"{number:016x}"
        _order(campaign, link.there, taken, run, folder)
        link.exchange(campaign, "home-bench", (), now=True)
        link.carry([campaign.run(run).root / "code"], taken.id)
    with turn.part("the supervisor is started"):
        there = Disk(link.there).campaign("bench").run(run).root
        provider.start(taken.id, [sys.executable, "-m", "lastro.run", str(there)])
    with turn.part("the job has its imports"):
        _await(taken.workdir / run / "attached")
    link.close()
    return turn


def _order(campaign: CampaignFolder, there: Path, taken: Machine, run: str, folder: Path) -> None:
    code = folder / "code"
    atomic.make_folder(code)
    (code / "job.py").write_text(JOB)
    files = code_files(code)
    digest = code_digest(code, files)
    mine: RunFolder = campaign.run(run)
    write_archive(code, files, mine.code(digest))
    order = Order(
        campaign="bench",
        run=run,
        name="bench",
        command=(sys.executable, "job.py"),
        config={},
        seed=0,
        resume="training",
        workdir=str(taken.workdir / run),
        campaign_folder=str(Disk(there).campaign("bench").root),
        machine=taken.id,
        node=taken.node,
        home_stream="home-bench",
        home_head="0",
        code=CodeIdentity(digest=digest, unpack=True),
    )
    atomic.write_text(mine.order, strictjson.pretty(order.as_json()))


def _await(path: Path) -> None:
    deadline = time.monotonic() + _DEADLINE
    while not path.exists():
        if time.monotonic() > deadline:
            raise SystemExit(f"{path} never came")
        time.sleep(0.002)


# --- a changed workdir --------------------------------------------------------------------------------


def _syncs(folder: Path, machine: Rented) -> Iterator[Turn]:
    """Change one file of a workdir in turns, and bring it there by rsync and by lastro."""
    code = folder / "workdir"
    for number in range(FILES):
        path = code / f"package{number % 20}" / f"module{number}.py"
        atomic.make_folder(path.parent)
        path.write_bytes(os.urandom(FILE_BYTES // 2).hex().encode())
    link = Ssh(machine.spec, Home(folder / "home"), SystemClock()).replica("disk")
    link.open(None)
    rsync = [
        "rsync",
        "-a",
        "-e",
        f"ssh -F {machine.config} -p {machine.port}",
        f"{code}/",
        "127.0.0.1:by-rsync/",
    ]
    _call(rsync)
    try:
        for number in range(SYNCS + 1):
            (code / "package7" / "module7.py").write_bytes(os.urandom(FILE_BYTES // 2).hex().encode())
            bare = _timed(lambda: _call(rsync))
            yield _sync(link, code, folder / "there", number, bare)
    finally:
        link.close()


def _sync(link: Replica, code: Path, there: Path, number: int, bare: float) -> Turn:
    turn = Turn(bare=bare)
    run = link.local.campaign("bench").run(f"{number:016x}")
    with turn.part("listed and summed"):
        files = code_files(code)
        digest = code_digest(code, files)
    with turn.part("packed"):
        write_archive(code, files, run.code(digest))
    with turn.part("sent, and read again there"):
        link.carry([run.code(digest)], "ssh-bench")
    archive, place = run.code(digest), there / str(number)
    atomic.make_folder(place / "tar")
    turn.tar = _timed(lambda: _call(["tar", "-xf", str(archive), "-C", str(place / "tar")]))
    turn.unpacked = _timed(lambda: unpack(archive, place / "run"))
    return turn
