"""The probe begins in a Python that has no lastro and nothing else but the standard library."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from lastro import probe
from lastro.probe.instructions import Instructions

SITE = Path(str(probe.__file__)).parent / "site"
LOOK = """
import runpy, sys
runpy.run_path({site!r})
entry = sys.modules.get("lastro.probe.entry")
print("probe", entry is not None and entry.current() is not None)
print("loaded", *sorted(name for name in sys.modules if name.split(".")[0] in ("lastro", "xxhash", "click")))
"""


def begin(tmp_path: Path, **changes: str) -> list[str]:
    """Run the probe's `sitecustomize` without any site-packages; returns the lines that it printed."""
    told = tmp_path / "probe.json"
    told.write_text(json.dumps(Instructions(until=5).as_json()))
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
        "LASTRO_PROBE": str(told),
        "LASTRO_ATTEMPT": str(tmp_path / "attempts" / "1"),
        **changes,
    }
    look = LOOK.format(site=str(SITE / "sitecustomize.py"))
    command = [sys.executable, "-S", "-c", look]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_it_begins_with_what_it_brings_along(tmp_path: Path) -> None:
    said, loaded = begin(tmp_path)

    assert said == "probe True"
    assert "lastro.checkpoint.digest" in loaded.split()
    beside = [name for name in loaded.split()[1:] if not name.startswith("lastro.probe")]
    assert beside == ["lastro", "lastro.checkpoint", "lastro.checkpoint.digest", "lastro.records"]


def test_without_instructions_nothing_of_it_is_loaded(tmp_path: Path) -> None:
    assert begin(tmp_path, LASTRO_PROBE="") == ["probe False", "loaded"]


def test_instructions_that_cannot_be_read_leave_the_job_alone(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text("{")

    assert begin(tmp_path, LASTRO_PROBE=str(tmp_path / "other.json"))[0] == "probe False"
