"""Versions as installers have left them: the same that `importlib.metadata` tells."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from lastro.stack.installed import version_of


def test_every_package_here_has_the_version_that_the_library_tells() -> None:
    named = {str(one.metadata["Name"]) for one in metadata.distributions()}

    assert len(named) > 20
    assert {name: version_of(name) for name in named} == {name: metadata.version(name) for name in named}


def test_the_first_place_counts_and_spellings_of_a_name_are_one(tmp_path: Path) -> None:
    for place, version in (("a", "2.0"), ("b", "1.0")):
        folder = tmp_path / place / "Some_Package-9.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(f"Name: some.package\nVersion: {version}\n\nVersion: 3\n")
    places = [str(tmp_path / "nowhere"), str(tmp_path / "a"), str(tmp_path / "b")]

    assert version_of("some-package", places) == "2.0"
    assert version_of("Some.Package", places[::-1]) == "1.0"


def test_an_egg_is_a_folder_or_a_file_and_what_says_nothing_is_not_installed(tmp_path: Path) -> None:
    (tmp_path / "folder.egg-info").mkdir()
    (tmp_path / "folder.egg-info/PKG-INFO").write_text("Version: 1\n")
    (tmp_path / "file-2-py3.11.egg-info").write_text("Name: file\nVersion: 2\n")
    (tmp_path / "broken-1.dist-info").mkdir()

    found = [version_of(name, [str(tmp_path)]) for name in ("folder", "file", "broken", "none")]

    assert found == ["1", "2", None, None]
