"""What is exported starts a clean clone, on a computer that has no lastro, to its outputs."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
import zipfile
from pathlib import Path

import pytest

from tests.export.project import CAMPAIGN, cloned, elsewhere, exported, git, locked, outputs, project

START = "export/shell/start.sh"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    campaign = project(tmp_path / "mine")
    exported(campaign, "shell")
    exported(campaign, "slurm")
    return cloned(campaign, tmp_path / "clone of it")


def total(folder: Path) -> int:
    return int(json.loads((folder / "total.json").read_text()))


def test_a_clean_clone_without_lastro_comes_to_its_output(clone: Path) -> None:
    """10 x (1 + 2 + ... + 12) = 10 x 78 = 780."""
    done = elsewhere(clone, "sh", START, "wide")

    assert (done.returncode, done.stderr) == (0, "")
    assert "begins at 0" in done.stdout
    assert total(outputs(clone, "wide")) == 780


def test_a_run_that_was_killed_goes_on_from_its_newest_save(clone: Path) -> None:
    """It dies in step 7 and has saved in step 5. The control adds 1 + ... + 12 = 78."""
    died = elsewhere(clone, "sh", START, DIE_AT="7")
    done = elsewhere(clone, "sh", START, "control")

    assert died.returncode == 128 + signal.SIGKILL
    assert "the same line again tries to go on" in died.stderr
    assert (done.returncode, done.stderr) == (0, "")
    assert "going on from out/save-5.json" in done.stdout
    assert "begins at 5" in done.stdout
    assert total(outputs(clone, "control")) == 78


def test_a_notice_is_handed_on_so_that_the_job_saves(clone: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(clone), "WAIT_AT": "3"}
    with log.open("w") as out:
        started = subprocess.Popen(["sh", START], cwd=clone, env=environment, stdout=out)
    until = time.monotonic() + 60
    while "begins" not in log.read_text() and time.monotonic() < until:
        time.sleep(0.05)

    started.send_signal(signal.SIGTERM)

    assert started.wait(60) == 85
    assert "control has saved on request" in log.read_text()
    assert "begins at 3" in elsewhere(clone, "sh", START).stdout


def test_the_index_of_an_array_picks_the_run(clone: Path) -> None:
    done = elsewhere(clone, "bash", "export/slurm/sums.sbatch", SLURM_ARRAY_TASK_ID="1")
    none = elsewhere(clone, "bash", "export/slurm/sums.sbatch", SLURM_ARRAY_TASK_ID="2")

    assert (done.returncode, done.stderr) == (0, "")
    assert total(outputs(clone, "wide")) == 780
    assert (none.returncode, none.stderr) == (2, "error: this array has no run 2\n")


def test_a_run_that_is_not_there_is_told_with_those_that_are(clone: Path) -> None:
    done = elsewhere(clone, "sh", START, "wider")

    assert (done.returncode, done.stderr) == (
        2, "error: there is no run wider; known are: control, wide\n",
    )  # fmt: skip
    assert not (clone / "disk").exists()


def test_other_code_does_not_go_on_with_a_run(clone: Path) -> None:
    elsewhere(clone, "sh", START, DIE_AT="7")
    (clone / "train.py").write_text("raise SystemExit('other code')")
    git(clone, "commit", "--quiet", "--all", "--message", "other code")

    done = elsewhere(clone, "sh", START)
    anew = elsewhere(clone, "sh", START, STATE="another")

    assert done.returncode == 2
    assert "was begun with commit" in done.stderr
    assert "other code" in anew.stderr


def test_what_outlives_the_machine_may_lie_elsewhere(clone: Path, tmp_path: Path) -> None:
    done = elsewhere(clone, "sh", START, STATE=str(tmp_path / "big disk"))

    assert done.returncode == 0
    assert total(tmp_path / "big disk" / "campaigns" / "sums" / "runs" / "control" / "outputs") == 78
    assert not (clone / "disk").exists()


def test_packages_are_installed_as_they_were_locked(tmp_path: Path) -> None:
    """Its index has 1.0 and 2.0 of a package; the lock has 1.0, and by itself pip would take 2.0."""
    campaign = project(
        tmp_path / "mine",
        CAMPAIGN.replace("python train.py", "python -c 'import tiny, sys; print(tiny.version)'"),
        requirements_txt="--no-index\n--find-links wheels\ntiny\n",
    )
    for version in ("1.0", "2.0"):
        _wheel(campaign.parent / "wheels", version)
    locked(campaign, python="3.1.4", package_tiny="1.0")
    exported(campaign, "shell")
    clone = cloned(campaign, tmp_path / "clone")

    done = elsewhere(clone, "sh", START)
    again = elsewhere(clone, "sh", START, PIP_NO_INDEX="1")

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2] == "1.0"
    assert "and Python 3.1.4 is pinned" in done.stderr
    assert "Successfully installed" not in again.stdout
    assert again.returncode == 0


def test_a_set_up_is_done_once_in_the_working_folder(tmp_path: Path) -> None:
    campaign = project(
        tmp_path / "mine",
        CAMPAIGN.replace("python train.py", "cat made.txt; true").replace("resume_arg", "# resume_arg")
        + "setup: echo done >> made.txt\n",
    )
    exported(campaign, "shell")
    clone = cloned(campaign, tmp_path / "clone")

    codes = [elsewhere(clone, "sh", START).returncode for _time in range(2)]

    assert codes == [0, 0]
    assert (outputs(clone, "control").parent / "work" / "made.txt").read_text() == "done\n"


def test_a_corpus_is_linked_and_asked_for(tmp_path: Path) -> None:
    campaign = project(
        tmp_path / "mine",
        CAMPAIGN.replace("python train.py", "cat data/corpus.txt #") + "corpus: {path: data/corpus.txt}\n",
    )
    exported(campaign, "shell")
    clone = cloned(campaign, tmp_path / "clone")

    without = elsewhere(clone, "sh", START)
    (clone / "data").mkdir()
    (clone / "data" / "corpus.txt").write_text("all of it\n")
    done = elsewhere(clone, "sh", START)

    assert (without.returncode, without.stderr) == (
        2, f"error: the corpus data/corpus.txt is not in {clone}\n",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "all of it" in done.stdout
    assert (outputs(clone, "control").parent / "work" / "data" / "corpus.txt").is_symlink()


def test_every_shell_of_an_export_is_one(clone: Path) -> None:
    for name in ("sh", "dash"):
        if shutil.which(name) is not None:
            assert elsewhere(clone, name, "-n", START).returncode == 0
    assert elsewhere(clone, "bash", "-n", "export/slurm/sums.sbatch").returncode == 0


def _wheel(folder: Path, version: str) -> None:
    """Write a package of one module by hand: nothing has to be built."""
    folder.mkdir(exist_ok=True)
    about = f"tiny-{version}.dist-info"
    files = {
        "tiny.py": f"version = {version!r}\n",
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: tiny\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in (*files, f"{about}/RECORD"))
    with zipfile.ZipFile(folder / f"tiny-{version}-py3-none-any.whl", "w") as wheel:
        for name, text in {**files, f"{about}/RECORD": record}.items():
            wheel.writestr(name, text)
