"""A small real campaign for the benchmarks: lastro's own training API, no torch, `lastro run` as its home."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lastro.clock import SystemClock
from lastro.flow.session import Session, known_sessions
from lastro.paths import Home
from lastro.providers.registry import provider_for

#: Says when its interpreter began to work, and when its imports were done, on the machine's monotonic clock.
JOB = """
import time
print("top", time.monotonic(), flush=True)
import sys
import lastro

class Counter:
    total = 0
    def state_dict(self):
        return {"total": self.total}
    def load_state_dict(self, state):
        self.total = state["total"]

attempt = lastro.attach()
counter = Counter()
attempt.track(counter=counter)
print("attached", time.monotonic(), flush=True)
step, steps, seconds = attempt.restore(), int(sys.argv[1]), float(sys.argv[2])
while step < steps:
    time.sleep(seconds)
    counter.total += 1
    step += 1
    attempt.log(loss=1.0 / step, accuracy=0.5)
    attempt.safe_point(step)
"""


@dataclass(frozen=True)
class Toy:
    """A campaign of one run, in a temporary folder of its own. `home` is not the user's."""

    folder: Path
    home: Home

    @property
    def log(self) -> Path:
        """What `lastro run` has said."""
        return self.folder / "home.log"

    def session(self) -> Session:
        """Return the campaign as home knows it; `lastro run` has to have begun."""
        return known_sessions(self.home, SystemClock())[-1]

    def drive(self) -> subprocess.Popen[bytes]:
        """Start `lastro run` on it."""
        command = [sys.executable, "-m", "lastro.cli", "run", "campaign.yaml", "--no-close"]
        if (self.folder / "faults.yaml").exists():
            command += ["--faults", "faults.yaml"]
        with self.log.open("ab") as log:
            return subprocess.Popen(
                command,
                cwd=self.folder,
                env={**os.environ, "LASTRO_HOME": str(self.home.root)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )


@contextmanager
def toy_campaign(
    *, steps: int, step_seconds: float, every: str, faults: Sequence[dict[str, object]] = ()
) -> Iterator[Toy]:
    """Give a campaign on the local provider; afterwards nothing of it runs and its folder is gone."""
    folder = Path(tempfile.mkdtemp(prefix="lastro-bench-"))
    toy = Toy(folder, Home(folder / "home"))
    (folder / "job.py").write_text(JOB)
    campaign = {
        "campaign": "bench",
        "provider": "local",
        "disk": "./disk",
        "command": f"{sys.executable} job.py {steps} {step_seconds}",
        "control": {"steps": steps},
        "stop": [{"non_finite": "loss"}],
        "checkpoint": {"every": every, "keep": 2},
    }
    (folder / "campaign.yaml").write_text(json.dumps(campaign))
    if faults:
        (folder / "faults.yaml").write_text(json.dumps({"faults": list(faults)}))
    try:
        yield toy
    finally:
        _let_go(toy)
        shutil.rmtree(folder, ignore_errors=True)


def _let_go(toy: Toy) -> None:
    """End every machine of the campaign, and with it what runs there."""
    provider = provider_for("local", toy.home, SystemClock())
    for machine in provider.machines():
        provider.delete(machine.id)


@contextmanager
def driven(toy: Toy) -> Iterator[subprocess.Popen[bytes]]:
    """Give a `lastro run` that is ended when the block is left."""
    process = toy.drive()
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
