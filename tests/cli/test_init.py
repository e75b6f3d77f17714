from __future__ import annotations

from pathlib import Path

import pytest

from lastro import strictjson
from lastro.cli import main
from lastro.spec.load import load_campaign


def lastro(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    return int(left.value.code or 0)


def test_the_file_that_init_writes_is_valid_and_names_the_script(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "My Project!"
    folder.mkdir()
    (folder / "other.py").touch()
    (folder / "main.py").touch()

    assert lastro("init", str(folder)) == 0

    spec = load_campaign(folder / "campaign.yaml").spec
    assert (spec.campaign, spec.command) == ("my-project", "python main.py --width {width}")
    assert f"lastro plan {folder / 'campaign.yaml'}" in capsys.readouterr().out


def test_a_file_that_is_there_is_never_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "campaign.yaml").write_text("mine\n")

    assert lastro("init", str(tmp_path)) == 2

    assert (tmp_path / "campaign.yaml").read_text() == "mine\n"
    assert "is there already; nothing was changed" in capsys.readouterr().err


def test_a_folder_that_is_not_there_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lastro("init", str(tmp_path / "none")) == 2
    assert "there is no folder" in capsys.readouterr().err


def test_without_a_script_the_next_step_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lastro("init", str(tmp_path), "--json") == 0
    assert strictjson.loads(capsys.readouterr().out)["script"] is None


def test_every_line_that_is_commented_out_can_be_taken_in(tmp_path: Path) -> None:
    """The comments of the template are the newcomer's examples, so they have to be valid together."""
    lastro("init", str(tmp_path))
    path = tmp_path / "campaign.yaml"
    lines = path.read_text().splitlines()
    words = "question disk window budget offers variants corpus seed stages deliverables decision want"
    keys = ("#   ", *(f"# {word}" for word in words.split()))
    taken = [line[2:] if line.startswith(keys) else line for line in lines]
    path.write_text("\n".join(taken) + "\n")

    spec = load_campaign(path).spec

    assert len(spec.runs()) == 2 and spec.decision is not None and spec.corpus is not None
    assert set(spec.deliverables) == {"predictions", "model"} and set(spec.stages) == {
        "prepare",
        "run",
        "collect",
    }
