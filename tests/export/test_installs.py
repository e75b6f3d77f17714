"""What is installed: by the set-up, else as the requirements file says, else what the campaign wants."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from lastro import __version__
from lastro.export.environment import constraints, index_of, installs
from tests.export.project import CAMPAIGN, locked, project, recipe_of

WANTS = CAMPAIGN + 'want: {numpy: ">=2", python: ">=3.10", memory: ">=2 GB"}\n'
HASHED = "numpy==2.4.6 --hash=sha256:abc\n"


def words(tmp_path: Path, campaign: str, files: Mapping[str, str], *, lock: bool = True) -> list[str]:
    """Return what follows `pip install`, of each command."""
    path = project(tmp_path / "p", campaign, **files)
    if lock:
        locked(path, python="3.11.7", package_numpy="2.4.6")
    return [command.split(" install ")[1] for command in installs(recipe_of(path), "C")]


@pytest.mark.parametrize(
    ("files", "campaign", "installed"),
    [
        ({}, WANTS, ["'numpy>=2' --constraint C"]),
        ({"requirements_txt": "numpy\n"}, WANTS, ["--requirement requirements.txt --constraint C"]),
        ({"requirements_txt": HASHED}, WANTS, ["--require-hashes --requirement requirements.txt"]),
        (
            {"requirements_txt": "numpy\n", "requirements_lock": "numpy==2\n"},
            CAMPAIGN,
            ["--requirement requirements.lock --constraint C"],
        ),
        ({"requirements_txt": "numpy\n"}, WANTS + "setup: make ready\n", []),
        ({}, CAMPAIGN, []),
        (
            {"other_py": "if 1:\n    from lastro import attach\n"},
            CAMPAIGN,
            [f'"${{LASTRO_SOURCE:-lastro=={__version__}}}" --constraint C'],
        ),
    ],
)
def test_what_is_installed(
    files: dict[str, str], campaign: str, installed: list[str], tmp_path: Path
) -> None:
    assert words(tmp_path, campaign, files) == installed


def test_without_a_lock_nothing_is_constrained(tmp_path: Path) -> None:
    assert words(tmp_path, WANTS, {}, lock=False) == ["'numpy>=2'"]


def test_a_command_of_lastro_itself_needs_lastro(tmp_path: Path) -> None:
    campaign = CAMPAIGN.replace("python train.py", "python -m lastro.cli items --from list.txt --")

    assert recipe_of(project(tmp_path / "p", campaign)).uses_lastro
    assert not recipe_of(project(tmp_path / "q", CAMPAIGN.replace("train", "lastro-like"))).uses_lastro


@pytest.mark.parametrize(
    ("label", "index"),
    [
        ("cu126", "https://download.pytorch.org/whl/cu126"),
        ("cpu", "https://download.pytorch.org/whl/cpu"),
        ("rocm6.4", "https://download.pytorch.org/whl/rocm6.4"),
        ("git1234", None),
    ],
)
def test_a_build_of_pytorch_comes_from_the_index_that_has_it(
    label: str, index: str | None, tmp_path: Path
) -> None:
    campaign = project(tmp_path / "p", WANTS)
    locked(campaign, python="3.11.7", package_torch="2.13.0", build_torch=label)
    recipe = recipe_of(campaign)

    assert index_of(recipe) == index
    assert constraints(recipe) == f"torch==2.13.0  # build: {label}\n"
