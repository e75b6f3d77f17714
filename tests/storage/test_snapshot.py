from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lastro.errors import StorageError
from lastro.storage import snapshot
from lastro.storage.snapshot import (
    code_digest,
    code_files,
    git_identity,
    size_warning,
    unpack,
    write_archive,
)


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", "-C", folder, *who, *arguments], check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture
def code(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    (folder / "lib").mkdir(parents=True)
    (folder / "train.py").write_text("print(1)\n")
    (folder / "lib" / "net.py").write_text("width = 3\n")
    return folder


def test_without_git_the_code_is_every_file_but_caches_and_what_is_left_out(code: Path) -> None:
    for name in ("__pycache__/a.pyc", ".venv/x", "disk/campaigns/y", "data/d.npz", "campaign.yaml", "b.pyc"):
        (code / name).parent.mkdir(parents=True, exist_ok=True)
        (code / name).write_text("x")

    assert code_files(code, ["disk", "data/d.npz", "campaign.yaml"]) == ["lib/net.py", "train.py"]


@pytest.mark.parametrize("name", [".tmp-lastro.lock-b13d6e72f510", ".tmp-b13d6e72f510-start.sh"])
def test_what_a_kill_has_left_of_a_file_of_lastro_is_no_code(code: Path, name: str) -> None:
    before = code_files(code)
    (code / name).write_text("half")
    (code / ".tmp-mine").write_text("somebody's own")

    assert code_files(code) == sorted([*before, ".tmp-mine"])


def test_with_git_the_code_is_tracked_and_untracked_but_not_ignored(code: Path) -> None:
    git(code.parent, "init", "-q")
    (code / ".gitignore").write_text("*.log\n")
    (code / "a.log").write_text("x")
    (code / "deleted.py").write_text("x")
    (code.parent / "outside.py").write_text("x")
    git(code.parent, "add", ".")
    (code / "deleted.py").unlink()
    (code / "untracked.py").write_text("x")
    (code / "__pycache__").mkdir()
    (code / "__pycache__" / "x.cpython-311.pyc").write_text("x")

    assert code_files(code) == [".gitignore", "lib/net.py", "train.py", "untracked.py"]


def test_a_folder_that_git_ignores_as_a_whole_is_walked(code: Path) -> None:
    git(code.parent, "init", "-q")
    (code.parent / ".gitignore").write_text("code/\n")

    assert code_files(code) == ["lib/net.py", "train.py"]


def test_a_repository_inside_belongs_to_the_code(code: Path) -> None:
    git(code, "init", "-q")
    git(code / "lib", "init", "-q")

    assert code_files(code) == ["lib/net.py", "train.py"]


def test_a_hook_s_own_repository_does_not_change_the_answer(
    code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(code, "init", "-q")
    monkeypatch.setenv("GIT_DIR", "/nowhere")

    assert code_files(code) == ["lib/net.py", "train.py"]


def test_the_digest_is_the_one_of_ordinary_tools(code: Path) -> None:
    (code / "name with spaces é.py").write_text("x")
    (code / "line\nbreak\\slash").write_text("y")
    script = "find . -type f -printf '%P\\0' | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum"

    by_tools = subprocess.run(
        ["sh", "-c", script], cwd=code, check=True, capture_output=True, text=True
    ).stdout

    assert code_digest(code, code_files(code)) == by_tools.split()[0]


def test_the_digest_knows_content_and_name_but_no_time_and_no_mode(code: Path) -> None:
    before = code_digest(code, code_files(code))
    os.utime(code / "train.py", (1, 1))
    (code / "train.py").chmod(0o755)
    assert code_digest(code, code_files(code)) == before

    (code / "train.py").rename(code / "other.py")
    assert code_digest(code, code_files(code)) != before


def test_a_link_that_leaves_the_folder_is_refused_by_name(code: Path, tmp_path: Path) -> None:
    (tmp_path / "big").mkdir()
    (code / "data").symlink_to(tmp_path / "big")

    with pytest.raises(StorageError, match="the link data leaves the code folder"):
        code_files(code)
    assert "data" not in code_files(code, ["data"])


def test_a_link_inside_is_kept_as_a_link(code: Path, tmp_path: Path) -> None:
    (code / "lib" / "again.py").symlink_to("../train.py")
    (code / "gone").symlink_to("lib/none")
    files = code_files(code)
    digest = write_archive(code, files, tmp_path / "a.tar")

    unpack(tmp_path / "a.tar", tmp_path / "there")

    assert (tmp_path / "there" / "lib" / "again.py").read_text() == "print(1)\n"
    assert digest == code_digest(tmp_path / "there", code_files(tmp_path / "there"))


def test_a_pipe_is_no_code(code: Path) -> None:
    os.mkfifo(code / "pipe")

    assert code_files(code) == ["lib/net.py", "train.py"]


def test_the_archive_of_the_same_code_is_the_same_to_the_byte(code: Path, tmp_path: Path) -> None:
    (code / "run.sh").write_text("#!/bin/sh\n")
    (code / "run.sh").chmod(0o755)
    copy = tmp_path / "copy"
    shutil.copytree(code, copy)
    os.utime(copy / "train.py", (1, 1))
    digests = [
        write_archive(place, code_files(place), tmp_path / f"{place.name}.tar") for place in (code, copy)
    ]

    assert digests[0] == digests[1] == code_digest(code, code_files(code))
    assert (tmp_path / "code.tar").read_bytes() == (tmp_path / "copy.tar").read_bytes()


def test_an_ordinary_tar_unpacks_the_archive(code: Path, tmp_path: Path) -> None:
    (code / "run.sh").write_text("#!/bin/sh\n")
    (code / "run.sh").chmod(0o755)
    write_archive(code, code_files(code), tmp_path / "deep" / "a.tar")
    there = tmp_path / "there"
    there.mkdir()

    subprocess.run(["tar", "-xf", tmp_path / "deep" / "a.tar", "-C", there], check=True)

    assert (there / "lib" / "net.py").read_text() == "width = 3\n"
    assert os.access(there / "run.sh", os.X_OK)
    assert not os.access(there / "train.py", os.X_OK)


def test_a_file_that_vanishes_stops_the_archive_and_publishes_nothing(code: Path, tmp_path: Path) -> None:
    target = tmp_path / "out" / "a.tar"

    with pytest.raises(StorageError, match="vanished"):
        write_archive(code, ["train.py", "zz-not-there.py"], target)

    assert list(target.parent.iterdir()) == []


def hostile(path: Path, *members: tuple[str, bytes, str]) -> Path:
    with tarfile.open(path, "w") as tar:
        for name, kind, link in members:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, link
            info.size = 4 if kind == tarfile.REGTYPE else 0
            tar.addfile(info, io.BytesIO(b"evil"))
    return path


@pytest.mark.parametrize(
    "members",
    [
        [("/abs", tarfile.REGTYPE, "")],
        [("../up", tarfile.REGTYPE, "")],
        [("a/../../up", tarfile.REGTYPE, "")],
        [("link", tarfile.SYMTYPE, "/etc")],
        [("link", tarfile.SYMTYPE, "../..")],
        [("hard", tarfile.LNKTYPE, "/etc/passwd")],
        [("null", tarfile.CHRTYPE, "")],
        [("pipe", tarfile.FIFOTYPE, "")],
        [("sub", tarfile.SYMTYPE, "."), ("sub/file", tarfile.REGTYPE, "")],
        [("link", tarfile.SYMTYPE, "other"), ("link", tarfile.REGTYPE, "")],
    ],
)
def test_an_archive_that_reaches_out_is_refused(
    tmp_path: Path, members: list[tuple[str, bytes, str]]
) -> None:
    archive = hostile(tmp_path / "a.tar", *members)

    with pytest.raises(StorageError, match="does not belong into an archive of code"):
        unpack(archive, tmp_path / "in" / "there")

    assert [path.name for path in (tmp_path / "in").iterdir()] == ["there"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(cut=st.integers(0, 9000), flip=st.integers(0, 9000))
def test_a_damaged_archive_is_refused_or_harmless(code: Path, tmp_path: Path, cut: int, flip: int) -> None:
    archive = tmp_path / "a.tar"
    write_archive(code, code_files(code), archive)
    data = bytearray(archive.read_bytes())
    data[flip % len(data)] ^= 0x41
    archive.write_bytes(data[: max(1, len(data) - cut)])
    inner = tmp_path / "in" / "there"

    try:
        unpack(archive, inner)
    except StorageError:
        pass
    finally:
        assert [path.name for path in inner.parent.iterdir()] == ["there"]
        shutil.rmtree(inner)


def test_code_so_large_that_it_must_be_data_is_told(code: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert size_warning(code, code_files(code)) is None
    with (code / "weights.bin").open("wb") as file:
        file.truncate(snapshot.LARGE_BYTES + 1)

    warning = size_warning(code, code_files(code))

    assert warning is not None and "weights.bin" in warning and "100 MB" in warning


def test_the_repository_is_recorded_with_its_change(code: Path) -> None:
    assert git_identity(code) is None
    git(code, "init", "-q")
    git(code, "add", ".")
    git(code, "commit", "-q", "-m", "first")
    clean = git_identity(code)
    (code / "train.py").write_text("print(2)\n")
    changed = git_identity(code)

    assert clean is not None and changed is not None
    assert (clean.commit, clean.diff_digest, clean.dirty) == (
        git(code, "rev-parse", "HEAD").strip(),
        None,
        False,
    )
    assert changed.dirty and changed.diff_digest is not None and changed.commit == clean.commit
