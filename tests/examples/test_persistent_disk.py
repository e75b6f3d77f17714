"""The article's cycle, whole: two machines, one disk, and nothing is downloaded twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/persistent-disk"
PACKAGE_AND_MODEL = 2_500_000


def test_work_goes_on_on_another_machine_and_downloads_nothing_again(tmp_path: Path) -> None:
    """A model of 2 MB and a package of 0.5 MB are sent once, the job's own stray file is rescued."""
    work = tmp_path / "work"

    walked = subprocess.run(
        [sys.executable, EXAMPLE / "cycle.py", work], capture_output=True, text=True, check=False, timeout=280
    )

    assert walked.returncode == 0, walked.stdout + walked.stderr
    result = json.loads((work / "result.json").read_text())
    assert len(set(result["machines"])) == 2
    assert PACKAGE_AND_MODEL <= result["downloaded_by_the_first"] < 1.5 * PACKAGE_AND_MODEL
    assert result["downloaded_by_the_second"] == 0
    assert result["scratch_left"] == []
    assert result["rescued"] == ["sample.txt"]
    (run,) = (path.parent.parent for path in work.glob("disk/campaigns/cycle/runs/*/outputs/seen.txt"))
    # 1 + 2 + ... + 300: what the second machine did began where the first one stopped.
    assert (run / "outputs/seen.txt").read_text() == "45150 with 2000000 bytes of weights\n"
    streams = (work / "disk/campaigns/cycle/journal").glob(f"{run.name}-*.jsonl")
    assert any('"attempt.resumed"' in path.read_text() for path in streams)
    homes = (work / "disk/campaigns/cycle/journal").glob("home-*.jsonl")
    states = [
        json.loads(line)["state"]
        for path in homes
        for line in path.read_text().splitlines()
        if '"disk.attached"' in line
    ]
    assert states == ["declared", "proven"]
