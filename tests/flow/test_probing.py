"""Machines that are taken only to see how long it takes: real ones, a cap that holds, nothing left behind."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from lastro.billing import Lease, LeaseKind
from lastro.clock import SystemClock
from lastro.errors import PlanError, UsageError
from lastro.flow.machine_memory import remember
from lastro.flow.probing import ProbeWish, may_begin, probe_machines
from lastro.paths import Home
from lastro.providers.base import MachineState
from lastro.providers.local import Local
from lastro.units import parse_money
from tests.flow.campaigns import SmallCampaign


def wish_of(campaign: SmallCampaign, count: int = 1, cap: str = "1 USD") -> ProbeWish:
    return ProbeWish(campaign_file=campaign.folder / "campaign.yaml", count=count, max_spend=parse_money(cap))


def told(_text: str) -> None:
    pass


@pytest.mark.parametrize(
    ("price", "spent", "cap", "allowed"),
    [
        # 660 s of boot and deletion at 1 USD an hour, in started minutes: 11 / 60 = 0.1833 USD.
        ("1 USD", "0 USD", "0.19 USD", True),
        ("1 USD", "0 USD", "0.18 USD", False),
        ("1 USD", "0.82 USD", "1 USD", False),
        ("1 EUR", "0 USD", "9 USD", False),
        (None, "0 USD", "9 USD", False),
    ],
)
def test_one_more_is_taken_only_if_the_most_that_it_can_cost_fits(
    price: str | None, spent: str, cap: str, allowed: bool
) -> None:
    lease = Lease(
        offer="box", kind=LeaseKind.HOURLY, price=parse_money(price) if price else None, unit_seconds=60
    )

    assert (may_begin(lease, parse_money(spent), parse_money(cap)) is None) is allowed


def test_a_lot_costs_its_price_and_what_is_not_paid_is_never_refused() -> None:
    lot = Lease(offer="lot", kind=LeaseKind.LOT, price=parse_money("20 USD"), term_seconds=3600)

    assert may_begin(lot, parse_money("0 USD"), parse_money("19 USD")) is not None
    assert may_begin(None, parse_money("0 USD"), parse_money("0 USD")) is None


def test_machines_are_timed_let_go_and_remembered(campaign: SmallCampaign) -> None:
    home, clock = Home(campaign.home), SystemClock()

    probed = probe_machines(wish_of(campaign, count=2), home, clock, told)

    assert len(probed.machines) == 2 and probed.why is None
    assert all(one.boot is not None and one.reachable is not None for one in probed.machines)
    assert probed.spent is not None and Decimal(0) < probed.spent.amount <= Decimal(1)
    assert {machine.state for machine in Local(home, clock).machines()} == {MachineState.GONE}
    found = [one for one in remember(home, clock).provisions if one.provider == "local"]
    assert [one.tag for one in found] == [one.tag for one in probed.machines]


def test_who_waits_for_the_next_machine_is_told_until_when(campaign: SmallCampaign) -> None:
    said: list[str] = []
    wish = replace(wish_of(campaign, count=2), every_seconds=3.0)

    probed = probe_machines(wish, Home(campaign.home), SystemClock(), said.append)

    assert len(probed.machines) == 2
    (waiting,) = [text for text in said if "the next one is taken at 20" in text]
    assert "Ctrl-C leaves nothing behind" in waiting


def test_the_cap_ends_it_before_it_could_be_passed(campaign: SmallCampaign) -> None:
    """One may cost 0.1833 USD at most; then a minute, 0.0167 USD, is spent, and 0.20 is beyond the cap."""
    cap = parse_money("0.19 USD")

    probed = probe_machines(
        wish_of(campaign, count=5, cap="0.19 USD"), Home(campaign.home), SystemClock(), told
    )

    assert len(probed.machines) == 1 and probed.why is not None and "0.19 USD" in probed.why
    assert probed.spent is not None and probed.spent.amount < cap.amount


def test_too_low_a_cap_takes_nothing(campaign: SmallCampaign) -> None:
    with pytest.raises(PlanError, match="could cost"):
        probe_machines(wish_of(campaign, cap="0.01 USD"), Home(campaign.home), SystemClock(), told)

    assert not list(Home(campaign.home).local_machines.glob("*"))


def test_a_provider_that_makes_no_machines_says_so(campaign: SmallCampaign) -> None:
    campaign.edit("provider: local", "provider: here")

    with pytest.raises(UsageError, match="makes no machines"):
        probe_machines(wish_of(campaign), Home(campaign.home), SystemClock(), told)


def test_what_a_probe_that_was_killed_has_left_is_let_go_by_the_next(
    campaign: SmallCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, clock = Home(campaign.home), SystemClock()

    def killed(*_arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Local, "delete", killed)
        with pytest.raises(KeyboardInterrupt):
            probe_machines(wish_of(campaign), home, clock, told)
    assert {machine.state for machine in Local(home, clock).machines()} != {MachineState.GONE}

    probe_machines(wish_of(campaign), home, clock, told)

    assert {machine.state for machine in Local(home, clock).machines()} == {MachineState.GONE}
