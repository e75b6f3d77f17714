"""Sampling the risk of a plan against drawing its durations alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from decimal import Decimal

import numpy as np

from benchmarks.result import Measure, Result, median
from lastro.billing import Lease, LeaseKind
from lastro.plan.draws import DrawnInterval, Draws, Held, Machine
from lastro.plan.luck import stream, uniform
from lastro.plan.network import make_network
from lastro.plan.parts import Span
from lastro.plan.risk import assess_risk
from lastro.plan.samples_numpy import BLOCK, draw
from lastro.units import Money

STAGES, LANES, DRAWS, ROUNDS = 60, 8, 10_000, 9
#: Half of the speed of drawing alone is twice its time.
TARGET = 2.0


def calendar() -> Draws:
    """Return 60 stages on 8 lanes, each with up to two that have to end before it; the same every time."""
    begin = stream(1, "benchmark")
    numbers = iter([uniform(begin, count) for count in range(STAGES * 4)])
    intervals = []
    for place in range(STAGES):
        likely = 1 + 11 * next(numbers)
        after = {int(next(numbers) * place) for _ in range(2 if place else 0)}
        intervals.append(
            DrawnInterval(
                name=f"stage {place}",
                hours=Span(low=likely * 0.8, likely=likely, high=likely * 1.6),
                lanes=(place % LANES,),
                after=tuple(sorted(after)),
            )
        )
    lease = Lease(offer="card", kind=LeaseKind.HOURLY, price=Money(Decimal("0.69"), "USD"), unit_seconds=3600)
    machines = tuple(
        Machine(lease=lease, lanes=(lane,), held=Held.INTERVAL if lane % 2 else Held.WHOLE)
        for lane in range(LANES)
    )
    return Draws(intervals=tuple(intervals), machines=machines)


def _cpu(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def run() -> Result:
    plan = calendar()
    network = make_network(plan, 0, priced=True)
    spans = [node.span for node in network.nodes]
    low_S1, likely_S1, high_S1 = (
        np.array([[getattr(span, case)] for span in spans]) for case in ("low", "likely", "high")
    )
    generator = np.random.default_rng(0)
    budget = Money(Decimal(300), "USD")
    alone, theirs, whole = [], [], []
    for _round in range(ROUNDS):
        alone.append(
            _cpu(lambda: [draw(network, slice(at, min(at + BLOCK, DRAWS))) for at in range(0, DRAWS, BLOCK)])
        )
        theirs.append(_cpu(lambda: generator.triangular(low_S1, likely_S1, high_S1, size=(STAGES, DRAWS))))
        whole.append(
            _cpu(lambda: assess_risk(plan, window_hours=100, budget=budget, count=DRAWS, numpy=True))
        )
    plain = _cpu(lambda: assess_risk(plan, window_hours=100, budget=budget, numpy=False))
    ratios = [all_of_it / drawing for all_of_it, drawing in zip(whole, alone, strict=True)]
    numpys = [all_of_it / drawing for all_of_it, drawing in zip(whole, theirs, strict=True)]
    return Result(
        measures=(
            median("all of it / drawing alone", ratios, "x", TARGET),
            median("all of it / NumPy's triangular alone", numpys, "x", TARGET),
            median("10,000 draws of 60 stages on 8 lanes", [1e3 * took for took in whole], "ms CPU"),
            Measure(name="1,000 draws without NumPy", value=1e3 * plain, unit="ms CPU"),
        ),
        notes=("all of it: draws, calendars, bills, slack, quantiles, and what one more hour does",),
    )
