from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from lastro.errors import StorageError
from lastro.paths import MachineFolder
from lastro.providers.scratch import _short, prepare, wipe


@pytest.fixture
def folder(tmp_path: Path) -> MachineFolder:
    folder = MachineFolder(tmp_path / "m")
    prepare(folder)
    return folder


def test_links_are_removed_and_never_followed(folder: MachineFolder, tmp_path: Path) -> None:
    valuable = tmp_path / "valuable"
    valuable.mkdir()
    (valuable / "model").write_text("x")
    (folder.work / "folder").symlink_to(valuable)
    (folder.work / "file").symlink_to(valuable / "model")

    wipe(folder)

    assert (valuable / "model").read_text() == "x"
    assert not folder.scratch.exists()


def test_a_scratch_that_was_replaced_by_a_link_is_not_followed(folder: MachineFolder, tmp_path: Path) -> None:
    valuable = tmp_path / "valuable"
    folder.scratch.rename(valuable)
    folder.scratch.symlink_to(valuable)

    wipe(folder)

    assert valuable.is_dir() and (valuable / "work").is_dir()
    assert not folder.scratch.is_symlink()


def test_folders_that_refuse_their_owner_are_removed(folder: MachineFolder) -> None:
    (folder.work / "closed" / "inner").mkdir(parents=True)
    (folder.work / "closed" / "inner").chmod(0)
    (folder.work / "closed").chmod(0o500)

    wipe(folder)

    assert not folder.scratch.exists()


def test_wiping_again_is_fine(folder: MachineFolder) -> None:
    wipe(folder)
    wipe(folder)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount")
def test_what_is_mounted_inside_is_not_touched(folder: MachineFolder, tmp_path: Path) -> None:
    """The same file system, bound a second time: a device number would not tell."""
    valuable = tmp_path / "valuable"
    valuable.mkdir()
    (valuable / "model").write_text("x")
    point = folder.work / "mounted here"
    point.mkdir()
    subprocess.run(["mount", "--bind", valuable, point], check=True)
    try:
        with pytest.raises(StorageError, match="mounted here"):
            wipe(folder)
        assert (valuable / "model").read_text() == "x"
    finally:
        subprocess.run(["umount", point], check=True)

    wipe(folder)

    assert not folder.scratch.exists() and (valuable / "model").exists()


def test_a_foreign_name_for_the_short_temporary_folder_is_not_used(tmp_path: Path) -> None:
    deep = MachineFolder(tmp_path / ("deep" * 20))
    taken = _short(deep)
    taken.symlink_to(tmp_path)
    try:
        assert prepare(deep) == deep.tmp
        wipe(deep)
        assert taken.is_symlink()
    finally:
        taken.unlink()
