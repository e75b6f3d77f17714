from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from lastro.plan.parts import DiskNeed, DiskPart
from lastro.units import Money
from lastro.view.plan_bars import Scale, cost_bar, disk_bar, scale_of
from tests.view.plans import cost, option, plan_of, usd


def parts(svg: str) -> list[tuple[str, float, float]]:
    """Return class, start and width in percent of what stands on end."""
    found = re.findall(r'<rect class="part (\w+)" x="([\d.]+)%" width="([\d.]+)%"', svg)
    return [(kind, float(x), float(width)) for kind, x, width in found]


def test_lines_stand_on_end_beside_budget_range_and_bound(tmp_path: Path) -> None:
    """A scale to the budget of 80: 40 is 50 %, 20 more to 75 %; the range from 40 to 70; the bound at 30."""
    one = option(
        cost=cost(("machine", "40"), ("disk", "20"), low="40", high="70"),
        bound=usd("30"),
        gap=0.5,
        proven=False,
    )
    made = plan_of(tmp_path, one)
    scale = scale_of(made, [one])
    assert scale == Scale(most=Decimal(80), currency="USD", budget=Decimal(80))

    bar = cost_bar(one, scale, made)

    assert parts(bar) == [("k0", 0, 50), ("k1", 50, 25)]
    assert '<line class="around" x1="50.000%" x2="87.500%"' in bar
    assert '<line class="bound" x1="37.500%"' in bar
    assert '<line class="budget" x1="100.000%"' in bar


def test_what_is_unknown_is_drawn_behind_what_is_known(tmp_path: Path) -> None:
    one = option(cost=cost(("machine", "40"), ("disk", None)), bound=None)
    made = plan_of(tmp_path, one)
    scale = scale_of(made, [one])
    assert scale

    bar = cost_bar(one, scale, made)

    assert parts(bar) == [("k0", 0, 50), ("unknown", 50, 12)]
    assert "unknown: nobody gave its price" in bar
    assert "at least 40.00 USD" in bar


def test_a_budget_that_is_far_off_is_not_drawn(tmp_path: Path) -> None:
    """Four times 40 is 160: just drawn. A cent more would press the bars into a stripe."""
    one = option()

    near = scale_of(plan_of(tmp_path, one, budget=usd("160")), [one])
    far = scale_of(plan_of(tmp_path, one, budget=usd("160.01")), [one])

    assert near and far
    assert (near.most, near.budget) == (Decimal(160), Decimal(160))
    assert (far.most, far.budget) == (Decimal(40), None)


def test_another_currency_has_no_bar(tmp_path: Path) -> None:
    dollars, unknown = option(), option("b", cost=cost(("machine", None)))
    euros = option(
        "c", cost=replace(cost(), total=Money(Decimal(9), "EUR"), at_least=Money(Decimal(9), "EUR"))
    )
    made = plan_of(tmp_path, dollars)
    scale = scale_of(made, [euros, unknown, dollars])

    assert scale and scale.currency == "USD", "that of the budget"
    assert cost_bar(euros, scale, made) == cost_bar(unknown, scale, made) == ""
    assert scale_of(made, [unknown]) is None


GB = 10**9


@pytest.fixture
def need() -> DiskNeed:
    """60 GB in two parts, a third that nobody knows, 20 GB of slack, 100 GB to rent."""
    known = (DiskPart(name="weights", bytes=20 * GB, why=""), DiskPart(name="results", bytes=40 * GB, why=""))
    return DiskNeed(
        parts=(*known, DiskPart(name="<caches>", bytes=None, why="")),
        needed=80 * GB,
        complete=False,
        recommended=100 * GB,
        row=None,
        why="",
    )


def test_the_disk_is_filled_by_its_parts_and_its_slack(need: DiskNeed) -> None:
    bar = disk_bar(need)

    assert parts(bar) == [("k0", 0, 20), ("k1", 20, 40), ("slack", 60, 20), ("left", 80, 20)]
    assert "&lt;caches&gt; unknown" in bar


def test_a_disk_of_which_nothing_is_known_is_not_drawn(need: DiskNeed) -> None:
    assert disk_bar(replace(need, parts=need.parts[2:], needed=None, recommended=None)) == ""


def test_a_need_above_what_can_be_rented_fills_the_bar(need: DiskNeed) -> None:
    assert parts(disk_bar(replace(need, recommended=None)))[-1] == ("slack", 75, 25)
