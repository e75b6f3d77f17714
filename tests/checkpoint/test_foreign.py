"""Saves in a program's own format: found by a pattern, copied whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lastro.checkpoint import foreign, store
from lastro.errors import Fenced

RUN = "0123456789abcdef"


def make(folder: Path, name: str, content: bytes = b"x" * 1000, at: float = 1e9) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (at, at))
    return path


def facts_of(save: foreign.Save, step: int = 1) -> store.Facts:
    position = foreign.position_of(save)
    return store.Facts(run=RUN, attempt=1, step=step, why="foreign", created="", position=position)


def found(folder: Path, pattern: str) -> list[str]:
    return [save.origin for save in foreign.find_saves(folder, pattern)]


@pytest.mark.parametrize(
    ("origin", "pattern", "number"),
    [
        ("out/checkpoint-500", "out/checkpoint-*", 500),
        ("out/epoch=3-step=400.ckpt", "out/*.ckpt", 400),
        ("model_00012.h5", "model_*.h5", 12),
        ("last.pt", "*.pt", None),
        ("out2/last.pt", "out2/*.pt", None),
        ("runs/step_70/model.pt", "runs/*/model.pt", 70),
        ("ckpt.pt", "ckpt.pt", None),
        ("v2.pt", "v2.pt", None),
    ],
)
def test_the_number_of_a_save_is_the_last_one_in_its_name(
    origin: str, pattern: str, number: int | None
) -> None:
    assert foreign.number_in(origin, pattern) == number


def test_saves_come_in_the_order_of_their_last_change(tmp_path: Path) -> None:
    make(tmp_path, "out/c-9/a", at=1000)
    make(tmp_path, "out/c-10/deep/b", at=2000)
    make(tmp_path, "out/c-2/a", at=1500)
    make(tmp_path, "out/other", at=500)

    assert found(tmp_path, "out/c-*") == ["out/c-9", "out/c-2", "out/c-10"]


def test_links_and_empty_folders_are_no_saves(tmp_path: Path) -> None:
    make(tmp_path, "c-1")
    (tmp_path / "c-last").symlink_to("c-1")
    (tmp_path / "c-2").mkdir()

    assert found(tmp_path, "c-*") == ["c-1"]


@pytest.mark.parametrize("change", ["size", "time", "name"])
def test_any_change_in_a_save_changes_its_signature(tmp_path: Path, change: str) -> None:
    make(tmp_path, "s/a")
    before = foreign.look_at(tmp_path, "s")
    if change == "size":
        make(tmp_path, "s/a", b"x" * 1001)
    elif change == "time":
        make(tmp_path, "s/a", at=1e9 + 1)
    else:
        (tmp_path / "s/a").rename(tmp_path / "s/b")

    assert foreign.look_at(tmp_path, "s") != before


def test_a_copy_is_a_checkpoint_with_its_origin_and_goes_back_as_it_was(tmp_path: Path) -> None:
    make(tmp_path, "s-7/deep/manifest.json", b"its own")
    make(tmp_path, "s-7/w", b"1" * 5000)
    (save,) = foreign.find_saves(tmp_path, "s-*")

    manifest = foreign.publish_copy(tmp_path / "c", tmp_path, save, facts_of(save, 7), lambda: True)

    assert store.committed(tmp_path / "c/7-a1") == manifest
    assert store.verify(tmp_path / "c/7-a1") == ()
    position = foreign.origin_of(manifest)
    assert position is not None
    assert position["origin"] == "s-7"
    assert foreign.is_unchanged(tmp_path / "c/7-a1", manifest, tmp_path / "s-7")
    foreign.put_back(tmp_path / "c/7-a1", manifest, tmp_path / "elsewhere/s-7")
    assert (tmp_path / "elsewhere/s-7/deep/manifest.json").read_bytes() == b"its own"


def test_a_single_file_is_a_save_too(tmp_path: Path) -> None:
    make(tmp_path, "last.pt", b"1" * 5000)
    (save,) = foreign.find_saves(tmp_path, "last.pt")
    manifest = foreign.publish_copy(tmp_path / "c", tmp_path, save, facts_of(save), lambda: True)

    foreign.put_back(tmp_path / "c/1-a1", manifest, tmp_path / "elsewhere/last.pt")

    assert (tmp_path / "elsewhere/last.pt").read_bytes() == b"1" * 5000
    make(tmp_path, "last.pt", b"2" * 5000)
    assert not foreign.is_unchanged(tmp_path / "c/1-a1", manifest, tmp_path / "last.pt")


def test_a_save_that_moves_while_it_is_copied_is_not_published(tmp_path: Path) -> None:
    make(tmp_path, "s/a")
    (save,) = foreign.find_saves(tmp_path, "s")
    make(tmp_path, "s/b")

    with pytest.raises(foreign.Moved):
        foreign.publish_copy(tmp_path / "c", tmp_path, save, facts_of(save), lambda: True)
    (tmp_path / "s/a").unlink()
    with pytest.raises(foreign.Moved):
        foreign.publish_copy(tmp_path / "c", tmp_path, save, facts_of(save), lambda: True)

    assert list((tmp_path / "c").iterdir()) == []


def test_a_replaced_attempt_publishes_no_copy(tmp_path: Path) -> None:
    make(tmp_path, "s/a")
    (save,) = foreign.find_saves(tmp_path, "s")

    with pytest.raises(Fenced):
        foreign.publish_copy(tmp_path / "c", tmp_path, save, facts_of(save), lambda: False)

    assert list((tmp_path / "c").iterdir()) == []


@pytest.mark.parametrize("name", ["../x", "/x", "a/../x", "a//b", "manifest.json"])
def test_a_manifest_that_names_a_file_outside_its_folder_is_not_believed(tmp_path: Path, name: str) -> None:
    make(tmp_path, "s/a")
    (save,) = foreign.find_saves(tmp_path, "s")
    foreign.publish_copy(tmp_path / "c", tmp_path, save, facts_of(save), lambda: True)
    path = tmp_path / "c/1-a1/manifest.json"
    path.write_text(path.read_text().replace("saved/s/a", name))

    assert isinstance(store.committed(tmp_path / "c/1-a1"), str)
