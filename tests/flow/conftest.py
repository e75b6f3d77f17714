"""A small campaign whose machines are ended when its test is over."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lastro.clock import SystemClock
from lastro.paths import Home
from lastro.providers.here import Here
from lastro.providers.local import Local
from tests.flow.campaigns import SmallCampaign, small_campaign


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[SmallCampaign]:
    made = small_campaign(tmp_path)
    yield made
    for provider in (Local(Home(made.home), SystemClock()), Here(Home(made.home), SystemClock())):
        for machine in provider.machines():
            provider.delete(machine.id)
