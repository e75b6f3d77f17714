from __future__ import annotations

from pathlib import Path

import pytest

from lastro.sandbox import bubblewrap
from lastro.sandbox.sealed import Given, sealed


def test_why_there_is_no_jail_is_what_bubblewrap_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert bubblewrap.why_not() == "bubblewrap (bwrap) is not installed"

    tool = tmp_path / "bwrap"
    tool.write_text('#!/bin/sh\n[ "$1" = --fine ] && exit 0\necho "no: $1" >&2\nexit 1\n')
    tool.chmod(0o755)
    assert bubblewrap.why_not("--fine") is None
    assert bubblewrap.why_not("--other") == "no: --other"


def test_what_lies_deeper_is_shown_after_what_is_around_it(tmp_path: Path) -> None:
    """An input inside the code would be covered by the code otherwise."""
    given = Given(
        cwd="/lastro/code",
        read_only={"/lastro/code/data": tmp_path / "data", "/lastro/given": tmp_path / "given"},
        writable={"/lastro/code": tmp_path / "code"},
        empty=("/lastro/home",),
        roots=(Path("/opt/python"), Path("/usr/lib/python3")),
    )

    words = sealed(["python", "-c", "pass"], given)

    places = [
        words.index(word) for word in ("/opt/python", "/lastro/home", "/lastro/code", "/lastro/code/data")
    ]
    assert places == sorted(places)
    assert "/usr/lib/python3" not in words  # it is there with /usr
    assert words[words.index("--chdir") :] == ["--chdir", "/lastro/code", "--", "python", "-c", "pass"]
    assert words[words.index(str(tmp_path / "given")) - 1] == "--ro-bind"
    assert words[words.index(str(tmp_path / "code")) - 1] == "--bind"
