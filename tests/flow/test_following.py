"""The file of the next campaign, from an earlier one."""

from __future__ import annotations

from pathlib import Path

import pytest

from lastro.clock import ManualClock
from lastro.errors import UsageError
from lastro.flow.following import following, next_file, next_name
from lastro.journal.events import EventType as E
from lastro.paths import Home
from lastro.spec.load import load_campaign
from tests.view.test_outcome import told

FILE = """\
# by hand
campaign: digits
command: python train.py  # as ever
control: {width: 64}
stages:
  run: {each: run, gpu: 1, hours: [0.4, 0.5, 0.6]}
  collect: {cpu: 1, hours: 0.2, after: run}
uncertainties:
  - does the card hold it?
  - is the corpus clean?
"""


def test_measured_hours_and_open_doubts_are_carried_on_and_the_rest_stays(tmp_path: Path) -> None:
    """Declared 0.5 counts twice beside one observation of 0.8 h: (0.5 x 2 + 0.8) / 3 = 0.6."""
    story = told(0.8)
    story.home(95, E.DOUBT_SETTLED, doubt="does the card hold it?", why="it does")

    text = next_file(FILE, story.view())

    path = tmp_path / "campaign.yaml"
    path.write_text(text)
    campaign = load_campaign(path).spec
    hours = campaign.stages["run"].hours
    assert hours is not None
    assert hours.anywhere is not None
    assert (hours.anywhere.low, hours.anywhere.likely, hours.anywhere.high) == (0.4, 0.6, 0.8)
    assert hours.anywhere.origin.startswith("declared, and measured: 1 observation")
    assert campaign.campaign == "digits-2"
    assert campaign.uncertainties == ("is the corpus clean?",)
    assert "# settled: does the card hold it?: it does" in text
    assert "hours: 0.2, after: run" in text, "nothing was observed of it"
    assert "# as ever" in text, "comments stay"


def test_hours_by_card_stay_and_what_was_observed_is_said_beside() -> None:
    file = FILE.replace("hours: [0.4, 0.5, 0.6]", "hours: {A100: [0.4, 0.5, 0.6]}")

    text = next_file(file, told(0.8).view())

    assert "{A100: [0.4, 0.5, 0.6]}" in text
    assert "# run: observed 0.8 h; its hours go by card and stay as they are" in text


@pytest.mark.parametrize(("name", "after"), [("digits", "digits-2"), ("digits-2", "digits-3")])
def test_names_are_numbered(name: str, after: str) -> None:
    assert next_name(name) == after


def test_a_folder_without_a_journal_is_no_campaign(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="it has no journal"):
        following(tmp_path, Home(tmp_path), ManualClock())
