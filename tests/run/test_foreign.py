"""A program that knows nothing of lastro: its own saves become its progress, and go back in."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lastro import atomic, strictjson
from lastro.checkpoint import foreign, store
from lastro.clock import SystemClock
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
from lastro.paths import CampaignFolder, RunFolder
from lastro.procs.identity import ProcessId
from lastro.procs.job import Exit
from lastro.procs.killtree import end_tree
from lastro.rules import CheckpointPolicy, CodeIdentity, Order
from lastro.run.foreign import ForeignSaves, Seen, settled, step_of, whole_at_end
from lastro.run.resuming import choose, command_of, with_resume
from lastro.run.seat import Seat
from lastro.run.trackers import tracker_environment
from lastro.run.writers import being_written
from tests.run.jobs import RUN, events_of, order_for, start_supervisor, wait_for, write_order

#: Adds up 1 to 40 and saves at each tenth, as a folder in which a big file comes first. At 25 of its first
#: life it is in the middle of a save, and waits there to be killed.
JOB = """
import json, os, sys, time
state = {"step": 0, "total": 0}
if len(sys.argv) > 1:
    assert sys.argv[1] == "--resume"
    state = json.load(open(sys.argv[2] + "/state.json"))
    print("resumed at", state["step"], "from", sys.argv[2], flush=True)
while state["step"] < 40:
    state["step"] += 1
    state["total"] += state["step"]
    if state["step"] % 10 == 0:
        folder = f"out/checkpoint-{state['step']}"
        os.makedirs(folder, exist_ok=True)
        open(folder + "/weights.bin", "wb").write(bytes([state["step"]]) * 100_000)
        json.dump(state, open(folder + "/state.json", "w"))
    if state["step"] == 25 and len(sys.argv) == 1:
        os.makedirs("out/checkpoint-25")
        half = open("out/checkpoint-25/state.json", "w")
        half.write('{"step": 2')
        half.flush()
        time.sleep(600)
open("total.json", "w").write(json.dumps(state))
"""


@pytest.fixture(autouse=True)
def _nothing_stays_alive(tmp_path: Path) -> Iterator[None]:
    yield
    for folder in tmp_path.glob("disk/campaigns/*/runs/*/attempts/*"):
        end_tree(("LASTRO_ATTEMPT", str(folder)))


def foreign_order(tmp_path: Path, script: str = JOB, **changes: Any) -> tuple[RunFolder, Order]:
    folder, order = order_for(tmp_path, sys.executable, "job.py")
    order = replace(
        order, **{"checkpoints": "out/checkpoint-*", "resume_arg": "--resume {latest}", **changes}
    )
    write_order(folder, order)
    Path(order.workdir, "job.py").write_text(script)
    return folder, order


def open_stream(order: Order) -> StreamWriter:
    campaign = CampaignFolder(Path(order.campaign_folder))
    return StreamWriter(campaign.stream("s-1"), SystemClock(), {})


def steps_of(folder: RunFolder, number: int) -> list[int]:
    events = events_of(folder, number)
    return [event.facts["step"] for event in events if event.type is EventType.CHECKPOINT_COMMITTED]


def test_killed_in_the_middle_of_a_save_it_goes_on_from_the_one_before(tmp_path: Path) -> None:
    folder, order = foreign_order(tmp_path)
    supervisor = start_supervisor(folder)
    wait_for(lambda: steps_of(folder, 1)[-1:] == [20])
    launched = next(event for event in events_of(folder, 1) if event.type is EventType.ATTEMPT_LAUNCHED)
    os.kill(ProcessId.from_json(launched.facts["job"]).pid, signal.SIGKILL)

    assert supervisor.wait(60) == 0

    original = Path(order.workdir, "out/checkpoint-20")
    assert folder.attempt(2).log.read_text() == f"resumed at 20 from {original}\n"
    assert strictjson.read(Path(order.workdir, "total.json")) == {"step": 40, "total": 820}
    assert steps_of(folder, 1)[-1:] == [20], "half a save is no progress"
    assert steps_of(folder, 2)[-1:] == [40]
    ended = next(event for event in events_of(folder, 1) if event.type is EventType.ATTEMPT_ENDED)
    assert ended.facts["step"] is None, "its steps are not known, so what was lost is not known either"
    assert events_of(folder, 2)[-1].facts["verdict"] == "completed"


def test_the_copies_are_kept_as_told_and_the_programs_own_files_stay(tmp_path: Path) -> None:
    undisturbed = JOB.replace("== 25", "== -1")
    folder, order = foreign_order(tmp_path, undisturbed, checkpoint=CheckpointPolicy(keep=1))
    before = Path(order.workdir, "out/checkpoint-7")
    before.mkdir(parents=True)
    (before / "state.json").write_text("of an older day")

    start_supervisor(folder).wait(60)

    assert steps_of(folder, 1)[-1:] == [40]
    assert [path.name for path in store.names(folder.checkpoints)] == ["40-a1"]
    manifest = store.committed(folder.checkpoints / "40-a1")
    assert isinstance(manifest, store.Manifest)
    assert manifest.facts.position["origin"] == "out/checkpoint-40"
    assert sorted(manifest.files) == [
        "saved/checkpoint-40/state.json",
        "saved/checkpoint-40/weights.bin",
    ]
    saves = sorted(path.name for path in Path(order.workdir, "out").iterdir())
    assert saves == ["checkpoint-10", "checkpoint-20", "checkpoint-30", "checkpoint-40", "checkpoint-7"]


def test_with_nothing_usable_left_it_is_not_started_from_nothing(tmp_path: Path) -> None:
    """The program saves, waits until its copy is damaged as a disk would do it, and crashes."""
    folder, order = foreign_order(
        tmp_path,
        "import os, sys, time\n"
        "open('begun', 'a').write('once ')\n"
        "os.makedirs('out/checkpoint-5')\n"
        "open('out/checkpoint-5/state.json', 'w').write('x')\n"
        "while not os.path.exists('damaged'):\n"
        "    time.sleep(0.02)\n"
        "sys.exit(1)\n",
    )
    supervisor = start_supervisor(folder)
    wait_for(lambda: steps_of(folder, 1) == [5])
    (folder.checkpoints / "5-a1/saved/checkpoint-5/state.json").write_text("y")
    Path(order.workdir, "damaged").touch()
    supervisor.wait(60)

    kinds = [event.type for event in events_of(folder, 2)]
    assert EventType.ATTEMPT_LAUNCHED not in kinds
    assert EventType.CHECKPOINT_PASSED_OVER in kinds
    assert events_of(folder, 2)[-1].facts["verdict"] == "stopped"
    assert Path(order.workdir, "begun").read_text() == "once "


# --- what is decided ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "resumed", "last", "step"),
    [
        (500, None, None, 500),
        (1000, 500, 500, 1000),
        (100, 500, None, 100),  # it began again from nothing, and that shows
        (500, None, 500, 501),  # the same number with other bytes
        (None, None, None, 1),
        (None, 7, None, 8),
        (None, 7, 9, 10),
    ],
)
def test_a_save_counts_by_its_own_number_or_as_the_next(
    number: int | None, resumed: int | None, last: int | None, step: int
) -> None:
    assert step_of(number, resumed, last) == step


def _save(signature: str = "a", newest: float = 0.0) -> foreign.Save:
    return foreign.Save("out/s-1", signature, newest, ("",))


def test_a_save_settles_when_it_was_seen_unchanged_and_closed_for_long_enough() -> None:
    seen = {"out/s-1": Seen("a", since=10.0)}

    assert settled(seen, _save(), now=12.0, quiet=2.0)
    assert not settled(seen, _save(), now=11.9, quiet=2.0)
    assert not settled(seen, _save("b"), now=99.0, quiet=2.0)
    assert not settled({"out/s-1": Seen("a", since=10.0, busy=True)}, _save(), now=99.0, quiet=2.0)
    assert not settled({}, _save(), now=99.0, quiet=2.0)


def test_after_a_kill_only_what_was_closed_and_quiet_before_counts() -> None:
    killed = Exit(code=None, signal=9, at="1970-01-01T00:01:40.000000Z")
    quiet = {"out/s-1": Seen("a", since=10.0)}
    busy = {"out/s-1": Seen("a", since=10.0, busy=True)}

    assert whole_at_end(quiet, _save(newest=98.0), killed, 2.0)
    assert not whole_at_end(quiet, _save(newest=98.1), killed, 2.0)
    assert not whole_at_end(busy, _save(newest=1.0), killed, 2.0)
    assert not whole_at_end({}, _save(newest=1.0), killed, 2.0)
    assert not whole_at_end(quiet, _save(newest=1.0), None, 2.0)
    assert whole_at_end({}, _save(newest=100.0), Exit(code=0, signal=None), 2.0)
    assert whole_at_end(busy, _save(newest=100.0), Exit(code=85, signal=None), 2.0)


def test_the_argument_goes_where_the_program_finds_it() -> None:
    assert with_resume(("python", "t.py"), "--resume '{latest}' -x", "/a b/c") == (
        *("python", "t.py", "--resume", "/a b/c", "-x"),
    )
    shell = ("/bin/sh", "-c", 'python t.py "$@" | tee log')
    assert with_resume(shell, "--from={latest}", "/c") == (*shell, "sh", "--from=/c")


def test_trackers_are_told_one_run_and_never_against_the_user(tmp_path: Path) -> None:
    told = tracker_environment({}, RUN, tmp_path)

    assert told["WANDB_RUN_ID"] == RUN
    assert told["WANDB_RESUME"] == "allow"
    assert strictjson.loads(told["MLFLOW_RUN_CONTEXT"]) == {"lastro.run": RUN}
    assert told["LASTRO_TENSORBOARD"] == str(tmp_path)
    own = {"WANDB_RUN_ID": "mine", "MLFLOW_RUN_CONTEXT": "{}"}
    assert tracker_environment(own, RUN, tmp_path) == {"LASTRO_TENSORBOARD": str(tmp_path)}


# --- choosing -----------------------------------------------------------------------------------------


def _copies(tmp_path: Path, *steps: int, made_by: str = RUN) -> RunFolder:
    folder = RunFolder(tmp_path / RUN)
    for step in steps:
        (tmp_path / "out" / f"s-{step}").mkdir(parents=True)
        (tmp_path / "out" / f"s-{step}" / "w").write_bytes(bytes([step]) * 1000)
        save = foreign.look_at(tmp_path, f"out/s-{step}")
        assert save is not None
        facts = store.Facts(
            run=made_by, attempt=1, step=step, why="foreign", created="", position=foreign.position_of(save)
        )
        foreign.publish_copy(folder.checkpoints, tmp_path, save, facts, lambda: True)
    return folder


def test_the_latest_copy_that_verifies_is_chosen_and_a_damaged_one_is_named(tmp_path: Path) -> None:
    folder = _copies(tmp_path, 1, 2)
    (folder.checkpoints / "2-a1/saved/s-2/w").write_bytes(b"\2" * 999 + b"\3")

    choice = choose(folder, failed=())

    assert choice.manifest is not None
    assert choice.manifest.step == 1
    assert [name for name, _why in choice.passed_over] == ["2-a1"]


def test_a_copy_from_which_a_start_failed_gives_way_to_an_earlier_one(tmp_path: Path) -> None:
    folder = _copies(tmp_path, 1, 2)

    earlier, only = choose(folder, {"2-a1"}), choose(folder, {"2-a1", "1-a1"})

    assert earlier.manifest is not None
    assert earlier.manifest.step == 1
    assert only.manifest is not None
    assert only.manifest.step == 2


def test_what_another_run_has_made_is_no_past_of_this_one(tmp_path: Path) -> None:
    folder = _copies(tmp_path, 1, made_by="fedcba9876543210")

    choice = choose(folder, failed=())

    assert choice.folder is None
    assert choice.passed_over == (("1-a1", "it belongs to run fedcba9876543210"),)


def test_what_another_process_has_open_for_writing_is_seen(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    with (tmp_path / "s" / "half").open("w"), (tmp_path / "read").open("w+"):
        assert being_written([tmp_path / "s", tmp_path / "other"]) == {tmp_path / "s"}
    (tmp_path / "read").write_text("x")
    with (tmp_path / "read").open():
        assert being_written([tmp_path / "s", tmp_path / "read"]) == frozenset()


def _one_save(tmp_path: Path) -> tuple[RunFolder, Order, StreamWriter]:
    """Return a run whose first attempt has saved at step 3, with a stream to tell it in."""
    folder, order = foreign_order(tmp_path)
    folder.attempt(1).root.mkdir(parents=True)
    folder.claims.mkdir(parents=True)
    folder.claim(1).write_text("{}")
    save = Path(order.workdir, "out/checkpoint-3")
    save.mkdir(parents=True)
    (save / "state.json").write_text("{}")
    return folder, order, open_stream(order)


_WELL = Exit(code=0, signal=None)


def test_a_supervisor_that_takes_over_takes_no_save_twice(tmp_path: Path) -> None:
    folder, order, stream = _one_save(tmp_path)
    attempt, seat = folder.attempt(1), Seat(folder, 1)

    ForeignSaves(attempt, order, seat, stream).finish(_WELL, lambda: None)
    once = attempt.signals.read_bytes()
    atomic.withdraw_folder(folder.checkpoints / "3-a1")  # as retention does, in time
    ForeignSaves(attempt, order, seat, stream).finish(_WELL, lambda: None)

    assert b"3-a1" in once
    assert attempt.signals.read_bytes() == once
    assert store.names(folder.checkpoints) == []


@pytest.mark.parametrize("damaged", [False, True])
def test_what_a_supervisor_published_and_died_before_it_could_say_so_is_said(
    tmp_path: Path, damaged: bool
) -> None:
    folder, order, stream = _one_save(tmp_path)
    attempt, seat = folder.attempt(1), Seat(folder, 1)
    ForeignSaves(attempt, order, seat, stream).finish(_WELL, lambda: None)
    attempt.signals.unlink()
    copy = folder.checkpoints / "3-a1/saved/checkpoint-3/state.json"
    copy.write_text("[]" if damaged else "{}")

    for _time in range(2):
        ForeignSaves(attempt, order, seat, stream).finish(_WELL, lambda: None)

    assert attempt.signals.read_text().count('"folder":"3-a1"') == 1
    assert store.verify(folder.checkpoints / "3-a1") == ()


def test_on_a_fresh_machine_the_save_is_put_back_where_it_was(tmp_path: Path) -> None:
    folder, order = foreign_order(tmp_path, code=CodeIdentity(digest="d", unpack=True))
    (tmp_path / "old").mkdir()
    _copies(tmp_path / "old", 4).checkpoints.rename(folder.checkpoints)
    attempt = folder.attempt(1)
    attempt.root.mkdir(parents=True)

    command = command_of(attempt, order, before=4)

    assert command == (*order.command, "--resume", str(Path(order.workdir, "out/s-4")))
    assert Path(order.workdir, "out/s-4/w").read_bytes() == b"\4" * 1000


def test_what_lies_in_a_saves_place_stays_and_the_program_gets_a_copy_of_its_own(tmp_path: Path) -> None:
    folder, order = foreign_order(tmp_path)
    (tmp_path / "old").mkdir()
    _copies(tmp_path / "old", 4).checkpoints.rename(folder.checkpoints)
    attempt = folder.attempt(1)
    attempt.root.mkdir(parents=True)
    half = Path(order.workdir, "out/s-4")
    half.mkdir(parents=True)
    (half / "w").write_bytes(b"half")

    command = command_of(attempt, order, before=4)

    assert command == (*order.command, "--resume", str(attempt.resume / "s-4"))
    assert (half / "w").read_bytes() == b"half"
    assert (attempt.resume / "s-4/w").read_bytes() == b"\4" * 1000
    assert store.verify(folder.checkpoints / "4-a1") == ()
