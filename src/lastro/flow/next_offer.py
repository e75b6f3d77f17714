"""Whether an offer is left for the next one of the plan: a pure function of figures, with its reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import timedelta
from decimal import Decimal
from typing import Any

from lastro.billing import LeaseKind
from lastro.locale import _, ngettext
from lastro.plan.rung import Rung
from lastro.records import dataclass
from lastro.rules import MoveOn
from lastro.units import Money, show_duration

#: Why an offer is left: codes, as the journal has them.
REFUSED, QUEUE, BOOT, PREFLIGHT = "refused", "queue", "boot", "preflight"
BOXES, SPOT, REGION = "boxes", "spot", "region"
#: Left for want of a machine: nothing has been shown that would speak against one that comes later.
_NO_CAPACITY = (REFUSED, QUEUE, REGION)
#: Losses of a spot offer before its money is looked at: one life says nothing of the next.
MIN_LOSSES = 2
_HOUR = Decimal(3600)
_MICRO = Decimal("0.000001")


@dataclass(frozen=True, kw_only=True)
class SpotAccount:
    """What spot machines of one offer have brought, by the journal.

    `kept_hours`: of work that counts; `paid_hours`: all that is billed. None: a life of them tells no steps,
    so nobody knows what was lost.
    """

    losses: int = 0
    kept_hours: float | None = 0.0
    paid_hours: float | None = 0.0


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What an offer has shown since it was taken up.

    `refusals`: in a row, the last things that it did; `waited_seconds`: since the first of them. `boots`:
    machines that did not come up. `queues`: those that waited too long for their turn. `by_offer`: why every
    machine of it would be refused; None: nothing says so. `boxes`: machines that were let go for what they
    are themselves since a run has worked on one; `box_why`: the last of these.
    """

    refusals: int = 0
    waited_seconds: float = 0.0
    boots: int = 0
    boot_why: str = ""
    queues: int = 0
    queue_why: str = ""
    by_offer: str | None = None
    boxes: int = 0
    box_why: str = ""
    spot: SpotAccount = field(default_factory=SpotAccount)


@dataclass(frozen=True, kw_only=True)
class Situation:
    """The ladder, and where the campaign stands on it.

    `rungs`: in their order, one at least. `current`: the name of the offer that is asked. `left`: what was
    left, by name, with the code of the reason. `down`: regions that give and keep no machine.
    `waiting_per_hour`: what waiting costs; None: unknown.
    """

    rungs: tuple[Rung, ...]
    current: str
    left: Mapping[str, str] = field(default_factory=dict)
    shown: Shown = field(default_factory=Shown)
    rules: MoveOn = field(default_factory=MoveOn)
    down: frozenset[str] = frozenset()
    waiting_per_hour: Money | None = None

    @property
    def rung(self) -> Rung:
        """The rung of the offer that is asked; the last one where the plan does not have it."""
        return next((rung for rung in self.rungs if rung.offer == self.current), self.rungs[-1])


@dataclass(frozen=True, kw_only=True)
class Stay:
    """The offer is asked again."""

    why: str


@dataclass(frozen=True, kw_only=True)
class Move:
    """The offer is left for another one. `what`: the code of the reason; `figures`: what it is made from."""

    offer: str
    to: Rung
    what: str
    why: str
    figures: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Nothing:
    """The offer of `rung` should be left, and no other is left.

    `askable`: what may have a machine later, in order.
    """

    rung: Rung
    what: str
    why: str
    askable: tuple[Rung, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class _Against:
    what: str
    why: str
    figures: Mapping[str, Any] = field(default_factory=dict)


def next_offer(now: Situation) -> Move | Stay | Nothing:
    """Return whether the offer is asked again, or left for which one.

    An offer that was left is not returned to: what spoke against it has not changed, and a campaign that
    goes round and round pays for each round. Spot that was left for its losses is left for good, for other
    spot offers too. When no offer is left, those that had no machine may have one later (`Nothing.askable`):
    a machine that was never there has shown no fault. Everything else a person has to open again.
    """
    against = next(_reasons(now), None)
    if against is None:
        return Stay(why=_("nothing speaks against {offer}").format(offer=now.current))
    to = next(_others(now, against.what), None)
    if to is not None:
        why = _("{offer}: {why}").format(offer=now.current, why=against.why)
        return Move(offer=now.current, to=to, what=against.what, why=why, figures=against.figures)
    if against.what == SPOT:
        return Stay(why=_("{why}; no offer on demand is left").format(why=against.why))
    return Nothing(
        rung=now.rung,
        what=against.what,
        why=_("{offer}: {why}").format(offer=now.current, why=against.why),
        askable=tuple(_askable(now, against.what)),
        figures=against.figures,
    )


def has_other(now: Situation) -> bool:
    """Say whether there is another offer to go to, if a machine of this one is not used for what it is."""
    return next(_others(now, BOXES), None) is not None


def _others(now: Situation, what: str) -> Iterator[Rung]:
    spot_is_over = what == SPOT or SPOT in now.left.values()
    for rung in now.rungs:
        if rung.offer == now.current or rung.offer in now.left or _is_down(now, rung):
            continue
        if not (spot_is_over and rung.kind is LeaseKind.SPOT):
            yield rung


def _askable(now: Situation, what: str) -> Iterator[Rung]:
    """Yield the current offer where it had no machine, then the others that had none, in their order."""
    if what in _NO_CAPACITY:
        yield now.rung
    spot_is_over = SPOT in now.left.values()
    for rung in now.rungs:
        if rung.offer == now.current or (spot_is_over and rung.kind is LeaseKind.SPOT):
            continue
        if now.left.get(rung.offer) in _NO_CAPACITY or (rung.offer not in now.left and _is_down(now, rung)):
            yield rung


def _is_down(now: Situation, rung: Rung) -> bool:
    return rung.region is not None and rung.region in now.down


def _reasons(now: Situation) -> Iterator[_Against]:
    """Yield what speaks against the offer, the surest first."""
    shown, rules = now.shown, now.rules
    if shown.by_offer is not None:
        yield _Against(PREFLIGHT, _("every machine of it would be refused: {why}").format(why=shown.by_offer))
    if shown.boots:
        yield _Against(BOOT, shown.boot_why, {"deadline_seconds": rules.boot_seconds})
    if shown.queues:
        yield _Against(QUEUE, shown.queue_why, {"queue_seconds": rules.queue_seconds})
    if shown.boxes >= rules.boxes:
        text = ngettext(
            "{count} machine was let go before any work, the last: {why}",
            "{count} machines were let go before any work, the last: {why}",
            shown.boxes,
        )
        yield _Against(BOXES, text.format(count=shown.boxes, why=shown.box_why), {"boxes": shown.boxes})
    if _is_down(now, now.rung):
        text = _("{region} gives and keeps no machine, whatever the offer")
        yield _Against(REGION, text.format(region=now.rung.region), {"region": now.rung.region})
    if shown.refusals:
        yield from _of_refusals(now)
    yield from _of_spot(now)


# --- refusals -----------------------------------------------------------------------------------------


def _of_refusals(now: Situation) -> Iterator[_Against]:
    shown, rung = now.shown, now.rung
    figures: dict[str, Any] = {"refusals": shown.refusals, "waited_seconds": round(shown.waited_seconds, 3)}
    if shown.refusals >= now.rules.refusals:
        text = ngettext("refused {count} time", "refused {count} times in a row", shown.refusals)
        yield _Against(REFUSED, text.format(count=shown.refusals), figures)
    waited = timedelta(seconds=round(shown.waited_seconds))
    slack = rung.slack_hours
    if slack is not None and 0 < slack <= shown.waited_seconds / 3600:
        text = _("{waited} of waiting have used up its slack of {slack}").format(
            waited=show_duration(waited), slack=show_duration(timedelta(hours=slack))
        )
        yield _Against(REFUSED, text, {**figures, "slack_hours": slack})
    other = next(_others(now, REFUSED), None)
    if other is not None:
        yield from _of_waiting(now, other, figures)


def _of_waiting(now: Situation, other: Rung, figures: Mapping[str, Any]) -> Iterator[_Against]:
    """Yield that waiting has cost as much as the other offer costs more, where both are known."""
    extra = _dearer_by(now.rung, other)
    rate = now.waiting_per_hour
    if extra is None or rate is None or rate.currency != extra.currency or extra.amount <= 0:
        return
    waited = _told(rate.times(Decimal(repr(round(now.shown.waited_seconds, 3))) / _HOUR))
    if waited.amount >= extra.amount:
        text = _("waiting has cost {waited}, and {other} costs {extra} more").format(
            waited=waited, other=other.offer, extra=extra
        )
        told = {"waiting_cost": waited.as_json(), "dearer_by": extra.as_json()}
        yield _Against(REFUSED, text, {**figures, **told})


def _dearer_by(rung: Rung, other: Rung) -> Money | None:
    """Return what another offer costs more in all; None: a cost is unknown, or they do not compare."""
    if rung.cost is None or other.cost is None or rung.cost.currency != other.cost.currency:
        return None
    return Money(other.cost.amount - rung.cost.amount, rung.cost.currency)


# --- spot ---------------------------------------------------------------------------------------------


def _of_spot(now: Situation) -> Iterator[_Against]:
    account = now.shown.spot
    if now.rung.kind is not LeaseKind.SPOT or not account.losses:
        return
    if now.rules.spot_losses is not None and account.losses >= now.rules.spot_losses:
        text = ngettext("lost {count} time", "lost {count} times", account.losses)
        yield _Against(SPOT, text.format(count=account.losses), {"losses": account.losses})
    demand = _on_demand(now)
    if demand is None or account.losses < MIN_LOSSES:
        return
    balance = spot_balance(now.rung, demand, account)
    if balance is None or balance[1].amount < balance[0].amount:
        return
    saved, lost = balance
    text = _("its losses have cost {lost}, and it has saved {saved} against {other}").format(
        lost=lost, saved=saved, other=demand.offer
    )
    figures = {"losses": account.losses, "saved": saved.as_json(), "lost": lost.as_json()}
    yield _Against(SPOT, text, figures)


def _on_demand(now: Situation) -> Rung | None:
    """Return the first offer by the hour with the same card: hours on another card are other hours."""
    rungs = (rung for rung in _others(now, SPOT) if rung.kind is LeaseKind.HOURLY)
    return next((rung for rung in rungs if rung.gpu == now.rung.gpu), None)


def spot_balance(spot: Rung, demand: Rung, account: SpotAccount) -> tuple[Money, Money] | None:
    """Return what spot has saved and what its losses have cost; None where that is not known.

    Saved: for each hour of work that counts, the difference of both prices. Lost: every other hour that is
    billed (boots, set-up, work that is done again) at the price of spot.
    """
    low, high = (one.lease.price if one.lease else None for one in (spot, demand))
    kept, paid = account.kept_hours, account.paid_hours
    if low is None or high is None or low.currency != high.currency or kept is None or paid is None:
        return None
    kept_hours, rest = Decimal(repr(round(kept, 6))), Decimal(repr(round(max(0.0, paid - kept), 6)))
    saved = Money((high.amount - low.amount) * kept_hours, low.currency)
    return _told(saved), _told(low.times(rest))


def _told(money: Money) -> Money:
    """Return an amount to the millionth: the hours behind it are binary fractions."""
    return Money(money.amount.quantize(_MICRO), money.currency)
