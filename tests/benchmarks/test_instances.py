from __future__ import annotations

import json

from benchmarks.plan import DIGESTS, digests


def test_the_public_problems_are_still_those_that_figures_were_measured_on() -> None:
    assert json.loads(DIGESTS.read_text()) == digests()
