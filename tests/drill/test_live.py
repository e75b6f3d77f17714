"""Real jobs, killed and resumed by the real command: the right one is exact, a wrong one is named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PLAIN = """
import argparse, os, torch
torch.set_num_threads(1)
parser = argparse.ArgumentParser()
parser.add_argument("--resume")
options = parser.parse_args()
torch.manual_seed(0)
data = torch.randn(64, 4)
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
done = 0
if options.resume:
    state = torch.load(options.resume)
    model.load_state_dict(state["model"])
    if {restores}:
        optimizer.load_state_dict(state["optimizer"])
    done = state["done"]
os.makedirs("saves", exist_ok=True)
for step in range(done, 40):
    batch = data[step % 8 * 8 : step % 8 * 8 + 8]
    loss = model(batch).pow(2).mean() + model(batch).sum().abs()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if (step + 1) % 5 == 0:
        state = {{"model": model.state_dict(), "optimizer": optimizer.state_dict(), "done": step + 1}}
        torch.save(state, "saves/aside")
        os.rename("saves/aside", f"saves/step-{{step + 1}}.pt")
"""

WITHOUT_TORCH = """
import lastro

class Counter:
    def __init__(self): self.total = 1.0
    def state_dict(self): return {"total": self.total}
    def load_state_dict(self, state): self.total = state["total"]

attempt = lastro.attach()
counter = Counter()
attempt.track(counter=counter)
for step in range(attempt.restore() + 1, 31):
    counter.total = counter.total * 1.01 + step
    attempt.safe_point(step)
"""


def drill(folder: Path, *words: str, code: str) -> tuple[int, dict[str, Any]]:
    """Drill a script in a folder of its own; returns the exit code and the JSON."""
    job = folder / "job"
    job.mkdir()
    (job / "train.py").write_text(code)
    environment = {**os.environ, "LASTRO_HOME": str(folder / "home")}
    command = [sys.executable, "-m", "lastro.cli", "drill", "--json", *words, "--", "python", "train.py"]
    done = subprocess.run(command, cwd=job, env=environment, capture_output=True, text=True, check=False)
    assert sorted(path.name for path in job.iterdir()) == ["train.py"], "the user's own folder is only read"
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


OPAQUE = """
import json, os, sys, time
state = {{"total": 1.0, "done": 0}}
if "--resume" in sys.argv:
    state = json.load(open(sys.argv[sys.argv.index("--resume") + 1]))
    if not {restores}:
        state["total"] = 1.0
os.makedirs("saves", exist_ok=True)
print("started at", time.time())
while state["done"] < 150:
    state["done"] += 1
    state["total"] = state["total"] * 1.001 + state["done"]
    print("step", state["done"], "total", state["total"], flush=True)
    time.sleep(0.1)
    if state["done"] % 10 == 0:
        with open("saves/aside", "w") as file:
            json.dump(state, file)
        os.rename("saves/aside", "saves/step-%d.pt" % state["done"])
with open("result.txt", "w") as file:
    file.write(str(state["total"]))
"""

OWN_SAVES = ("--checkpoints", "saves/step-*.pt", "--resume-arg", "--resume {latest}")


def test_a_job_with_saves_of_its_own_that_resumes_rightly_is_exact(tmp_path: Path) -> None:
    code, result = drill(tmp_path, "--budget", "1s", *OWN_SAVES, code=PLAIN.format(restores=True))

    assert (code, result["verdict"], result["cause"]) == (0, "exact", None)
    assert [arm["answer"] for arm in result["arms"]] == ["exact", "different"]
    assert result["undisturbed"] == 3
    assert result["arms"][0]["measured"][0]["lost"] > 0


def test_an_optimizer_that_begins_anew_is_named(tmp_path: Path) -> None:
    code, result = drill(tmp_path, "--budget", "1s", *OWN_SAVES, code=PLAIN.format(restores=False))

    assert (code, result["verdict"]) == (10, "different")
    assert (result["cause"]["kind"], result["cause"]["names"]) == ("optimizer", ["optimizer"])
    assert result["different_from"] == 6


def test_a_job_without_pytorch_is_drilled_by_what_it_tracks(tmp_path: Path) -> None:
    code, result = drill(tmp_path, code=WITHOUT_TORCH)

    assert (code, result["verdict"]) == (0, "exact")
    assert [arm["name"] for arm in result["arms"]] == ["between", "save", "twice", "control-object"]


def test_a_job_that_no_probe_sees_into_is_compared_by_what_it_prints_and_leaves(tmp_path: Path) -> None:
    code, result = drill(tmp_path, *OWN_SAVES, code=OPAQUE.format(restores=True))

    assert (code, result["verdict"]) == (0, "exact"), result
    assert [(arm["name"], arm["answer"]) for arm in result["arms"]] == [
        ("killed", "exact"),
        ("control", "different"),
    ]
    assert "cannot be named" in result["limits"][0]


@pytest.mark.long
def test_and_is_different_when_it_prints_other_values_after_the_resume(tmp_path: Path) -> None:
    code, result = drill(tmp_path, *OWN_SAVES, code=OPAQUE.format(restores=False))

    assert (code, result["verdict"]) == (10, "different")
    assert "was expected, in lines like: step # total #" in result["why"]


def test_a_job_in_which_no_update_is_seen_is_not_proven(tmp_path: Path) -> None:
    code, result = drill(tmp_path, code="print('done')\n")

    assert (code, result["verdict"]) == (11, "not_proven")
    assert "no update was seen" in result["why"]


def test_a_job_that_fails_is_not_proven_with_its_own_words(tmp_path: Path) -> None:
    code, result = drill(tmp_path, code="raise KeyError('epoch')\n")

    assert (code, result["verdict"]) == (11, "not_proven")
    assert "KeyError" in result["why"]


def test_a_job_that_never_saves_cannot_be_drilled(tmp_path: Path) -> None:
    code, result = drill(
        tmp_path, "--steps", "6", code=PLAIN.format(restores=True).replace("% 5 == 0", "% 50 == 0")
    )

    assert (code, result["verdict"]) == (11, "not_proven")
    assert any("no save was seen" in why for _what, why in result["left_out"])


@pytest.mark.parametrize(
    "words", [("control", "--", "python", "train.py"), ("--checkpoints", "x-*"), ("--steps", "1")]
)
def test_wrong_use_is_told(tmp_path: Path, words: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "lastro.cli", "drill", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert "Traceback" not in done.stderr
