"""Everything that can happen to a checkpoint on a disk, and what is said of it: the one before is used."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lastro import strictjson
from lastro.checkpoint import store
from lastro.checkpoint.health import Health
from lastro.errors import CheckpointDamaged

RUN = "r1"


def save(checkpoints: Path, step: int, *, attempt: int = 1, run: str = RUN, bad: str | None = None) -> Path:
    facts = store.Facts(
        run=run, attempt=attempt, step=step, why="due", created="2026-11-30T00:00:00.000000Z", position={}
    )
    with store.publish(checkpoints, facts, lambda: True) as draft:
        draft.write("tensors.safetensors", [bytes(range(256)) * 8])
        draft.write("state.json", [b'{"version":1,"groups":{}}'])
        draft.health = Health(first_bad=bad)
    return checkpoints / facts.name


def _cut(path: Path, size: int) -> None:
    path.write_bytes(path.read_bytes()[:size])


def _flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def _as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _edit(folder: Path, change: Callable[[dict[str, object]], object]) -> None:
    told = strictjson.read(folder / "manifest.json")
    change(told)
    (folder / "manifest.json").write_text(strictjson.pretty(told))


TENSORS, STATE, MANIFEST = "tensors.safetensors", "state.json", "manifest.json"
Damage = Callable[[Path], object]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        # truncated, grown
        (lambda f: _cut(f / TENSORS, 0), f"{TENSORS} has 0 bytes, the manifest says 2048"),
        (lambda f: _cut(f / TENSORS, 1024), f"{TENSORS} has 1024 bytes"),
        (lambda f: _cut(f / STATE, 24), f"{STATE} has 24 bytes, the manifest says 25"),
        (lambda f: (f / STATE).write_bytes(b"x" * 26), f"{STATE} has 26 bytes"),
        # one bit
        (lambda f: _flip(f / TENSORS, 0), f"{TENSORS} does not have the digest"),
        (lambda f: _flip(f / TENSORS, 2047), f"{TENSORS} does not have the digest"),
        (lambda f: _flip(f / STATE, 12), f"{STATE} does not have the digest"),
        # half copied
        (lambda f: (f / TENSORS).unlink(), f"{TENSORS} is missing"),
        (lambda f: (f / MANIFEST).unlink(), "it has no manifest"),
        (lambda f: [path.unlink() for path in f.iterdir()], "it has no manifest"),
        (lambda f: _as_folder(f / STATE), f"{STATE} is no file"),
        (lambda f: ((f / STATE).unlink(), (f / STATE).symlink_to(f / STATE)), f"{STATE} is missing"),
        # another manifest
        (lambda f: _cut(f / MANIFEST, 100), "its manifest cannot be read"),
        (lambda f: _cut(f / MANIFEST, 0), "its manifest cannot be read"),
        (lambda f: (f / MANIFEST).write_bytes(b"\x93NUMPY\xff"), "its manifest cannot be read"),
        (lambda f: (f / MANIFEST).write_text("[" * 100_000), "its manifest cannot be read"),
        (lambda f: (f / MANIFEST).write_text("[1]"), "its manifest cannot be read"),
        (lambda f: _as_folder(f / MANIFEST), "its manifest cannot be read"),
        (lambda f: _edit(f, lambda m: m.update(version=0)), "version 0 is not known here"),
        (lambda f: _edit(f, lambda m: m.update(version="4")), "version 4 is not known here"),
        (lambda f: _edit(f, lambda m: m.update(version=2)), "its manifest cannot be read"),
        (lambda f: _edit(f, lambda m: m.update(step="20")), None),
        (lambda f: _edit(f, lambda m: m.update(files={})), "its manifest cannot be read"),
        (lambda f: _edit(f, lambda m: m.update(files=[1])), "its manifest cannot be read"),
        (lambda f: _edit(f, lambda m: m.pop("run")), "its manifest cannot be read"),
        (
            lambda f: (f / MANIFEST).write_text((f / MANIFEST).read_text().replace("2048", "1e999")),
            "its manifest cannot be read",
        ),
        # of something else
        (lambda f: _edit(f, lambda m: m.update(run="r0")), "it belongs to run r0"),
        (lambda f: _edit(f, lambda m: m.update(step=10)), "its manifest belongs to 10-a1"),
        (lambda f: shutil.move(f, f.with_name("30-a2")), "its manifest belongs to 20-a1"),
    ],
)
def test_it_is_passed_over_by_name_and_the_one_before_is_used(
    tmp_path: Path, damage: Damage, said: str | None
) -> None:
    save(tmp_path, 10)
    damage(save(tmp_path, 20))

    found = store.latest(tmp_path, run=RUN)

    assert found.manifest is not None
    if said is None:  # no damage after all
        assert found.manifest.step == 20
        return
    assert found.manifest.step == 10
    ((_folder, why),) = found.passed_over
    assert said in why


def test_what_a_later_lastro_has_saved_is_not_gone_back_behind(tmp_path: Path) -> None:
    """The one before could be used; but the work since then would be lost, and nobody asked for that."""
    save(tmp_path, 10)
    _edit(save(tmp_path, 20), lambda m: m.update(version=4))

    with pytest.raises(CheckpointDamaged, match="20-a1 has version 4, and this lastro knows 3") as told:
        store.latest(tmp_path, run=RUN)

    assert "the lastro that saved it" in str(told.value.hint)


def test_a_later_checkpoint_of_an_older_run_is_no_past_of_this_one(tmp_path: Path) -> None:
    """Somebody has copied the checkpoints of the run before into the folder: higher steps, and all whole."""
    save(tmp_path, 10)
    for step in (900, 1000):
        save(tmp_path, step, attempt=3, run="r0")

    found = store.latest(tmp_path, run=RUN)

    assert found.folder == tmp_path / "10-a1"
    assert [why for _folder, why in found.passed_over] == ["it belongs to run r0"] * 2


def test_a_file_whose_bytes_the_disk_does_not_give_back_is_told(tmp_path: Path) -> None:
    """/proc/self/mem answers a read at its start with an I/O error, as a dying disk does."""
    save(tmp_path, 10)
    folder = save(tmp_path, 20)
    (folder / STATE).unlink()
    (folder / STATE).symlink_to("/proc/self/mem")
    _edit(folder, lambda m: m["files"][STATE].update(bytes=0))  # type: ignore[index]

    found = store.latest(tmp_path, run=RUN)

    assert found.folder == tmp_path / "10-a1"
    assert f"{STATE} cannot be read: Input/output error" in found.passed_over[0][1]


def test_with_every_checkpoint_damaged_there_is_none_and_each_is_named(tmp_path: Path) -> None:
    for step in (10, 20):
        _flip(save(tmp_path, step) / TENSORS, 5)

    found = store.latest(tmp_path, run=RUN)

    assert found.folder is None
    assert [folder.name for folder, _why in found.passed_over] == ["20-a1", "10-a1"]


@pytest.mark.parametrize("bad", [None, "model/weight"])
def test_no_flipped_bit_of_a_manifest_makes_other_bytes_or_a_lost_model_usable(
    tmp_path: Path, bad: str | None
) -> None:
    """One in each byte of the manifest. What is used has the bytes that were saved, and was healthy."""
    save(tmp_path, 10)
    folder = save(tmp_path, 20, bad=bad)
    whole = (folder / MANIFEST).read_bytes()
    kept = {name: (folder / name).read_bytes() for name in (TENSORS, STATE)}
    used = 0
    for position in range(len(whole)):
        data = bytearray(whole)
        data[position] ^= 1 << position % 8
        (folder / MANIFEST).write_bytes(data)

        try:
            found = store.latest(tmp_path, run=RUN)
        except CheckpointDamaged as error:  # it made the version a later one
            assert "has version" in error.message
            continue

        assert found.manifest is not None
        if found.folder == folder:
            used += 1
            assert bad is None, data
            for name, bytes_saved in kept.items():
                with store.read_file(folder, found.manifest, name) as file:
                    assert file.bytes(file.size) == bytes_saved
        else:
            assert found.folder == tmp_path / "10-a1"
            assert found.passed_over[0][1]
    assert used < len(whole) / 2
