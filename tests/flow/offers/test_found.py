from __future__ import annotations

from pathlib import Path

import pytest

from lastro.errors import CampaignInvalid, UsageError
from lastro.flow.offers.found import offers_file

CAMPAIGN = "campaign: c\ncommand: t\ncontrol: {}\n"


def test_the_file_that_is_named_wins(tmp_path: Path) -> None:
    (tmp_path / "offers.yaml").touch()

    assert offers_file(Path("else.yaml"), tmp_path) == Path("else.yaml")


def test_the_campaign_here_says_which_file_is_meant(tmp_path: Path) -> None:
    (tmp_path / "campaign.yaml").write_text(CAMPAIGN + "offers: prices/now.yaml\n")
    (tmp_path / "offers.yaml").touch()

    assert offers_file(None, tmp_path) == tmp_path / "prices" / "now.yaml"


def test_without_one_it_is_offers_yaml(tmp_path: Path) -> None:
    (tmp_path / "campaign.yaml").write_text(CAMPAIGN)
    (tmp_path / "offers.yaml").touch()

    assert offers_file(None, tmp_path) == tmp_path / "offers.yaml"


def test_without_any_file_the_way_to_one_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no offers\.yaml") as caught:
        offers_file(None, tmp_path)
    assert "lastro offers import" in (caught.value.hint or "")


def test_a_campaign_that_cannot_be_read_is_no_reason_to_take_another_file(tmp_path: Path) -> None:
    (tmp_path / "campaign.yaml").write_text("campaign: 3\n")
    (tmp_path / "offers.yaml").touch()

    with pytest.raises(CampaignInvalid):
        offers_file(None, tmp_path)
