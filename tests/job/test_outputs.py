from __future__ import annotations

import hashlib
import os
import signal
from pathlib import Path

import pytest

from lastro.checkpoint.store import fenced
from lastro.errors import Fenced, StorageError, UsageError
from lastro.job.outputs import publish_output


class Told(list[tuple[str, int, str]]):
    def __call__(self, name: str, size: int, digest: str) -> None:
        self.append((name, size, digest))


def test_an_output_appears_whole_and_is_told_with_its_digest(tmp_path: Path) -> None:
    told = Told()

    with publish_output(tmp_path, "deep/a.csv", lambda: None, told) as path:
        path.write_text("id\n")
        assert path.suffix == ".csv" and path.parent == tmp_path / "deep"
        assert not (tmp_path / "deep" / "a.csv").exists()

    assert (tmp_path / "deep" / "a.csv").read_text() == "id\n"
    assert told == [("deep/a.csv", 3, hashlib.sha256(b"id\n").hexdigest())]


def test_a_later_attempt_replaces_it_whole(tmp_path: Path) -> None:
    for text in ("old", "new"):
        with publish_output(tmp_path, "a.csv", lambda: None, Told()) as path:
            path.write_text(text)

    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.csv", "new")]


def test_an_exception_publishes_nothing_and_keeps_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("old")

    with pytest.raises(ZeroDivisionError), publish_output(tmp_path, "a.csv", lambda: None, Told()) as path:
        path.write_text("half")
        raise ZeroDivisionError

    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.csv", "old")]


def test_killed_while_it_is_written_it_is_not_published_and_swept_up_later(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        with publish_output(tmp_path, "a.csv", lambda: None, Told()) as path:
            path.write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert not (tmp_path / "a.csv").exists()
    assert len(list(tmp_path.iterdir())) == 1

    with publish_output(tmp_path, "a.csv", lambda: None, Told()) as path:
        path.write_text("whole")

    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


@pytest.mark.parametrize("folder", [True, False])
def test_a_block_that_writes_no_file_is_told(tmp_path: Path, folder: bool) -> None:
    told = Told()

    publishing = publish_output(tmp_path, "a.csv", lambda: None, told)
    with pytest.raises(StorageError, match="nothing was written"), publishing as path:
        if folder:
            path.mkdir()

    assert list(tmp_path.iterdir()) == [] and told == []


@pytest.mark.parametrize("name", ["../a", "/tmp/a", "a/../../b", ""])
def test_a_name_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    publishing = publish_output(tmp_path, name, lambda: None, Told())
    with pytest.raises(UsageError, match="leads out of the folder"), publishing:
        pass


def test_a_fenced_attempt_publishes_no_output(tmp_path: Path) -> None:
    told = Told()

    with pytest.raises(Fenced), publish_output(tmp_path, "a.csv", lambda: fenced(1), told) as path:
        path.write_text("late")

    assert list(tmp_path.iterdir()) == [] and told == []
