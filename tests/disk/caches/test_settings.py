"""Where caches are pointed to, and what is said of variables that do otherwise."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from lastro.disk.caches.point import lives_longer, point
from lastro.disk.caches.settings import Places, differences, settings_for
from lastro.disk.caches.shells import lines_for
from lastro.disk.caches.table import CACHES, LEGACY, PARTS
from lastro.paths import Disk

PLACES = Places(disk="/mnt/d/cache", carried="/home/a/k", machine="/home/a/s", home="/home/a")


def test_models_and_packages_go_to_the_disk_kernels_and_staging_stay_on_the_machine() -> None:
    found = settings_for(PLACES, {})

    assert found.variables["HF_HOME"] == "/mnt/d/cache/huggingface"
    assert found.variables["PIP_CACHE_DIR"] == "/mnt/d/cache/pip"
    assert found.variables["TRITON_CACHE_DIR"] == "/home/a/k/triton"
    assert found.variables["HF_XET_CACHE"] == "/home/a/s/xet"
    assert found.findings == ()


def test_a_token_stays_where_it_was_when_its_folder_moves_to_the_disk() -> None:
    assert settings_for(PLACES, {}).variables["HF_TOKEN_PATH"] == "/home/a/.cache/huggingface/token"
    elsewhere = settings_for(PLACES, {"XDG_CACHE_HOME": "/x"}).variables
    assert elsewhere["HF_TOKEN_PATH"] == "/x/huggingface/token"
    told = {"HF_TOKEN_PATH": "/secret"}
    assert "HF_TOKEN_PATH" not in settings_for(PLACES, told).variables
    assert not any(
        value.startswith("/mnt/d")
        for name, value in elsewhere.items()
        if name.startswith("HF_") and "TOKEN" in name
    )


@pytest.mark.parametrize("variable", [cache.variable for cache in CACHES])
def test_what_a_person_has_set_is_left_and_an_empty_value_is_none(variable: str) -> None:
    kept = settings_for(PLACES, {variable: "/mine"})
    empty = settings_for(PLACES, {variable: ""})

    assert variable not in kept.variables
    assert empty.variables[variable]
    assert [finding.variable for finding in empty.findings] == [variable]


@pytest.mark.parametrize("variable", [*LEGACY, *PARTS])
def test_old_and_contradictory_names_are_told(variable: str) -> None:
    found = settings_for(PLACES, {variable: "/tmp/somewhere"})

    assert [finding.variable for finding in found.findings] == [variable]
    if variable in PARTS:
        assert not settings_for(PLACES, {variable: "/mnt/d/hub"}).findings


def test_models_that_were_downloaded_before_are_told_of(tmp_path: Path) -> None:
    blob = tmp_path / "home/.cache/huggingface/hub/models--a--b/blobs/x"
    blob.parent.mkdir(parents=True)
    blob.write_bytes(b"1" * 1000)

    found = point(Disk(tmp_path / "disk"), {"HOME": str(tmp_path / "home")}, "key")

    assert "1 kB" in found.findings[0].text


def test_caches_move_only_where_the_disk_lives_longer_than_home(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "disk")
    disk.root.mkdir()

    assert not lives_longer(disk, tmp_path, own=None)
    assert lives_longer(disk, tmp_path, own=tmp_path / "scratch")
    assert not lives_longer(disk, tmp_path, own=tmp_path)


ODD = {
    "A": "plain",
    "B": "with blank",
    "C": "quote ' and \"",
    "D": "$HOME `date` \\",
    "E": "line\nbreak",
    "F": "",
}


@pytest.mark.parametrize("shell", ["sh", "fish"])
def test_a_shell_reads_back_what_was_meant(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    show = "\n".join(f'printf "%s\\0" "${name}"' for name in ODD)

    said = subprocess.run(
        [shell, "-c", "\n".join(lines_for(shell, ODD)) + "\n" + show], capture_output=True, check=True
    )

    assert said.stdout.decode().split("\0")[:-1] == list(ODD.values())


def test_fish_quotes_by_hand() -> None:
    assert lines_for("fish", {"A": "it's \\ here"}) == ["set -gx A 'it\\'s \\\\ here'"]


def test_differences_name_what_a_program_has_otherwise() -> None:
    assert differences({"A": "1", "B": "2", "C": "3"}, {"A": "1", "B": "9"}) == {"B": "9", "C": None}
