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


def drill(
    folder: Path, *words: str, code: str, program: tuple[str, ...] = ("python",)
) -> tuple[int, dict[str, Any]]:
    """Drill a script in a folder of its own; returns the exit code and the JSON."""
    job = folder / "job"
    job.mkdir()
    (job / "train.py").write_text(code)
    environment = {**os.environ, "LASTRO_HOME": str(folder / "home")}
    command = [sys.executable, "-m", "lastro.cli", "drill", "--json", *words, "--", *program, "train.py"]
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
while state["done"] < 100:
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

OURS = Path(__file__).parent / "gallery/open/api_windows_and_workers.py"
OWN_SAVES = ("--checkpoints", "saves/step-*.pt", "--resume-arg", "--resume {latest}")


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_a_job_with_saves_of_its_own_that_resumes_rightly_is_exact(tmp_path: Path) -> None:
    code, result = drill(tmp_path, "--budget", "1s", *OWN_SAVES, code=PLAIN.format(restores=True))

    assert (code, result["verdict"], result["cause"]) == (0, "exact", None)
    assert [arm["answer"] for arm in result["arms"]] == ["exact", "different"]
    assert result["undisturbed"] == 3
    assert result["arms"][0]["measured"][0]["lost"] > 0


def test_an_optimizer_that_begins_anew_is_named(tmp_path: Path) -> None:
    """Nothing else differs, and with the optimizer put back nothing does: so a right job would be exact."""
    code, result = drill(tmp_path, "--budget", "1s", *OWN_SAVES, code=PLAIN.format(restores=False))

    assert (code, result["verdict"]) == (10, "different")
    assert (result["cause"]["kind"], result["cause"]["names"]) == ("optimizer", ["optimizer"])
    assert result["cause"]["also"] == []
    assert result["different_from"] == 6
    assert result["check"]["answer"] == "agrees", result["check"]
    assert [trial["put_back"] for trial in result["check"]["trials"]] == [["optimizer"]]
    assert result["budget"] == {"seconds": 1.0, "why": "as asked"}


def test_a_job_without_pytorch_is_drilled_by_what_it_tracks(tmp_path: Path) -> None:
    code, result = drill(tmp_path, code=WITHOUT_TORCH)

    assert (code, result["verdict"]) == (0, "exact")
    assert [arm["name"] for arm in result["arms"]] == ["between", "save", "twice", "control-object"]


WITH_A_PILOT = """
campaign: small
command: python train.py
control: {}
stages:
  pilot: {run: control, gpu: 1, hours: 0.01}
  rest: {run: control, gpu: 1, hours: 1}
"""


def test_a_run_of_a_plan_is_drilled_in_a_part_of_its_pilot(tmp_path: Path) -> None:
    """5 % of 36 s are 1.8 s: one kill, and what is left out says so."""
    job = tmp_path / "job"
    job.mkdir()
    (job / "train.py").write_text(WITHOUT_TORCH)
    (job / "campaign.yaml").write_text(WITH_A_PILOT)
    command = [sys.executable, "-m", "lastro.cli", "drill", "control", "--json"]
    environment = {**os.environ, "LASTRO_HOME": str(tmp_path / "home"), "LASTRO_LANG": "en"}
    done = subprocess.run(command, cwd=job, env=environment, capture_output=True, text=True, check=False)

    result = json.loads(done.stdout)
    assert (done.returncode, result["verdict"]) == (0, "exact"), result
    assert [arm["name"] for arm in result["arms"]] == ["between", "control-object"]
    assert result["budget"] == {"seconds": 1.8, "why": "5% of the pilot of 36 s: the stage pilot control"}
    assert any(what.startswith("killed in a save") and "budget" in why for what, why in result["left_out"])


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("forgets", [False, True])
def test_two_processes_that_train_together_are_drilled_as_one(tmp_path: Path, forgets: bool) -> None:
    """What the first of them shows; the other's random states show in the gradient, which is of both."""
    code = (Path(__file__).parents[1] / "job/team.py").read_text()
    code = code.replace('json.loads(os.environ["TEAM"])', '{"rows": 64, "batch": 4}')
    if forgets:
        code = code.replace("optimizer=optimizer", "")
    program = ("python", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")

    exit_code, result = drill(tmp_path, "--budget", "1s", "--every", "4", code=code, program=program)

    expected = (10, "different") if forgets else (0, "exact")
    assert (exit_code, result["verdict"]) == expected, result
    assert (result["cause"] or {}).get("kind") == ("optimizer" if forgets else None)


SAMPLES = (Path(__file__).parent / "gallery/blind/plain_seeded_samples.py").read_text()
#: The same job, exact too as long as its workers are two: they draw, and it saves where they begin anew.
DRAWN_BY_WORKERS = (
    SAMPLES.replace(
        "chance = np.random.default_rng([self.epoch, row])", "drawn = torch.rand(25).numpy() * 0.2"
    )
    .replace("+ chance.normal(scale=0.2, size=25).astype(np.float32)", "+ drawn")
    .replace("np.roll(image, chance.integers(-2, 3))", "image")
    .replace("    rest =", "    torch.manual_seed(epoch)\n    rest =")
    .replace("step % 5 == 0", "step % PER_EPOCH == 0")
)


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("code", "words", "verdict", "cause"),
    [
        (SAMPLES, ("--workers", "0"), "exact", None),
        (DRAWN_BY_WORKERS, (), "exact", None),
        (DRAWN_BY_WORKERS, ("--workers", "0"), "different", "augmentation"),
        (OURS.read_text(), ("--workers", "3"), "exact", None),
    ],
    ids=["by-sample", "by-worker-as-before", "by-worker", "attempt.loader"],
)
def test_another_number_of_workers_shows_what_depends_on_it(
    tmp_path: Path, code: str, words: tuple[str, ...], verdict: str, cause: str | None
) -> None:
    saves = () if code == OURS.read_text() else OWN_SAVES

    _exit_code, result = drill(tmp_path, "--budget", "1s", *words, *saves, code=code)

    assert (result["verdict"], (result["cause"] or {}).get("kind")) == (verdict, cause), result
    assert ("loader workers" in result["arms"][0]["what"]) is bool(words)


@pytest.mark.long
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

    assert (code, result["verdict"], result["why"]) == (11, "not_proven", "no kill was possible")
    assert any("no save was seen" in why for _what, why in result["left_out"])
    assert result["undisturbed"] == 1, "what two more would show is of no use"


@pytest.mark.parametrize(
    "words",
    [
        ("control", "--", "python", "train.py"),
        ("--checkpoints", "x-*"),
        ("--steps", "1"),
        ("--budget", "5", "--", "python", "train.py"),
        ("--longest", "soon", "--", "python", "train.py"),
        ("--", "python", "nowhere.py"),
        ("--", "no-such-program"),
    ],
)
def test_wrong_use_is_told(tmp_path: Path, words: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "lastro.cli", "drill", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())
