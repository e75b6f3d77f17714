"""`lastro rehearse` with what cannot be rehearsed."""

from __future__ import annotations

from pathlib import Path

import pytest

from lastro.cli import main
from tests.flow.campaigns import SmallCampaign, small_campaign


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallCampaign:
    made = small_campaign(tmp_path)
    monkeypatch.setenv("LASTRO_HOME", str(made.home))
    monkeypatch.chdir(made.folder)
    return made


def left_with(*arguments: str) -> int | str | None:
    with pytest.raises(SystemExit) as left:
        main(["rehearse", *arguments])
    return left.value.code


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["nowhere.yaml"], 3, "there is no such file"),
        (["--seed", "seven"], 2, "'seven' is not a valid integer range"),
        (["--seed", "-1"], 2, "-1 is not in the range x>=0"),
        (["--budget", "soon"], 2, "'soon' is not a duration"),
        (["--faults", "nowhere.yaml"], 3, "there is no such file"),
    ],
)
def test_bad_input_is_told_before_anything_is_begun(
    campaign: SmallCampaign, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, told: str
) -> None:
    assert left_with(*arguments) == code
    assert told in capsys.readouterr().err
    assert not campaign.home.exists()


def test_a_plan_that_is_impossible_is_not_played(
    campaign: SmallCampaign, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign.edit("checkpoint:", "stages:\n  run: {each: run, gpu: 1, hours: 4}\ncheckpoint:")

    assert left_with() == 5
    assert "window" in capsys.readouterr().err
    assert not campaign.home.exists()
