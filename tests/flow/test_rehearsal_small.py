"""How a campaign and its faults become small."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from lastro.flow.rehearsal_small import as_file, from_file, in_small, is_shortened, played_notice
from lastro.plan.rehearsal_draw import Drawn
from lastro.plan.rehearsal_weather import Kind
from lastro.spec.load import load_faults

from .test_smoke import campaign_of

DRAWN = (
    Drawn(index=0, kind=Kind.NOTICE, run="a", step=60, notice=5.0),
    Drawn(index=1, kind=Kind.SUDDEN, run="a", step=130),
    Drawn(index=2, kind=Kind.SILENT, run="b", step=7),
    Drawn(index=3, kind=Kind.REFUSED, create=2),
)


def test_drawn_faults_are_a_file_that_reads_as_the_same_faults(tmp_path: Path) -> None:
    path = tmp_path / "faults.yaml"
    path.write_text(as_file(DRAWN, None))

    assert from_file(load_faults(path, ["a", "b"])) == DRAWN


@pytest.mark.parametrize(
    ("notice", "save", "played"), [(5, None, 5), (120, None, 10), (120, 20, 10), (5, 20, 0.2)]
)
def test_a_notice_in_which_the_real_save_does_not_fit_leaves_no_time_in_small(
    notice: float, save: float | None, played: float
) -> None:
    assert played_notice(notice, timedelta(seconds=save) if save is not None else None) == played


def test_small_runs_save_by_steps_alone_and_go_nowhere_else() -> None:
    small = in_small(2, 4)(
        campaign_of(
            window="1h",
            provider="ssh://me@box",
            checkpoint={"every": "1h", "max_loss": "10min", "keep": 3},
            disk={"path": "./disk", "mirror": "s3://bucket/real"},
        )
    )

    policy = small.checkpoint.policy()
    assert (policy.every_steps, policy.every_seconds, policy.max_loss_seconds, policy.keep) == (
        4,
        None,
        None,
        3,
    )
    assert (small.provider, small.machines, small.silence) == ("local", 2, timedelta(seconds=10))
    assert small.disk is not None and small.disk.mirror is None


@pytest.mark.parametrize(
    ("smoke", "shortened"), [({}, False), ({"epochs": 12}, False), ({"epochs": 1}, True)]
)
def test_a_campaign_is_shorter_in_small_when_a_value_is_another(
    smoke: dict[str, int], shortened: bool
) -> None:
    assert is_shortened(campaign_of(smoke=smoke)) is shortened
