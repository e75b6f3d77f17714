"""`.lastroignore` leaves out what the same words in `.gitignore` do, where there is no git too."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lastro.errors import StorageError
from lastro.storage.ignore import NAME, parse
from lastro.storage.snapshot import code_digest, code_files, folder_names

FILES = (
    "a.py", "b.txt", "data/x.bin", "data/y.py", "data/keep/z.bin", "src/data/x.bin", "src/a.py",
    "src/b b.txt", "src/deep/er/c.log", "c.log", "build/out/c.log", "docs/build/a.py", "#odd", "!odd",
    "f1", "f2", "f9x",
)  # fmt: skip


def folder_of_all(folder: Path) -> Path:
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


@pytest.mark.parametrize(
    "patterns",
    [
        ["data/"],
        ["/data"],
        ["data/*", "!data/keep/"],
        ["data/", "!data/y.py"],  # what lies in a folder that is left out cannot be taken back
        ["*.log", "!/c.log"],
        ["**/build/**", "# nothing", ""],
        ["src/**/c.log"],
        ["src/**"],
        ["**/x.bin"],
        ["f[0-2]", "f?x"],
        ["f[!12]*"],
        ["f[^1]"],
        ["\\#odd", "\\!odd"],
        ["b*.txt   "],
        ["build/out"],
        ["src/*/er"],
        ["*", "!*/", "!*.py"],
        ["a.py/"],
        ["data\\/x.bin", "[", "c.log["],
    ],
)
def test_it_leaves_out_what_git_would(tmp_path: Path, patterns: list[str]) -> None:
    """Git is asked for each file; folders that are left out with all in them count for their files."""
    folder = folder_of_all(tmp_path)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / ".git/info/exclude").write_text("\n".join(patterns) + "\n")
    listed = ["git", "-C", str(folder), "ls-files", "-z", "--others", "--exclude-standard"]
    kept = subprocess.run(listed, check=True, capture_output=True).stdout.decode().split("\0")

    ignored = parse(patterns)

    assert [name for name in FILES if not ignored.file(name)] == [name for name in FILES if name in kept]


def test_a_range_that_runs_backwards_is_no_error() -> None:
    assert not parse(["[z-a]"]).file("b")


@pytest.mark.parametrize("with_git", [False, True])
def test_what_it_leaves_out_is_no_code_and_changes_no_digest(tmp_path: Path, with_git: bool) -> None:
    """Tracked files too: data that lies in the repository need not travel to a machine."""
    folder = folder_of_all(tmp_path)
    (folder / NAME).write_text("data/\n*.log\n")
    if with_git:
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
        subprocess.run(["git", "-C", str(folder), "add", "--all", "--force"], check=True)

    files = code_files(folder)
    before = code_digest(folder, files)
    (folder / "data/x.bin").write_text("other")
    (folder / NAME).write_text("# with a word on why\ndata/\n*.log\n")

    assert not [name for name in files if "data/" in name or name.endswith(".log") or name == NAME]
    assert {"a.py", "src/a.py", "b.txt"} <= set(files) == set(folder_names(folder))
    assert code_digest(folder, code_files(folder)) == before


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()

    with pytest.raises(StorageError, match=NAME):
        code_files(tmp_path)
