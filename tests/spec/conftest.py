from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lastro.errors import CampaignInvalid
from lastro.spec.load import LoadedCampaign, load_campaign

LEAST = "campaign: tiny\ncommand: python train.py --width {width}\ncontrol: {width: 64}\n"


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Write a campaign file and return its path."""

    def write(text: str) -> Path:
        path = tmp_path / "campaign.yaml"
        path.write_text(text)
        return path

    return write


@pytest.fixture
def load(write: Callable[[str], Path]) -> Callable[[str], LoadedCampaign]:
    return lambda text: load_campaign(write(text))


@pytest.fixture
def refused(write: Callable[[str], Path]) -> Callable[[str], CampaignInvalid]:
    """Return the error that a campaign file's text meets."""

    def refused(text: str) -> CampaignInvalid:
        with pytest.raises(CampaignInvalid) as caught:
            load_campaign(write(text))
        return caught.value

    return refused
