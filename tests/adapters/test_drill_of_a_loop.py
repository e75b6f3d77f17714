"""docs/drill.md tells of faults in a loop as Accelerate documents it: a drill finds them, and where.

.venv-adapters/bin/python -m pytest -m long tests/adapters/test_drill_of_a_loop.py
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.drill.test_live import drill

LOOP = Path(__file__).with_name("jobs") / "accelerate_by_the_book.py"
SAVES = ("--checkpoints", "saves/step-*", "--resume-arg", "--resume {latest}")


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_the_documented_loop_draws_again_and_repeats_the_first_epoch(tmp_path: Path) -> None:
    """Saved after 6 of 16 updates of an epoch: 7 is the first new one, and the next epoch begins at 17."""
    code = LOOP.read_text().replace('"--seedable", action="store_true"', '"--seedable", default=True')

    exit_code, result = drill(tmp_path, "--budget", "1s", *SAVES, code=code)

    assert (exit_code, result["cause"]["kind"]) == (10, "random")
    assert result["different_from"] == 7
    assert result["check"]["answer"] == "agrees", result["check"]
    (trial,) = result["check"]["trials"]
    assert (trial["put_back"], trial["step"]) == (["random"], 17)
    assert "the data go on from another place" in result["check"]["why"]
