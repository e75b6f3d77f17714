"""What is exported is read by those whom it is meant for; none of them is installed by `make test`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from lastro.export.targets import make_export
from lastro.spec.load import load_campaign
from tests.docs.sources import ROOT
from tests.export.project import exported, locked, project

READERS = ROOT / ".venv-export" / "bin"
DIGITS = ROOT / "examples" / "digits" / "export"

pytestmark = pytest.mark.skipif(
    not (READERS.parent / ".ready").exists(),
    reason="SkyPilot, hadolint and ShellCheck are in .venv-export, which `make test-export` makes",
)

#: Of everything that an export can hold: a set-up with a key, cards, spot, a corpus, what is locked.
FULL = """\
campaign: sums
command: python train.py --width {width} --steps {steps}
control: {width: 1, steps: 12}
variants:
  wide: {changes: {width: 10}}
checkpoints: out/**/save-*.json
resume_arg: --resume {latest}
stages:
  run: {each: run, gpu: 2, hours: [0.1, 0.2, 1.5]}
setup: HF_TOKEN=Canary-of-this-test-1 python -m pip install --requirement requirements.txt
disk: {path: ./disk, size: 100 GB}
offers: offers.yaml
corpus: {path: data/a corpus.txt}
want: {gpu: "A100 80GB or H100", shared_memory: ">=1 GB"}
idle: 20min
plan_b: {run: {gpu: RTX 4090, hours: 3}}
provider: slurm://gpu
slurm: {account: ours, exclusive: true, comment: "it's a test"}
"""

OFFERS = (
    "offers: [{name: cheap, kind: spot, price: 1 USD, gpu: A100 80GB, provider: aws, region: us-east-1}]\n"
)


@pytest.fixture
def full(tmp_path: Path) -> Path:
    campaign = project(tmp_path / "mine", FULL, offers_yaml=OFFERS, requirements_txt="numpy\n")
    cuda = {"package_nvidia-cuda-runtime-cu12": "12.6.77", "package_nvidia-cudnn-cu12": "9.5.1.17"}
    cards = {"gpu_count": 2, "gpu_driver": "560.35.05", "gpu_cuda": "12.8"}
    locked(campaign, "gpu", python="3.11.7", package_torch="2.13.0", build_torch="cu126", **cuda, **cards)
    return campaign


def read(program: str, *arguments: str | Path, home: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "SKYPILOT_DISABLE_USAGE_COLLECTION": "1"}
    return subprocess.run(
        [READERS / program, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=home,
    )


def test_skypilot_understands_each_task_as_it_was_meant(full: Path, tmp_path: Path) -> None:
    made = exported(full, "skypilot")
    paths = [made.folder / name for name in ("control.yaml", "wide.yaml")]

    done = read("python", Path(__file__).with_name("read_tasks.py"), *paths, home=tmp_path)

    assert done.returncode == 0, done.stderr
    control, wide = json.loads(done.stdout.splitlines()[-1])
    assert (control["name"], wide["name"]) == ("sums-control", "sums-wide")
    assert control["ordered"]
    assert control["cards"] == [{"A100-80GB": 2}, {"H100": 2}, {"RTX4090": 2}]
    # 100 GB are 93.1 GiB.
    assert control["disk"] == [94] * 3
    assert (control["spot"], control["idle"], control["down"]) == ([True] * 3, [20] * 3, [True] * 3)
    assert control["mounts"] == {"/state": ["sums-state", "MOUNT_CACHED"]}
    assert control["secrets"] == ["secrets:HF_TOKEN"]
    assert control["workdir"] == "."
    assert wide["run"] == 'VENV="$HOME/venv" STATE=/state sh export/skypilot/start.sh wide\n'
    assert wide["setup"] == f"ONLY=environment {wide['run']}"


def test_skypilot_reads_the_tasks_of_the_example(tmp_path: Path) -> None:
    tasks = sorted((DIGITS / "skypilot").glob("*.yaml"))

    done = read("python", Path(__file__).with_name("read_tasks.py"), *tasks, home=tmp_path)

    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert [one["name"] for one in told] == ["digits-control", "digits-shift", "digits-wide"]
    assert [one["cards"] for one in told] == [[{"RTX4090": 1}]] * 3


@pytest.mark.parametrize("target", ["shell", "skypilot", "container", "slurm"])
def test_shellcheck_has_nothing_to_say(target: str, full: Path, tmp_path: Path) -> None:
    made = exported(full, target)
    scripts = [made.folder / name for name in made.files if name.endswith((".sh", ".sbatch"))]
    theirs = [*(DIGITS / target).glob("*.sh"), *(DIGITS / target).glob("*.sbatch")]

    done = read("shellcheck", *scripts, *theirs, home=tmp_path)

    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("name", ["gpt", "lots", "persistent-disk", "render"])
def test_shellcheck_has_nothing_to_say_of_any_example(name: str, tmp_path: Path) -> None:
    loaded = load_campaign(ROOT / "examples" / name / "campaign.yaml")
    for target in ("shell", "slurm"):
        for file, text in make_export(loaded, target).files.items():
            (tmp_path / file).write_text(text)
    scripts = [*tmp_path.glob("*.sh"), *tmp_path.glob("*.sbatch")]

    done = read("shellcheck", *scripts, home=tmp_path)

    assert len(scripts) == 2
    assert (done.returncode, done.stdout) == (0, "")


def test_hadolint_finds_no_fault_in_container_files(full: Path, tmp_path: Path) -> None:
    made = exported(full, "container")
    files = [made.folder / "Containerfile", DIGITS / "container" / "Containerfile"]

    done = read("hadolint", "--no-color", "--failure-threshold", "warning", *files, home=tmp_path)

    assert done.returncode == 0, done.stdout


def test_a_container_file_that_cannot_be_built_would_be_found(tmp_path: Path) -> None:
    wrong = tmp_path / "Containerfile"
    wrong.write_text("FROM python:3.11.7-slim\nRUNS true\n")

    done = read("hadolint", "--no-color", wrong, home=tmp_path)

    assert done.returncode != 0
    assert f"{wrong}:2:" in done.stdout
