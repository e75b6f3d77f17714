"""Items: published by the next iteration, never made again, with real processes and real kills."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lastro import atomic
from lastro.errors import StorageError, UsageError
from lastro.job.attempt import Attempt
from lastro.job.item_index import ItemIndex, count_lines
from lastro.job.items import UNFINISHED
from lastro.job.place import Place
from lastro.journal.signals import read_beat
from lastro.paths import AttemptFolder
from lastro.rules import Attempt as Told
from lastro.strictjson import read
from tests.disk.small import fill, on_a_small_disk
from tests.job.hand import Run, environment, kinds, make_run, signals

_MAKER = Path(__file__).with_name("maker.py")


def attempt_of(run: Run) -> Attempt:
    folder = run.attempt()
    return Attempt(Place(Told.from_json(read(folder.attempt)), folder, by_hand=False))


def start(folder: AttemptFolder, **wish: Any) -> subprocess.Popen[bytes]:
    with folder.log.open("ab") as log:
        return subprocess.Popen(
            [sys.executable, str(_MAKER)],
            env={**environment(folder), "MAKER": json.dumps(wish)},
            stdout=log,
            stderr=log,
        )


def make(run: Run, **wish: Any) -> tuple[AttemptFolder, int]:
    folder = run.attempt()
    return folder, start(folder, **wish).wait(60)


def index(run: Run) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run.folder.items_index.read_bytes().splitlines()]


def done(run: Run) -> list[str]:
    return [line["id"] for line in index(run)]


def files(run: Run) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted((run.folder.outputs / "items").iterdir())}


def contents(*ids: str) -> dict[str, str]:
    return {item: f"content of {item}" for item in ids}


# --- publishing ---------------------------------------------------------------------------------------


def test_the_next_iteration_publishes_an_item_and_writes_its_line(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    seen = []

    for item in attempt_of(run).items(["b", 7], name="frames/{id}.png"):
        item.path.write_text(item.id)
        assert item.path.parent == run.folder.outputs / "frames" and item.path.suffix == ".png"
        assert not item.final.exists()
        seen.append(done(run) if run.folder.items_index.exists() else None)

    assert seen == [[], ["b"]]
    assert index(run)[1] == {
        "id": "7",
        "items": "frames/{id}.png",
        "path": "frames/7.png",
        "bytes": 1,
        "sha256": hashlib.sha256(b"7").hexdigest(),
    }
    assert sorted(path.name for path in (run.folder.outputs / "frames").iterdir()) == ["7.png", "b.png"]


@pytest.mark.parametrize("batch", [1, 3])
def test_an_exception_does_not_publish_the_item_in_hand(tmp_path: Path, batch: int) -> None:
    run = make_run(tmp_path)

    folder, code = make(run, ids=["a", "b", "c", "d", "e"], batch=batch, fail_at="d")

    assert code == 1
    assert done(run) == ["a", "b", "c"]
    assert files(run) == contents("a", "b", "c")
    assert signals(folder)[-1] | {"mono": 0} == {
        "kind": "exception", "mono": 0, "failure": "RuntimeError: no", "step": 4, "full": False,
    }  # fmt: skip


def test_a_batch_appears_together_and_a_group_is_one(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    attempt = attempt_of(run)
    counts = []

    for item in attempt.items(range(5), batch=2):
        counts.append(count_lines(run.folder.items_index)[0])
        item.path.write_text("x")
    groups = []
    for group in attempt.item_batches(range(7), 3):
        groups.append([item.id for item in group])
        for item in group:
            item.path.write_text("y")

    assert counts == [0, 0, 2, 2, 4]
    assert groups == [["5", "6"]]
    assert done(run) == ["0", "1", "2", "3", "4", "5", "6"]


def test_an_item_can_be_a_folder(tmp_path: Path) -> None:
    run = make_run(tmp_path)

    for item in attempt_of(run).items(["x"]):
        (item.path / "deep").mkdir(parents=True)
        (item.path / "deep" / "a").write_text("a")
        (item.path / "b").write_text("bb")

    sums = subprocess.run(
        "find . -type f -printf '%P\\n' | LC_ALL=C sort | xargs sha256sum",
        shell=True, cwd=run.folder.outputs / "items" / "x", capture_output=True, check=True,
    )  # fmt: skip
    assert index(run)[0]["bytes"] == 3
    assert index(run)[0]["sha256"] == hashlib.sha256(sums.stdout).hexdigest()


def test_a_body_that_writes_nothing_is_told_and_publishes_nothing(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    items = attempt_of(run).items(["a", "b"])
    next(items)

    with pytest.raises(StorageError, match="nothing was written for item a"):
        next(items)

    assert done(run) == []


@pytest.mark.parametrize("ids", [["a", "b", "a"], [1, "1"], [""], "abc", [1.5], [True], ["\ud800"]])
def test_ids_that_name_nothing_or_stand_twice_are_refused_before_any_work(tmp_path: Path, ids: Any) -> None:
    with pytest.raises(UsageError):
        attempt_of(make_run(tmp_path)).items(ids)


def test_ids_may_come_one_by_one_from_anywhere(tmp_path: Path) -> None:
    run = make_run(tmp_path)

    with pytest.raises(UsageError, match="'b' stands there twice"):
        for item in attempt_of(run).items(item for item in ["a", "b", "b"]):
            item.path.write_text("x")

    assert done(run) == ["a", "b"]


# --- never again --------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [{}, {"batch": 4}, {"groups": 4}])
def test_killed_three_times_no_published_item_is_made_again_and_at_most_a_batch_is_repeated(
    tmp_path: Path, shape: dict[str, int]
) -> None:
    run = make_run(tmp_path)
    ids = [f"i{number:02}" for number in range(20)]
    made = tmp_path / "made"
    published: set[str] = set()
    for victim in ("i02", "i09", "i15"):
        before = len(made.read_text().split()) if made.exists() else 0
        folder, code = make(run, ids=ids, kill_at=victim, made=str(made), **shape)
        assert code == -signal.SIGKILL, folder.log.read_text()
        assert not published & set(made.read_text().split()[before:])
        published = set(done(run))
        in_flight = set(made.read_text().split()[before:]) - published
        assert victim in in_flight and len(in_flight) <= max(1, *shape.values(), 1)

    _folder, code = make(run, ids=ids, made=str(made), **shape)

    assert code == 0
    assert done(run) == ids
    assert files(run) == contents(*ids)  # and nothing unfinished beside them


def test_killed_at_any_moment_every_line_of_the_index_tells_the_truth(tmp_path: Path) -> None:
    """From outside, wherever it happens to be: in a body, a rename, a line."""
    run = make_run(tmp_path)
    ids = list(range(400))
    chance = random.Random(1)
    for _kill in range(5):
        folder = run.attempt()
        job = start(folder, ids=ids, batch=3)
        begun = count_lines(run.folder.items_index)[0]
        while count_lines(run.folder.items_index)[0] < begun + chance.randrange(1, 60) and job.poll() is None:
            time.sleep(0.001)
        job.kill()
        job.wait()
        for line in run.folder.items_index.read_bytes().split(b"\n")[:-1]:
            told = json.loads(line)
            content = (run.folder.outputs / told["path"]).read_bytes()
            assert hashlib.sha256(content).hexdigest() == told["sha256"]

    _folder, code = make(run, ids=ids)

    assert code == 0
    assert done(run) == [str(number) for number in ids]


def test_killed_between_the_names_and_the_index_a_batch_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(tmp_path)
    attempt = attempt_of(run)
    child = os.fork()
    if child == 0:
        monkeypatch.setattr(ItemIndex, "append", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        for item in attempt.items(["a", "b"], batch=2):
            item.path.write_text("first")
    os.waitpid(child, 0)
    assert files(run) == {"a": "first", "b": "first"}

    for item in attempt_of(run).items(["a", "b"]):
        item.path.write_text("second")

    assert files(run) == {"a": "second", "b": "second"}


@pytest.mark.parametrize("damage", ["gone", "shorter", "longer", "a folder"])
def test_a_published_item_that_changed_its_size_is_made_again_and_told(
    tmp_path: Path, damage: str, capfd: pytest.CaptureFixture[str]
) -> None:
    run = make_run(tmp_path)
    make(run, ids=["a", "b", "c"])
    victim = run.folder.outputs / "items" / "b"
    victim.unlink()
    if damage == "a folder":
        victim.mkdir()
    elif damage != "gone":
        victim.write_text("half" if damage == "shorter" else "content of b, and more")

    attempt = attempt_of(run)
    again = []
    for item in attempt.items(["a", "b", "c"]):
        item.path.write_text(f"content of {item.id}")
        again.append(item.id)

    assert again == ["b"]
    assert files(run) == contents("a", "b", "c")
    assert "item b is done again: items/b" in capfd.readouterr().err
    told = [line for line in signals(run.folder.attempt(2)) if line["kind"] == "items"]
    assert [line["done"] for line in told] == [3, 2]


def test_a_torn_last_line_is_cut_and_its_item_made_again(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run = make_run(tmp_path)
    make(run, ids=["a", "b"])
    whole = run.folder.items_index.read_bytes()
    run.folder.items_index.write_bytes(whole[:-10])

    for item in attempt_of(run).items(["a", "b"]):
        assert item.id == "b"
        item.path.write_text("content of b")

    assert run.folder.items_index.read_bytes() == whole
    assert "torn last line" in capfd.readouterr().err


def test_a_line_that_cannot_be_read_or_leads_out_counts_for_nothing(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    make(run, ids=["a", "b", "c"])
    lines = run.folder.items_index.read_bytes().splitlines(keepends=True)
    lines[0] = b"{not json\n"
    lines[1] = lines[1].replace(b"items/b", b"../../b")
    run.folder.items_index.write_bytes(b"".join(lines))

    again = []
    for item in attempt_of(run).items(["a", "b", "c"]):
        again.append(item.id)
        item.path.write_text("x")

    assert again == ["a", "b"]
    assert not (tmp_path / "runs" / "b").exists()


def test_items_of_two_names_are_two_sets(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    make(run, ids=["a"], name="one/{id}")

    folder, code = make(run, ids=["a", "b"], name="two/{id}")

    assert code == 0
    assert [line["path"] for line in index(run)] == ["one/a", "two/a", "two/b"]
    told = [line for line in signals(folder) if line["kind"] == "items"]
    assert (told[0]["done"], told[0]["total"]) == (1, 3)


def test_a_name_that_was_given_stays_although_the_order_of_the_ids_is_another(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    make(run, ids=["Ab", "ab"])
    paths = {line["id"]: line["path"] for line in index(run)}
    (run.folder.outputs / paths["ab"]).unlink()

    make(run, ids=["ab", "Ab"])

    assert index(run)[-1]["path"] == paths["ab"]
    assert (run.folder.outputs / paths["Ab"]).read_text() == "content of Ab"


def test_what_is_published_can_be_found_again_by_id(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    make(run, ids=["a/b", "c"], name="one/{id}.txt")
    make(run, ids=["z"], name="two/{id}.txt")

    found = attempt_of(run).published_items(name="one/{id}.txt")

    assert {item: path.read_text() for item, path in found.items()} == contents("a/b", "c")


# --- leaving ------------------------------------------------------------------------------------------


def test_asked_to_leave_it_completes_the_item_in_hand_publishes_and_ends_with_85(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    folder = run.attempt()
    until = tmp_path / "until"
    job = start(folder, ids=["a", "b", "c"], batch=10, linger_at="b", until=str(until))
    while (beat := read_beat(folder.heartbeat)) is None or beat.step < 2:
        assert job.poll() is None, folder.log.read_text()
        time.sleep(0.01)
    job.terminate()
    until.touch()

    assert job.wait(60) == 85
    assert done(run) == ["a", "b"]
    assert kinds(folder) == ["started", "items", "first_step", "left"]


def test_a_replaced_attempt_publishes_no_item_and_cuts_nothing(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    stale = attempt_of(run)
    items = stale.items(["a", "b"])
    next(items).path.write_text("late")
    run.attempt()

    with pytest.raises(SystemExit) as left:
        next(items)

    assert left.value.code == 12
    assert done(run) == []


def test_what_another_process_left_unfinished_is_swept_up(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    make(run, ids=["a"], kill_at="a")
    left = list((run.folder.outputs / "items").iterdir())
    assert len(left) == 1 and left[0].name.startswith(UNFINISHED)

    make(run, ids=["b"])

    assert files(run) == contents("b")


# --- many at the price of one -------------------------------------------------------------------------


def test_a_thousand_small_items_are_synced_a_few_times_and_not_a_thousand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(tmp_path)
    synced: list[int] = []
    real = os.fsync

    def counted(descriptor: int) -> None:
        synced.append(descriptor)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", counted)
    attempt = attempt_of(run)
    if not atomic._sync_file_system(tmp_path):
        pytest.skip("this file system is not known to heed syncfs")

    for item in attempt.items(range(1000), batch=1000):
        item.path.write_bytes(b"x")

    assert count_lines(run.folder.items_index)[0] == 1000
    assert len(synced) < 20


def test_where_the_file_system_is_unknown_each_file_is_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(tmp_path)
    synced: list[Path] = []
    monkeypatch.setattr(atomic, "_file_system", lambda _device: "fuse.somewhere")
    monkeypatch.setattr(atomic, "sync_file", synced.append)

    for item in attempt_of(run).items(range(20), batch=20):
        item.path.write_bytes(b"x")

    assert len(synced) == 20


def test_folders_and_files_take_each_others_place(tmp_path: Path) -> None:
    for kind in ("file", "folder", "file"):
        aside = tmp_path / "aside"
        if kind == "file":
            aside.write_text("new")
        else:
            aside.mkdir()
            (aside / "x").touch()
        atomic.publish_many([(aside, tmp_path / "final")])
        assert (tmp_path / "final").is_dir() == (kind == "folder")


@on_a_small_disk(6 * 2**20)
def test_a_full_disk_is_waited_for_and_every_item_is_published(tmp_path: Path) -> None:
    run = make_run(tmp_path / "disk" / "campaigns" / "c")
    folder = run.attempt()
    until = tmp_path / "until"
    ids = [f"{number:03}" + "x" * 200 for number in range(40)]
    job = start(folder, ids=ids, batch=40, linger_at=ids[-1], until=str(until))
    while (beat := read_beat(folder.heartbeat)) is None or beat.step < 40:
        assert job.poll() is None, folder.log.read_text()
        time.sleep(0.01)
    ballast = fill(tmp_path / "disk")
    until.touch()
    while "disk_full" not in kinds(folder):
        assert job.poll() is None, folder.log.read_text()
        time.sleep(0.02)

    ballast.unlink()

    assert job.wait(60) == 0
    assert done(run) == ids
    assert kinds(folder)[-1] == "disk_room"
