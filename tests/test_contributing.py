"""The recipes of CONTRIBUTING.md work: a copy of the project in which they were followed passes its tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.markdown import Fence, fences
from tests.docs.sources import ROOT

RECIPES = [
    fence
    for fence in fences((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    if fence.language in ("python", "diff") and fence.text.startswith("# ")
]


def target(fence: Fence) -> tuple[str, str]:
    """Return the path that the first line of a block names, and the lines after it."""
    head, _newline, body = fence.text.partition("\n")
    return head.removeprefix("# "), body


def edited(text: str, diff: str) -> str:
    """Return a text with an edit made: the old lines have to stand there exactly once."""
    lines = diff.splitlines(keepends=True)
    old = "".join(line[1:] for line in lines if not line.startswith("+"))
    new = "".join(line[1:] for line in lines if not line.startswith("-"))
    assert text.count(old) == 1, old
    return text.replace(old, new)


def follow(recipes: list[Fence], root: Path) -> list[str]:
    """Do what the recipes say; return the new files."""
    made = []
    for recipe in recipes:
        path, body = target(recipe)
        file = root / path
        if recipe.language == "diff":
            file.write_text(edited(file.read_text(encoding="utf-8"), body), encoding="utf-8")
        else:
            assert not file.exists(), path
            file.write_text(body, encoding="utf-8")
            made.append(path)
    return made


def run(root: Path, *command: str) -> None:
    """Run Python in the copy; its own sources come before those that are installed."""
    done = subprocess.run(
        [sys.executable, *command],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root / "src"), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for folder in ("src", "tests", "tools", "docs", "benchmarks"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for example in (ROOT / "examples").iterdir():  # the pages lead to them; their data is not needed
        (tmp_path / "examples" / example.name).mkdir(parents=True)
        for file in example.iterdir():
            if file.is_file():
                shutil.copy(file, tmp_path / "examples" / example.name)
    for file in (ROOT / "pyproject.toml", ROOT / "LICENSE", *ROOT.glob("*.md")):
        shutil.copy(file, tmp_path)
    return tmp_path


@pytest.mark.long
def test_following_all_recipes_gives_a_project_that_passes(project: Path) -> None:
    made = follow(RECIPES, project)
    tests = [path for path in made if path.startswith("tests/")]
    assert len(tests) == 3
    run(project, "tools/paste_help.py")

    run(project, "-m", "ruff", "check", *made, "src/lastro")
    run(project, "-m", "ruff", "format", "--check", *made, "src/lastro")
    own = [*tests, "tests/preflight/test_run.py", "tests/preflight/test_docs.py"]
    all_pages = ["tests/test_docs.py", "tests/test_texts.py"]
    run(project, "-m", "pytest", "-q", "-p", "no:cacheprovider", *own, *all_pages)


def test_an_edit_whose_place_has_changed_would_be_found() -> None:
    with pytest.raises(AssertionError):
        edited("    one,\n    two,\n", "     one,\n+    more,\n     three,\n")
    assert edited("a\nb\n", " a\n-b\n+c\n+d\n") == "a\nc\nd\n"
