"""The whole cycle: create a disk, attach it, work, delete the machine, attach it again, go on.

`python cycle.py FOLDER` works in FOLDER, which must not be there yet. The hub and the package index are on
the loopback and count what they send, so the last lines are measured: what each machine has downloaded.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

from hub import Hub

HERE = Path(__file__).resolve().parent
CAMPAIGN = ("campaign.yaml", "offers.yaml", "requirements.txt", "train.py", "truth.csv")


def say(text: str) -> None:
    """Print at once: this is read while it runs."""
    print(text, flush=True)


def lastro(words: str, folder: Path, environment: dict[str, str], *, quiet: bool = False) -> str:
    """Run a command of lastro as a person types it in a folder; return what it said."""
    say(f"$ lastro {words}")
    done = subprocess.run(
        [sys.executable, "-m", "lastro.cli", *shlex.split(words)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if not quiet:
        say(done.stdout.rstrip())
    if done.returncode:
        raise SystemExit(f"code {done.returncode}: {done.stderr}")
    return done.stdout


def until_saved(journal: Path) -> None:
    """Wait until a checkpoint is committed."""
    deadline = time.monotonic() + 120
    while not any('"checkpoint.committed"' in path.read_text() for path in journal.glob("*-1.jsonl")):
        if time.monotonic() > deadline:
            raise SystemExit("nothing was saved")
        time.sleep(0.1)


def main(work: Path) -> None:
    """Walk the cycle and say what it cost."""
    here, disk = work / "campaign", work / "disk"
    here.mkdir(parents=True)
    for name in CAMPAIGN:
        shutil.copy(HERE / name, here)
    hub = Hub()
    environment = {
        **os.environ,
        "LASTRO_HOME": str(work / "home"),
        "LASTRO_LANG": "en",
        "COLUMNS": "78",
        "PIP_INDEX_URL": f"{hub.address}/simple",
        "EXAMPLE_HUB": hub.address,
        "EXAMPLE_PACE": "0.3",  # a step: the first machine is let go long before the last of them
    }
    for name in ("HF_HOME", "PIP_CACHE_DIR", "PIP_NO_INDEX"):
        environment.pop(name, None)
    lastro('disk create models --size "100 GB" --price "0.07 USD" --zone eu-1', here, environment)
    lastro("disk attach models ../disk", here, environment)

    say("$ lastro run --only control &")
    with (work / "first.log").open("w") as log:
        working = subprocess.Popen(
            [sys.executable, "-m", "lastro.cli", "run", "--only", "control"],
            cwd=here,
            env=environment,
            stdout=log,
            stderr=log,
        )
        until_saved(disk / "campaigns/cycle/journal")
        time.sleep(0.5)
        lastro("stop --release", here, environment, quiet=True)
        working.wait()
    first = hub.sent
    lastro("disk detach models", here, environment)

    lastro("disk attach models ../disk", here, environment, quiet=True)
    lastro("run --only control", here, {**environment, "EXAMPLE_PACE": "0.01"})
    second = hub.sent - first

    told = json.loads(lastro("status --json", here, environment, quiet=True))
    machines = [machine["id"] for machine in told["machines"]]
    proof = json.loads(lastro("disk prove ../disk --no-probes --json", here, environment, quiet=True))
    scratch = [str(path) for path in (work / "home/local/machines").glob("*/scratch")]
    result = {
        "machines": machines,
        "downloaded_by_the_first": first,
        "downloaded_by_the_second": second,
        "scratch_left": scratch,
        "rescued": sorted(path.name for path in (disk / "rescued").rglob("sample.txt")),
        "disk": proof["disk"],
    }
    (work / "result.json").write_text(json.dumps(result, indent=2) + "\n")
    say(f"\nmachine 1, {machines[0]}: {first} bytes downloaded")
    say(f"machine 2, {machines[1]}: {second} bytes downloaded")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
