"""What is exported lives in a repository: the same bytes each time, compared, never written over an edit."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from lastro import strictjson
from lastro.cli import main
from lastro.errors import UsageError
from lastro.export.recipe import EXPORTS
from lastro.export.targets import TARGETS, make_export
from lastro.spec.load import EXPORTED, load_campaign
from tests.export.project import CAMPAIGN, exported, git, locked, project

OLD = "        set -- python train.py --width 10 --steps 12"
NEW = "        set -- python train.py --width 11 --steps 12"


def lastro(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    return int(left.value.code or 0)


@pytest.mark.parametrize("target", TARGETS)
def test_the_same_campaign_makes_the_same_bytes_anywhere_in_any_language(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {}
    for name, language in (("here", "en"), ("there/deeper", "pt_BR")):
        campaign = project(tmp_path / name)
        locked(campaign, python="3.11.7", package_numpy="2.4.6")
        monkeypatch.setenv("LASTRO_LANG", language)
        monkeypatch.setenv("HOME", str(tmp_path / language))
        files[name] = make_export(load_campaign(campaign), target).files

    assert files["here"] == files["there/deeper"]
    told = "".join(files["here"].values())
    assert str(tmp_path) not in told
    assert socket.gethostname() not in told
    assert "machine-of-this-test" not in told
    assert "2026" not in told


@pytest.mark.parametrize("target", TARGETS)
def test_a_check_names_the_file_and_the_first_line_that_differs(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign = project(tmp_path / "mine")
    made = exported(campaign, target)
    assert lastro("export", target, "--campaign", campaign, "--check") == 0

    campaign.write_text(CAMPAIGN.replace("width: 10", "width: 11"))
    capsys.readouterr()

    assert lastro("export", target, "--campaign", campaign, "--check") == 11
    out = capsys.readouterr().out
    script = made.folder / ("sums.sbatch" if target == "slurm" else "start.sh")
    line = 1 + script.read_text().splitlines().index(OLD)
    assert f"{script}:{line} is out of date\n  there is: {OLD.strip()}\n  it would be: {NEW.strip()}\n" in out
    assert f"`lastro export {target}` makes it again" in out

    assert lastro("export", target, "--campaign", campaign) == 0
    assert lastro("export", target, "--campaign", campaign, "--check") == 0


def test_a_check_finds_what_is_not_there_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign = project(tmp_path / "mine")

    assert lastro("export", "shell", "--campaign", campaign, "--check", "--json") == 11

    assert strictjson.loads(capsys.readouterr().out)["differences"] == [
        {"file": "start.sh", "line": 0, "there": None, "made": None}
    ]
    assert not (tmp_path / "mine" / "export").exists()


def test_what_was_edited_is_written_over_by_force_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign = project(tmp_path / "mine")
    made = exported(campaign, "shell")
    script = made.folder / "start.sh"
    script.write_text(made.files["start.sh"] + "echo mine\n")

    assert lastro("export", "shell", "--campaign", campaign) == 2
    assert f"{script} was edited by hand" in capsys.readouterr().err
    assert script.read_text().endswith("echo mine\n")

    assert lastro("export", "shell", "--campaign", campaign, "--force") == 0
    assert script.read_text() == made.files["start.sh"]


def test_a_file_that_is_no_export_is_left_alone(tmp_path: Path) -> None:
    campaign = project(tmp_path / "mine")
    mine = tmp_path / "mine" / "export" / "shell" / "start.sh"
    mine.parent.mkdir(parents=True)
    mine.write_text("echo my own\n")

    assert lastro("export", "shell", "--campaign", campaign) == 2
    assert mine.read_text() == "echo my own\n"


def test_a_target_that_is_not_there_has_a_guess(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    campaign = project(tmp_path / "mine")

    assert lastro("export", "slrum", "--campaign", campaign) == 2

    told = capsys.readouterr().err
    assert "Did you mean 'slurm'?" in told
    assert "known are: slurm, skypilot, container, shell" in told


def test_a_campaign_without_a_command_cannot_be_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign = project(tmp_path / "mine", "campaign: sums\ncontrol: {}\n")

    assert lastro("export", "shell", "--campaign", campaign) == 3
    assert "the key 'command' is missing" in capsys.readouterr().err


def test_without_a_lock_it_is_told_what_is_not_pinned_and_strictly_it_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign = project(tmp_path / "mine", CAMPAIGN + 'want: {numpy: ">=2"}\n')

    assert lastro("export", "shell", "--campaign", campaign, "--strict") == 11
    assert "not pinned: Python, the package numpy>=2" in capsys.readouterr().err
    assert not (tmp_path / "mine" / "export").exists()

    assert lastro("export", "shell", "--campaign", campaign) == 0
    assert "not pinned: Python, the package numpy>=2" in capsys.readouterr().out

    locked(campaign, python="3.11.7", package_numpy="2.4.6")
    assert lastro("export", "shell", "--campaign", campaign, "--strict") == 0


def test_a_lock_that_was_edited_pins_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    campaign = project(tmp_path / "mine")
    locked(campaign, python="3.11.7")
    lock = tmp_path / "mine" / "lastro.lock"
    lock.write_text(lock.read_text().replace("3.11.7", "3.11.8"))

    assert lastro("export", "shell", "--campaign", campaign) == 3
    assert "lastro.lock: nothing can be pinned by it" in capsys.readouterr().err


def test_an_export_lies_in_the_repository_of_its_campaign(tmp_path: Path) -> None:
    campaign = project(tmp_path / "mine" / "campaigns" / "sums")
    git(tmp_path / "mine", "init", "--quiet")
    loaded = load_campaign(campaign)

    made = make_export(loaded, "shell", tmp_path / "mine" / "deploy")

    assert '"$here/../campaigns/sums"' in made.files["start.sh"]
    assert not made.counts_as_code
    assert not make_export(loaded, "shell").counts_as_code
    assert make_export(loaded, "shell", campaign.parent / "deploy").counts_as_code
    with pytest.raises(UsageError, match="does not lie in"):
        make_export(loaded, "shell", tmp_path / "elsewhere")


def test_checking_and_forcing_exclude_each_other(tmp_path: Path) -> None:
    assert lastro("export", "shell", "--campaign", project(tmp_path / "mine"), "--check", "--force") == 2


def test_what_is_exported_is_no_code_of_the_runs(tmp_path: Path) -> None:
    assert set(EXPORTED) == {f"{EXPORTS}/{target}" for target in TARGETS}
    assert set(EXPORTED) <= set(load_campaign(project(tmp_path / "mine")).left_out())


def test_no_export_holds_a_key_of_the_campaign_or_of_this_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A canary in each place that a key can be in; the last one stands where no variable can."""
    canary = "hf_" + "Canary0" * 5
    monkeypatch.setenv("MY_TOKEN", "Canary-of-the-environment-1")
    told = (
        CAMPAIGN.replace("--steps {steps}", "--steps {steps} --token {api-token} --mine $MY_TOKEN")
        .replace("resume_arg: --resume {latest}\n", "")
        .replace("steps: 12}", f"steps: 12, api-token: {canary}}}")
        .replace("control:", f"setup: HF_TOKEN={canary} pip download x --password=Canary-number-3\ncontrol:")
    )
    campaign = project(tmp_path / "mine", told)

    for target in TARGETS:
        files = exported(campaign, target).files
        assert not [name for name, text in files.items() if "Canary" in text]
        text = "".join(files.values())
        assert all(name in text for name in ("API_TOKEN", "HF_TOKEN", "MY_TOKEN"))
        assert "${API_TOKEN:?set it}" in text or target == "skypilot"

    campaign.write_text(CAMPAIGN + f"slurm: {{comment: {canary}}}\n")
    capsys.readouterr()
    assert lastro("export", "slurm", "--campaign", campaign) == 3
    told = capsys.readouterr().err
    assert "a Hugging Face token" in told
    assert "Canary" not in told


def test_only_files_of_the_folder_that_are_made_are_touched(tmp_path: Path) -> None:
    campaign = project(tmp_path / "mine")
    folder = exported(campaign, "shell").folder
    (folder / "notes.txt").write_text("mine")
    before = (folder / "start.sh").stat().st_ino

    exported(campaign, "shell")

    assert (folder / "notes.txt").read_text() == "mine"
    assert (folder / "start.sh").stat().st_ino == before
