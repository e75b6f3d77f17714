"""The rules for spot on recorded availability. The figures for all settings are a benchmark, `spot`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.spot_replay import (
    ON_DEMAND,
    Job,
    Rule,
    Trace,
    greedy,
    lastro,
    on_demand,
    optimum,
    read_trace,
    replay,
    uniform_progress,
    windows,
)

FILES = sorted((Path(__file__).parent / "data").glob("aws-*.json"))


def drawn(there: str, tick: float = 1.0, spot: float = 1.0) -> Trace:
    """Return a trace from a picture: `x` where spot is to be had."""
    return Trace(name="drawn", tick=tick, there=tuple(state == "x" for state in there), spot=spot)


def test_one_means_available_in_these_files(tmp_path: Path) -> None:
    """The first publication agrees, the files that these were made from say the opposite."""
    told = {"gap_seconds": 600, "first_state_available": 1, "run_lengths": [2, 1, 1]}
    (tmp_path / "trace.json").write_text(json.dumps(told))

    assert read_trace(tmp_path / "trace.json").there == (True, True, False, True)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_trace_is_read_whole(file: Path) -> None:
    trace = read_trace(file)

    assert len(trace.there) == json.loads(file.read_text())["ticks"]
    assert 0 < sum(trace.there) < len(trace.there)
    assert 0 < trace.spot < ON_DEMAND


def test_the_optimum_by_hand() -> None:
    """3 h of work in 6 h, start free, spot 1 USD in the hours 2, 3 and 6: all on spot, 3 USD."""
    assert optimum(drawn(".xx..x"), 0, Job(work=3, window=6, restart=0)) == pytest.approx(3.0)


def test_the_optimum_pays_starts_and_on_demand_where_it_has_to() -> None:
    """4 h in 5 h, a start takes 0.4 h, spot in the first two hours: 1.6 h of work there for 2 USD.

    Then 0.4 + 2.4 h on demand: 2 + 2.8 * 3.06 = 10.568 USD; all on demand would be 4.4 * 3.06 = 13.464 USD.
    """
    assert optimum(drawn("xx..."), 0, Job(work=4, window=5, restart=0.4)) == pytest.approx(10.568)


def test_a_replay_by_hand() -> None:
    """Greedy, 2 h in 8 h, saved each hour, a start of 0.5 h: 1.5 h are done and 0.5 h lost when spot goes.

    Held 2 h, then again from hour 4: 0.5 + 1 h. In all 3.5 USD.
    """
    bill = replay(greedy, drawn("xx.xx..."), 0, Job(work=2, window=8, restart=0.5, every=1.0))

    assert bill.cost == pytest.approx(3.5)
    assert (bill.late, bill.interruptions) == (0.0, 1)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
@pytest.mark.parametrize("rule", [lastro, greedy, uniform_progress], ids=lambda rule: rule.__name__)
@pytest.mark.parametrize(
    "job",
    [
        Job(work=48, window=52, restart=0.1, every=0.5),
        Job(work=24, window=72, restart=0.1),
        Job(work=48, window=60, restart=0.5, every=1.0),
    ],
    ids=["tight", "loose", "slow starts"],
)
def test_no_rule_is_late_on_what_was_recorded(file: Path, rule: Rule, job: Job) -> None:
    trace = read_trace(file)

    assert [replay(rule, trace, first, job).late for first in windows(trace, job, 3)] == [0.0] * 3


@pytest.mark.parametrize("file", FILES[:3], ids=lambda file: file.stem)
def test_nobody_is_cheaper_than_who_knows_all(file: Path) -> None:
    """To a fifth of a tick at the dearer price, in which work is counted there."""
    trace, job = read_trace(file), Job(work=24, window=36, restart=0.1)
    (first,) = windows(trace, job, 1)
    best = optimum(trace, first, job)

    for rule in (lastro, greedy, uniform_progress, on_demand):
        assert replay(rule, trace, first, job).cost >= best - trace.tick / 5 * ON_DEMAND
