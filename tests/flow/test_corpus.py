"""The fixed input of a campaign: missing, changed after freezing, or changed on the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.flow.campaigns import SmallCampaign


@pytest.fixture
def corpus(campaign: SmallCampaign) -> Path:
    path = campaign.folder / "data.csv"
    path.write_text("id,x\n1,2\n")
    campaign.edit("window: 1h", "window: 1h\ncorpus: {path: data.csv, rows: 1}")
    return path


def _nothing_was_rented(campaign: SmallCampaign) -> bool:
    return not list(campaign.home.glob("local/machines/*"))


def test_a_corpus_that_is_not_there_is_an_error_of_the_file(campaign: SmallCampaign, corpus: Path) -> None:
    corpus.unlink()

    refused = campaign.lastro("run")

    assert refused.returncode == 3
    assert "the corpus data.csv is not there" in refused.stderr
    assert _nothing_was_rented(campaign)


def test_a_corpus_that_changed_after_freezing_is_told_by_name(campaign: SmallCampaign, corpus: Path) -> None:
    assert campaign.lastro("plan", "--freeze").returncode == 0
    corpus.write_text("id,x\n1,3\n")

    refused = campaign.lastro("run")

    assert refused.returncode == 2
    assert "the corpus data.csv has changed: its digest is" in refused.stderr
    assert "--revise" in refused.stderr
    assert _nothing_was_rented(campaign)


def test_a_copy_on_the_disk_that_changed_is_told_and_made_again(
    campaign: SmallCampaign, corpus: Path
) -> None:
    assert campaign.lastro("plan", "--freeze").returncode == 0
    (copy,) = campaign.disk.glob("data/*/data.csv")
    copy.write_text("id,x\n1,9\n")

    refused = campaign.lastro("run")

    assert refused.returncode == 8
    assert str(copy) in refused.stderr
    assert _nothing_was_rented(campaign)
    copy.unlink()
    assert campaign.json("run")["decision"]["verdict"] == "adopt"
    assert copy.read_bytes() == corpus.read_bytes()
