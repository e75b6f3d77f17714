"""A user's project: a program that knows nothing of lastro, its campaign, and a repository around both."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from lastro.export.recipe import Recipe, read_recipe
from lastro.export.targets import Export, make_export, write_export
from lastro.preflight.lock import Answer, Lock, write_lock
from lastro.spec.load import load_campaign

#: Adds width x step for each step, and saves each five steps; a step of DIE_AT is its last.
PROGRAM = """\
import argparse, json, os, pathlib, signal, sys, time

given = argparse.ArgumentParser()
given.add_argument("--width", type=int)
given.add_argument("--steps", type=int)
given.add_argument("--resume")
given = given.parse_args()
state = json.loads(pathlib.Path(given.resume).read_text()) if given.resume else {"step": 0, "total": 0}
print("begins at", state["step"], flush=True)
asked = []
signal.signal(signal.SIGTERM, lambda *_: asked.append(1))


def save():
    path = pathlib.Path("out", f"save-{state['step']}.json")
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(state))


while state["step"] < given.steps:
    state["step"] += 1
    state["total"] += given.width * state["step"]
    if state["step"] % 5 == 0:
        save()
    if os.environ.get("DIE_AT") == str(state["step"]):
        os.kill(os.getpid(), signal.SIGKILL)
    while os.environ.get("WAIT_AT") == str(state["step"]) and not asked:
        time.sleep(0.01)
    if asked:
        save()
        sys.exit(85)
pathlib.Path(os.environ["LASTRO_OUTPUTS"], "total.json").write_text(json.dumps(state["total"]))
"""

CAMPAIGN = """\
campaign: sums
disk: ./disk
command: python train.py --width {width} --steps {steps}
control: {width: 1, steps: 12}
variants:
  wide: {changes: {width: 10}}
checkpoints: out/save-*.json
resume_arg: --resume {latest}
stages:
  run: {each: run, cpu: 1, hours: [0.1, 0.2, 1.5]}
"""


def project(folder: Path, campaign: str = CAMPAIGN, **files: str) -> Path:
    """Write the project into a new folder; return the campaign file. `files`: more of them, by their stem."""
    folder.mkdir(parents=True)
    (folder / "train.py").write_text(PROGRAM)
    (folder / "campaign.yaml").write_text(campaign)
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return folder / "campaign.yaml"


def locked(campaign: Path, kind: str = "cpu", **facts: Any) -> None:
    """Put a lock beside a campaign file; the names of facts have `_` for `.`."""
    told = {name.replace("_", "."): value for name, value in facts.items()}
    answer = Answer(at="2026-11-30T00:00:00.000000Z", node_id="machine-of-this-test", facts=told)
    write_lock(campaign.parent, Lock(campaign=load_campaign(campaign).spec.campaign, answers={kind: answer}))


def exported(campaign: Path, target: str) -> Export:
    """Write an export of a campaign; return it."""
    made = make_export(load_campaign(campaign), target)
    write_export(made)
    return made


def recipe_of(campaign: Path, target: str = "shell") -> Recipe:
    return read_recipe(load_campaign(campaign), campaign.parent / "export" / target)


def git(folder: Path, *arguments: str) -> None:
    named = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.org"]
    subprocess.run(["git", *named, *arguments], cwd=folder, check=True, capture_output=True)


def cloned(campaign: Path, clone: Path) -> Path:
    """Commit the project, and clone it into an empty folder; return that."""
    git(campaign.parent, "init", "--quiet")
    git(campaign.parent, "add", "--all")
    git(campaign.parent, "commit", "--quiet", "--message", "all of it")
    git(campaign.parent, "clone", "--quiet", str(campaign.parent), str(clone))
    return clone


def bare_python() -> str:
    """Return a Python that has no lastro."""
    python = str(Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}")
    tried = subprocess.run([python, "-I", "-c", "import lastro"], capture_output=True, text=True, check=False)
    assert "No module named 'lastro'" in tried.stderr
    return python


def elsewhere(clone: Path, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a clone as on a computer that has no lastro, nor anything else of this one."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(clone), "PYTHON": bare_python(), **more}
    return subprocess.run(
        command, cwd=clone, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


def outputs(clone: Path, run: str, disk: str = "disk") -> Path:
    return clone / disk / "exported" / "campaigns" / "sums" / "runs" / run / "outputs"
