"""`lastro run -- COMMAND`: no campaign file, and a program that knows nothing of lastro."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lastro.cli import main
from lastro.clock import SystemClock
from lastro.errors import UsageError
from lastro.flow import quick
from lastro.flow.quick import QuickCampaign, name_of, program_of, quick_campaign
from lastro.paths import Home
from lastro.providers.here import Here
from lastro.providers.local import Local
from lastro.spec.load import load_campaign
from lastro.storage import snapshot
from tests.flow.campaigns import SmallCampaign, wait_for

#: Adds up 1 to 30, saves its state at each tenth, keeps a log of its own, and knows of nothing else.
JOB = """
import json, os, pickle, sys, time
state = {"step": 0, "total": 0}
if len(sys.argv) > 2 and sys.argv[1] == "--resume":
    with open(sys.argv[2] + "/state.pkl", "rb") as file:
        state = pickle.load(file)
print("begins at", state["step"], flush=True)
with open("metrics.yaml", "a") as log:
    log.write(f"{state['step']}: begun\\n")
while state["step"] < 30:
    state["step"] += 1
    state["total"] += state["step"]
    if state["step"] % 10 == 0:
        folder = f"out/checkpoint-{state['step']}"
        os.makedirs(folder, exist_ok=True)
        with open(folder + "/state.pkl", "wb") as file:
            pickle.dump(state, file)
    while state["step"] == 15 and not os.path.exists("go on"):
        time.sleep(0.02)
with open("total.json", "w") as file:
    json.dump(state, file)
"""
LINE = ("run", "--checkpoints", "out/checkpoint-*", "--resume-arg", "--resume {latest}")
COMMAND = ("--", sys.executable, "job.py")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[SmallCampaign]:
    """A folder with a script and no campaign file."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "job.py").write_text(JOB)
    made = SmallCampaign(tmp_path / "work", tmp_path / "home")
    yield made
    for provider in (Local(Home(made.home), SystemClock()), Here(Home(made.home), SystemClock())):
        for machine in provider.machines():
            provider.delete(machine.id)


def total(folder: SmallCampaign) -> Any:
    return json.loads((folder.folder / "total.json").read_text())


def run_folder(folder: SmallCampaign) -> Path:
    found = list(folder.folder.glob("lastro-disk/campaigns/*/runs/*"))
    assert len(found) <= 1, "it is one run"
    return found[0] if found else folder.folder / "none"


def saved(folder: SmallCampaign, step: int) -> bool:
    return any((run_folder(folder) / "checkpoints").glob(f"{step}-a*/manifest.json"))


def job_pid(folder: SmallCampaign, attempt: int) -> int:
    told = json.loads((run_folder(folder) / f"attempts/{attempt}/process.json").read_text())
    return int(told["job"]["pid"])


def test_a_program_that_is_killed_goes_on_from_its_own_save_and_the_line_again_shows_the_result(
    folder: SmallCampaign,
) -> None:
    first = folder.start(*LINE, *COMMAND)
    wait_for(lambda: saved(folder, 10))
    os.kill(job_pid(folder, 1), signal.SIGKILL)
    wait_for((run_folder(folder) / "attempts/2/process.json").exists)
    (folder.folder / "go on").touch()  # nothing that lies beside the code is code

    assert first.wait(60) == 0
    assert total(folder) == {"step": 30, "total": 465}
    logs = [(run_folder(folder) / f"attempts/{n}/log.txt").read_text() for n in (1, 2)]
    assert logs == ["begins at 0\n", "begins at 10\n"]

    again = folder.lastro(*LINE, *COMMAND)

    assert again.returncode == 0
    assert "has completed before" in again.stdout
    assert "Completed  run-job-" in again.stdout
    assert len(list((run_folder(folder) / "attempts").iterdir())) == 2


def test_stopped_it_pauses_with_11_and_the_line_again_goes_on_once(folder: SmallCampaign) -> None:
    first = folder.start(*LINE, *COMMAND)
    wait_for(lambda: saved(folder, 10))

    stopped = folder.lastro("stop")

    assert stopped.returncode == 0
    assert "paused at step 10, saved and read back" in stopped.stdout
    assert first.wait(60) == 11
    second = folder.start(*LINE, *COMMAND)
    wait_for((run_folder(folder) / "attempts/2/process.json").exists)
    folder.lastro("stop")
    assert second.wait(60) == 11, "a stop that comes later is not undone"
    (folder.folder / "go on").touch()
    third = folder.lastro(*LINE, *COMMAND)
    assert third.returncode == 0
    assert "\njob | begins at 10\n" in third.stdout, "what it prints is shown while it runs"
    assert "begins at 0" not in third.stdout, "and not again what was shown before"
    assert total(folder)["total"] == 465


def test_a_program_that_fails_is_told_with_its_cause_and_typed_again_tried_again(
    folder: SmallCampaign,
) -> None:
    (folder.folder / "job.py").write_text("import needed_here\n")

    failed = folder.lastro("run", "--json", *COMMAND)
    told = json.loads(failed.stdout)

    assert failed.returncode == told["exit_code"] == 1
    assert told["runs"][0]["name"] == "job"
    assert told["runs"][0]["status"] == "failed"
    assert "exit code 1" in told["decision"]["why"]
    assert len(told["runs"][0]["attempts"]) == 2
    (folder.folder / "needed_here").mkdir()  # what was missing is installed; the code is the same

    again = folder.lastro("run", *COMMAND)

    assert again.returncode == 0
    assert len(list((run_folder(folder) / "attempts").iterdir())) == 3


def test_on_a_machine_that_is_lost_the_save_is_put_back_on_the_next(
    folder: SmallCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder.folder / "job.py").write_text(JOB.replace('"go on"', 'os.environ["GO_ON"]'))
    go_on = folder.folder.parent / "go on"
    monkeypatch.setenv("GO_ON", str(go_on))
    first = folder.start(*LINE, "--on", "local", *COMMAND)
    wait_for(lambda: saved(folder, 10))
    (machine,) = Local(Home(folder.home), SystemClock()).machines()
    host = json.loads(Home(folder.home).local_machine(machine.id).host.read_text())
    os.kill(host["process"]["pid"], signal.SIGKILL)
    wait_for((run_folder(folder) / "attempts/2/process.json").exists)
    go_on.touch()

    assert first.wait(90) == 0
    log = (run_folder(folder) / "attempts/2/log.txt").read_text()
    assert log == "begins at 10\n"
    assert not (folder.folder / "out").exists(), "machines of their own have folders of their own"


@pytest.mark.long
def test_other_words_are_another_campaign_and_changed_code_another_run(folder: SmallCampaign) -> None:
    (folder.folder / "job.py").write_text("print('one')\n")
    folder.lastro("run", *COMMAND)
    folder.lastro("run", *COMMAND, "--more")
    (folder.folder / "job.py").write_text("print('two')\n")

    done = folder.lastro("run", *COMMAND)

    assert done.returncode == 0
    assert len(list(folder.folder.glob("lastro-disk/campaigns/*"))) == 2
    assert len(list(folder.folder.glob("lastro-disk/campaigns/*/runs/*"))) == 3


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (("run", "--"), "no command after"),
        (("run", "campaign.yaml", "--", "true"), "only be one of them"),
        (("run", "--checkpoints", "x"), "there is none after"),
        (("run", "--resume-arg", "--r {latest}", "--", "true"), "nothing says what"),
        (("run", "--checkpoints", "x", "--resume-arg", "{last}", "--", "true"), "only {latest}"),
        (("run", "--checkpoints", "../x", "--", "true"), "inside its folder"),
        (("run", "--only", "x", "--", "true"), "nothing to choose"),
        (("run", "--smoke", "--", "true"), "for a campaign file"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_line_that_cannot_mean_anything_is_refused_in_words(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    line: tuple[str, ...],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LASTRO_HOME", str(tmp_path / "home"))

    with pytest.raises(SystemExit) as left:
        main(line)

    assert left.value.code == 2
    assert told in capsys.readouterr().err


# --- how a command is understood ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "program"),
    [
        ("python train.py --epochs 3", "train"),
        ("torchrun --nproc-per-node 2 train.py conf.yaml", "train"),
        ("accelerate launch --config_file conf.yaml train.py", "train"),
        ("python -m pkg.train", "pkg-train"),
        ("./go.sh", "go"),
        ("povray +Iscene.pov", "povray"),
        ("...", "command"),
    ],
)
def test_a_run_is_named_like_its_program(tmp_path: Path, line: str, program: str) -> None:
    for name in ("train.py", "go.sh", "conf.yaml"):
        (tmp_path / name).touch()

    assert program_of(line.split(), tmp_path) == program
    assert name_of(line.split(), tmp_path, program).startswith(f"run-{program}-")


@pytest.mark.parametrize(
    "words",
    [
        ("python", "a b.py", "{x}", "*", "$HOME", "it's", "--x=1 2"),
        ("echo", "{{", "}"),
    ],
)
def test_the_words_of_a_command_arrive_as_they_were_typed(tmp_path: Path, words: tuple[str, ...]) -> None:
    (run,) = quick_campaign(words, tmp_path).loaded.spec.runs()

    assert run.argv == words


def test_a_single_word_with_blanks_is_a_line_for_the_shell(tmp_path: Path) -> None:
    (piped,) = quick_campaign(("python a.py | tee log",), tmp_path).loaded.spec.runs()
    (with_variable,) = quick_campaign(
        ("X=1", "python", "a.py"), tmp_path, checkpoints="c-*", resume_arg="{latest}"
    ).loaded.spec.runs()

    assert piped.argv == ("/bin/sh", "-c", "python a.py | tee log")
    assert with_variable.argv == ("/bin/sh", "-c", 'X=1 python a.py "$@"')


def test_what_is_kept_of_it_is_a_campaign_file_that_says_the_same(tmp_path: Path) -> None:
    made = quick_campaign(
        ("python", "t.py", "{x}"), tmp_path, checkpoints="out/c-*", resume_arg="--r {latest}"
    ).loaded
    (tmp_path / "campaign.yaml").write_text(made.text)

    read = load_campaign(tmp_path / "campaign.yaml").spec

    assert isinstance(made.spec, QuickCampaign)
    assert read.model_dump() == made.spec.model_dump(exclude={"program"})


def test_the_code_is_what_programs_are_written_in_and_what_the_command_names(tmp_path: Path) -> None:
    for name in ("t.py", "deep/m.py", "conf.json", "old.json", "data.csv", "requirements.txt", "notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "out.py").symlink_to("/etc/hostname")

    made = quick_campaign(("python", "t.py", "--config=conf.json"), tmp_path)
    elsewhere = quick_campaign(("python", "t.py"), tmp_path, provider="local")

    assert made.loaded.code == ("conf.json", "deep/m.py", "requirements.txt", "t.py")
    assert elsewhere.loaded.code is None


def test_a_huge_folder_is_not_read_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "HUGE_FILES", 10)
    for number in range(11):
        (tmp_path / f"{number}.png").touch()
    for name in ("t.py", "conf.json", "deep/m.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()

    made = quick_campaign(("python", "t.py"), tmp_path, provider="local")

    assert made.loaded.code == ("conf.json", "t.py")
    assert "too large for a snapshot" in made.notes[0]


def test_without_a_word_there_is_no_command(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no command"):
        quick.quick_campaign((), tmp_path)
