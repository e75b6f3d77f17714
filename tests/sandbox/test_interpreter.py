from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from lastro.sandbox.interpreter import interpreter, program_roots

ENVIRONMENT = {"PATH": os.environ["PATH"]}


def test_a_python_tells_where_its_parts_lie_and_what_it_has() -> None:
    found = interpreter(sys.executable, ENVIRONMENT)

    assert found is not None
    assert found.versions["python"] == ".".join(str(part) for part in sys.version_info[:3])
    assert "safetensors" in found.versions
    for needed in (sys.prefix, sys.base_prefix, str(Path(os.__file__).parent)):
        assert any(Path(needed).is_relative_to(root) for root in (*found.roots, Path("/usr")))
    assert not any(one in other.parents for one in found.roots for other in found.roots)


def test_what_is_no_python_is_none(tmp_path: Path) -> None:
    (tmp_path / "python").write_text("#!/bin/sh\necho hello\n")
    (tmp_path / "python").chmod(0o755)

    assert interpreter("python", {"PATH": str(tmp_path)}) is None
    assert interpreter("no-such-python", ENVIRONMENT) is None


def test_a_program_brings_its_folders_and_never_a_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "opt" / "bin" / "tool"
    tool.parent.mkdir(parents=True)
    (tmp_path / "opt" / "lib").mkdir()
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    path = {"PATH": str(tool.parent)}

    assert program_roots("tool", path) == (tool.parent, tmp_path / "opt" / "lib")

    monkeypatch.setenv("HOME", str(tool.parent))
    assert program_roots("tool", path) == (tmp_path / "opt" / "lib",)
