from __future__ import annotations

import platform
import sys
from importlib import metadata
from pathlib import Path

from lastro.preflight.interpreter import ask_versions


def test_the_python_of_the_command_is_asked(tmp_path: Path) -> None:
    versions = ask_versions((sys.executable, "train.py"), tmp_path, ["pytest", "no-such-package"])

    assert (versions.path, versions.python) == (sys.executable, platform.python_version())
    assert versions.packages == {"pytest": metadata.version("pytest"), "no-such-package": None}
    assert versions.reason is None


def test_another_program_is_answered_for_the_python_of_lastro_with_the_reason(tmp_path: Path) -> None:
    versions = ask_versions(("/bin/sh", "-c", "x"), tmp_path, [])

    assert versions.path == sys.executable
    assert versions.reason is not None and "sh is no Python" in versions.reason


def test_a_python_that_is_not_there_is_no_error_but_a_reason(tmp_path: Path) -> None:
    versions = ask_versions(("python9.99", "x"), tmp_path, [])

    assert (versions.python, versions.reason) == (None, "python9.99 is not there")


def test_a_python_that_breaks_is_told_with_its_last_words(tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho broken install >&2\nexit 3\n")
    broken.chmod(0o755)

    versions = ask_versions(("./python", "x"), tmp_path, [])

    assert versions.python is None
    assert versions.reason is not None and "broken install" in versions.reason
