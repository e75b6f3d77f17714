from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lastro.export.spelling import below, pattern


def shell(text: str, folder: Path, **variables: str) -> str:
    done = subprocess.run(
        ["sh", "-c", text], cwd=folder, env={"PATH": "/usr/bin:/bin", **variables},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.removesuffix("\n")


@pytest.mark.parametrize(
    "name", ["save-1.pt", "my save-1.pt", "$HOME-1.pt", 'it\'s "1".pt', "a;b-1.pt", "`c`-1"]
)
def test_a_pattern_finds_the_file_that_it_names(name: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()

    assert shell(f"printf '%s\\n' {pattern(name)}", tmp_path) == name
    assert shell(f"printf '%s\\n' {pattern(name.replace('1', '*'))}", tmp_path) == name


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("./disk", "/root/disk"),
        ("../disk of mine", "/root/../disk of mine"),
        ("/mnt/$disk", "/mnt/$disk"),
        ("~/disk", "/home/me/disk"),
        ("~", "/home/me"),
    ],
)
def test_a_place_of_the_campaign_file_is_found_from_its_folder(path: str, place: str, tmp_path: Path) -> None:
    assert shell(f'printf "%s" "{below(path, "root")}"', tmp_path, root="/root", HOME="/home/me") == place
