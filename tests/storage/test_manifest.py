from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lastro.errors import StorageError
from lastro.storage.digest import digest_of
from lastro.storage.manifest import Manifest, Wrong


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "outputs"
    (folder / "deep").mkdir(parents=True)
    (folder / "predictions.csv").write_text("id,label\n")
    (folder / "deep" / "model with space").write_bytes(b"\0" * 10)
    return folder


def test_a_folder_that_did_not_change_has_no_problem(folder: Path, tmp_path: Path) -> None:
    manifest = Manifest.of(folder)
    manifest.write(tmp_path / "manifest.json")

    assert Manifest.read(tmp_path / "manifest.json") == manifest
    assert manifest.verify(folder) == []
    assert (manifest.total_bytes, manifest.digest()) == (19, digest_of(folder))


def test_every_kind_of_difference_is_named(folder: Path) -> None:
    (folder / "gone").write_text("x")
    manifest = Manifest.of(folder)
    (folder / "gone").unlink()
    (folder / "new").write_text("x")
    (folder / "predictions.csv").write_text("longer than before\n")
    (folder / "deep" / "model with space").write_bytes(b"\1" + b"\0" * 9)

    problems = {problem.path: problem.kind for problem in manifest.verify(folder)}

    assert problems == {
        "gone": Wrong.MISSING,
        "new": Wrong.EXTRA,
        "predictions.csv": Wrong.SIZE,
        "deep/model with space": Wrong.DIGEST,
    }


def test_ordinary_tools_check_the_sums(folder: Path, tmp_path: Path) -> None:
    (folder / "odd\nname").write_text("x")
    (tmp_path / "SHA256SUMS").write_bytes(Manifest.of(folder).sums())
    check = ["sha256sum", "-c", "--quiet", str(tmp_path / "SHA256SUMS")]

    assert subprocess.run(check, cwd=folder, check=False).returncode == 0
    (folder / "predictions.csv").write_text("changed\n")
    assert subprocess.run(check, cwd=folder, check=False, capture_output=True).returncode != 0


def test_a_file_that_is_no_manifest_is_refused(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"files": [{"path": "x"}]}')

    with pytest.raises(StorageError, match="is not a manifest"):
        Manifest.read(tmp_path / "manifest.json")
