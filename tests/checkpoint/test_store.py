from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from lastro import strictjson
from lastro.checkpoint import digest, store
from lastro.checkpoint.arena import Arena
from lastro.errors import Fenced


def facts(step: int, attempt: int = 1, measured: Mapping[str, float] | None = None) -> store.Facts:
    return store.Facts(
        run="r1",
        attempt=attempt,
        step=step,
        why="due",
        created="2026-11-30T00:00:00.000000Z",
        position={},
        measured=measured or {},
    )


def save(
    checkpoints: Path,
    step: int,
    attempt: int = 1,
    mine: Callable[[], bool] = lambda: True,
    measured: Mapping[str, float] | None = None,
) -> Path:
    with store.publish(checkpoints, facts(step, attempt, measured), mine) as draft:
        memory = Arena().reserve(5003)
        memory[:] = bytes([step]) * 5000 + b"end"
        draft.write_memory("tensors.safetensors", memory)
        draft.write("state.json", [b"{}"])
    return checkpoints / f"{step}-a{attempt}"


def test_what_was_published_is_committed_and_verifies(tmp_path: Path) -> None:
    folder = save(tmp_path, 10)

    manifest = store.committed(folder)

    assert isinstance(manifest, store.Manifest)
    assert (manifest.step, manifest.size) == (10, 5005)
    assert store.verify(folder) == ()
    with store.read_file(folder, manifest, "state.json") as file:
        assert file.bytes(file.size) == b"{}"


def test_the_manifest_is_open_json_with_sizes_and_digests(tmp_path: Path) -> None:
    with store.publish(tmp_path, facts(10), lambda: True) as draft:
        draft.write("empty", [])

    told = strictjson.read(tmp_path / "10-a1" / "manifest.json")

    # The digest of no bytes at all, with seed 0, as the authors of XXH3 publish it.
    assert told["files"] == {"empty": {"bytes": 0, "xxh3_128": "99aa06d3014798d86001c324468d497f"}}
    assert (told["version"], told["run"], told["attempt"], told["step"]) == (1, "r1", 1, 10)


@pytest.mark.parametrize("at", [0, 2500, 5002])
def test_one_flipped_bit_is_found_and_the_checkpoint_before_is_used(tmp_path: Path, at: int) -> None:
    save(tmp_path, 10)
    file = save(tmp_path, 20) / "tensors.safetensors"
    data = bytearray(file.read_bytes())
    data[at] ^= 1
    file.write_bytes(data)

    found = store.latest(tmp_path)

    assert found.manifest is not None and found.manifest.step == 10
    ((folder, why),) = found.passed_over
    assert folder.name == "20-a1" and "tensors.safetensors does not have the digest" in why


def test_bytes_that_change_after_the_check_are_not_loaded(tmp_path: Path) -> None:
    folder = save(tmp_path, 10)
    manifest = store.committed(folder)
    assert isinstance(manifest, store.Manifest)
    (folder / "state.json").write_bytes(b"[]")

    with (
        pytest.raises(store.Unverified, match=r"state\.json does not have the digest"),
        store.read_file(folder, manifest, "state.json") as file,
    ):
        file.bytes(file.size)


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda folder: (folder / "state.json").unlink(), "state.json is missing"),
        (lambda folder: (folder / "state.json").write_bytes(b"{"), "state.json has 1 bytes"),
        (lambda folder: (folder / "manifest.json").unlink(), "no manifest"),
        (lambda folder: (folder / "manifest.json").write_text("{"), "manifest cannot be read"),
        (lambda folder: (folder / "manifest.json").write_text("[]"), "manifest cannot be read"),
        (lambda folder: (folder / "manifest.json").write_text('{"version": 0}'), "version 0 is not known"),
        (lambda folder: folder.rename(folder.with_name("30-a1")), "belongs to 20-a1"),
    ],
)
def test_what_is_not_committed_is_passed_over_with_its_reason(
    tmp_path: Path, damage: Callable[[Path], object], why: str
) -> None:
    save(tmp_path, 10)
    damage(save(tmp_path, 20))

    found = store.latest(tmp_path)

    assert found.manifest is not None and found.manifest.step == 10
    assert why in found.passed_over[0][1]


def test_a_manifest_cannot_name_files_outside_its_folder(tmp_path: Path) -> None:
    folder = save(tmp_path, 10)
    told = strictjson.read(folder / "manifest.json")
    told["files"]["../x"] = told["files"].pop("state.json")
    (folder / "manifest.json").write_text(strictjson.pretty(told))

    why = store.committed(folder)

    assert isinstance(why, str) and "outside its folder" in why


def test_the_latest_is_the_highest_step_and_then_the_highest_attempt(tmp_path: Path) -> None:
    for step, attempt in ((9, 3), (100, 1), (100, 2), (20, 4)):
        save(tmp_path, step, attempt)
    (tmp_path / "readme").mkdir()

    assert [path.name for path in store.names(tmp_path)] == ["100-a2", "100-a1", "20-a4", "9-a3"]
    assert store.latest(tmp_path).folder == tmp_path / "100-a2"


def test_nothing_there_is_no_error(tmp_path: Path) -> None:
    assert store.latest(tmp_path / "never") == store.Found(None, None, ())


def test_a_fenced_attempt_publishes_nothing(tmp_path: Path) -> None:
    with pytest.raises(Fenced):
        save(tmp_path, 10, mine=lambda: False)

    assert list(tmp_path.iterdir()) == []


def test_what_is_published_is_never_rewritten(tmp_path: Path) -> None:
    save(tmp_path, 10)

    with pytest.raises(FileExistsError):
        save(tmp_path, 10)


def test_a_digest_that_this_machine_cannot_compute_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = save(tmp_path, 10)
    monkeypatch.delitem(digest._MAKERS, "xxh3_128")

    assert store.verify(folder)[0] == "xxh3_128 cannot be computed here: install xxhash"


def test_without_xxhash_the_weaker_level_is_named_and_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digest, "ALGORITHM", "sha256")
    folder = save(tmp_path, 10)

    manifest = store.committed(folder)

    assert isinstance(manifest, store.Manifest) and manifest.algorithm == "sha256"
    assert store.verify(folder) == ()


def die_at_event(number: int) -> None:
    """Kill this process at the n-th thing that it asks of the file system."""
    count = 0

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal count
        if event in ("open", "os.mkdir", "os.rename", "os.listdir", "os.scandir"):
            count += 1
            if count == number:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def test_killed_at_every_step_of_a_save_the_old_or_the_new_one_is_whole(tmp_path: Path) -> None:
    """Every file operation of a save is tried as the last one. Ends when a save gets through."""
    outcomes = []
    for number in range(1, 100):
        checkpoints = tmp_path / str(number)
        save(checkpoints, 10)
        child = os.fork()
        if child == 0:
            die_at_event(number)
            save(checkpoints, 20)
            os._exit(0)
        _pid, status = os.waitpid(child, 0)
        found = store.latest(checkpoints)
        assert found.manifest is not None and found.passed_over == ()
        outcomes.append(found.manifest.step)
        if status == 0:
            break
        save(checkpoints, 30, attempt=2)
        assert store.latest(checkpoints).folder == checkpoints / "30-a2"
    assert outcomes[0] == 10 and outcomes[-1] == 20
    assert outcomes == sorted(outcomes) and len(outcomes) > 8


def test_a_disk_that_takes_no_more_leaves_the_earlier_one_and_nothing_half(tmp_path: Path) -> None:
    save(tmp_path, 10)
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))  # the kernel refuses what goes beyond
        try:
            save(tmp_path, 20)
        except OSError:
            os._exit(7)
        os._exit(0)
    _pid, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 7
    assert [path.name for path in tmp_path.iterdir()] == ["10-a1"]
    assert store.latest(tmp_path).passed_over == ()
