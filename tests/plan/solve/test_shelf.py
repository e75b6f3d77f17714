from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from lastro.plan.solve import Package, Problem
from lastro.plan.solve.cost import fine_lease, longest_span
from lastro.plan.solve.shelf import families

from .problems import hourly, lot, packages, problem, task


def names(*there: Package, window: int = 20) -> list[list[str]]:
    found = families(problem([task("t")], list(there), window_ticks=window))
    return [[package.name for package in family.packages] for family in found]


def test_of_two_hourly_offers_the_dearer_one_is_not_needed() -> None:
    assert names(hourly("dear", price=11), hourly("cheap", price=10)) == [["cheap"]]


def test_a_lot_stays_when_it_is_cheaper_for_long_spans_only() -> None:
    """10 an hour or 100 for all 20 h: the lot is cheaper from the 11th hour on."""
    assert names(hourly(), lot(term=20)) == [["hourly", "lot"]]
    assert names(hourly(), lot(term=20), window=10) == [["hourly"]]


def test_an_offer_of_which_there_is_one_makes_no_other_needless() -> None:
    assert names(hourly("cheap", price=1, capacity=1), hourly("dear")) == [["cheap", "dear"]]


def test_machines_that_differ_to_a_task_are_families_of_their_own() -> None:
    two = problem([task("t", out=1)], [hourly("free"), hourly("paid", price=1, per_out=9)], window_ticks=9)

    assert len(families(two)) == 2


@settings(deadline=None)
@given(there=st.lists(packages("p"), min_size=1, max_size=5), window=st.integers(1, 12))
def test_for_every_span_the_cheapest_lease_is_still_there(there: list[Package], window: int) -> None:
    named = tuple(
        Package(**{**vars(package), "name": f"p{number}", "capacity": None})
        for number, package in enumerate(there)
    )
    one = Problem(
        tasks=(task("a", gpus=1), task("b", 1, "b")), packages=named, ticks_per_hour=1, window_ticks=window
    )
    kept = {package.name for family in families(one) for package in family.packages}
    for package in named:
        for span in range(package.boot_ticks + 1, longest_span(package, window) + 1):
            alike = [
                fine_lease(other, span, 1)
                for other in named
                if other.name in kept
                and span <= longest_span(other, window)
                and (other.machine_class, other.gpus, other.machines, other.boot_ticks)
                == (package.machine_class, package.gpus, package.machines, package.boot_ticks)
            ]
            assert min(alike) <= fine_lease(package, span, 1)
