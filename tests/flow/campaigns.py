"""Small campaigns for tests of the whole journey: real machines of the local provider, jobs of a second."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

DEADLINE_SECONDS = 90.0

#: A job without torch: it counts steps, saves at each tenth through the API's own format, and can be told
#: how to end. Its state is the sum of the steps done, so a wrong resume shows in the output.
JOB = """
import json, os, sys, time
import lastro

attempt = lastro.attach()
steps, pace, score = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]

class Counter:
    def __init__(self):
        self.total = 0
    def state_dict(self):
        return {"total": self.total}
    def load_state_dict(self, state):
        self.total = state["total"]

counter = Counter()
attempt.track(counter=counter)
done = attempt.restore()
for step in range(done + 1, steps + 1):
    counter.total += step
    time.sleep(pace)
    attempt.log(loss=1.0 / step)
    print("step", step, flush=True)
    attempt.safe_point(step)
with attempt.output("predictions.csv") as path:
    rows = [f"{i},{1 if i < int(score) else 0}" for i in range(10)]
    path.write_text("id,prediction\\n" + "\\n".join(rows) + "\\n")
with attempt.output("total.json") as path:
    path.write_text(json.dumps({"total": counter.total}))
"""

CAMPAIGN = """\
campaign: small
question: does more score win?
window: 1h
budget: 5 USD
provider: local
disk: ./disk
offers: offers.yaml
command: python job.py {steps} {pace} {score}
control: {steps: 40, pace: 0.02, score: 6}
variants:
  better: {changes: {score: 8}, priority: required}
checkpoint: {every: 10 steps, keep: 2}
stop:
  - non_finite: loss
deliverables:
  predictions: {path: predictions.csv, key: id, rows: 10, metric: {name: accuracy, truth: truth.csv}}
decision: {metric: accuracy, better: higher, adopt_if: +0.1 over control, unit: none}
"""

OFFERS = """\
offers:
  - {name: box, kind: hourly, price: 1.00 USD, unit: 1min, provider: local, boot: 0s, seen: 2026-11-30}
"""


@dataclass(frozen=True)
class SmallCampaign:
    """A campaign in a folder of its own, with a home of its own."""

    folder: Path
    home: Path

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "LASTRO_HOME": str(self.home), "LASTRO_LANG": "en", "COLUMNS": "100"}

    @property
    def disk(self) -> Path:
        return self.folder / "disk"

    def lastro(
        self, *arguments: str, timeout: float = DEADLINE_SECONDS, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "lastro.cli", *arguments],
            cwd=self.folder,
            env=self.environment if env is None else env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def start(self, *arguments: str, stdout: IO[str] | int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        """Start the command in a session of its own, as a terminal would."""
        return subprocess.Popen(
            [sys.executable, "-m", "lastro.cli", *arguments],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def json(self, *arguments: str) -> dict[str, Any]:
        done = self.lastro(*arguments, "--json")
        value: dict[str, Any] = json.loads(done.stdout)
        return value

    def edit(self, old: str, new: str) -> None:
        path = self.folder / "campaign.yaml"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def totals(self) -> dict[str, int]:
        """Return what each run's state came to, by the run's name."""
        found = {}
        for run in (self.disk / "campaigns/small/runs").iterdir():
            name = json.loads((run / "config.json").read_text())["name"]
            found[name] = json.loads((run / "outputs/total.json").read_text())["total"]
        return found


def small_campaign(folder: Path) -> SmallCampaign:
    """Write a campaign of two runs below `folder`."""
    work = folder / "work"
    work.mkdir()
    (work / "campaign.yaml").write_text(CAMPAIGN)
    (work / "offers.yaml").write_text(OFFERS)
    (work / "job.py").write_text(JOB)
    (work / "truth.csv").write_text("id,label\n" + "".join(f"{i},1\n" for i in range(10)))
    return SmallCampaign(work, folder / "home")


def wait_for(condition: Callable[[], Any]) -> Any:
    """Wait for what must come; a deadline that is far away keeps a hanging test from hanging for ever."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not (found := condition()):
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.05)
    return found
