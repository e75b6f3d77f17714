"""Which machine to use while a run goes on: the safety net, the way back to on-demand, and when to wait."""

from __future__ import annotations

from decimal import Decimal

from lastro.billing import LeaseKind
from lastro.locale import _
from lastro.records import dataclass
from lastro.units import Money

#: How much of its slack a run keeps, as a share of what is left of the work, before it pays on-demand rather
#: than waits. 0 waits until nothing is left, 1 is Uniform Progress's straight line. docs/plan-risk.md says
#: on what it was chosen, and what the others cost there.
KEPT_SLACK = 0.5
#: What spot may cost beyond on-demand before a run leaves it, as a share of what all of it costs on demand: a
#: few unlucky starts decide nothing. Chosen on the same traces; the price of one start was left too early.
TOLERATED = 0.02


@dataclass(frozen=True, kw_only=True)
class Decision:
    """Yes or no, and why."""

    yes: bool
    why: str


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What does not change while a run goes on. Hours; prices of one hour, None: unknown.

    `restart`: boot, set-up and restore. `every`: work between two saves. `tick`: time between two looks.
    `window` and `work`: what there was of both at the start; window None: it may take for ever.
    """

    spot: Money | None
    on_demand: Money | None
    restart: float
    every: float
    tick: float
    work: float
    window: float | None
    never_spot: bool = False


@dataclass(frozen=True, kw_only=True)
class Now:
    """How a run stands. Hours.

    `work` is what is left of it, and `window` what is left of that; both as of now, what is not saved yet
    counted as done. `on`: the machine it is on, None for none. `spot_there`: a spot machine can be had, or is
    still held. `spent`: all that spot has cost so far; `useful`: the work that it has brought and saved.
    """

    work: float
    window: float | None
    on: LeaseKind | None
    spot_there: bool
    spent: Money | None = None
    useful: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Move:
    """The machine to use until the next look, None to wait for spot, and why."""

    use: LeaseKind | None
    why: str


def needs_guarantee(now: Now, terms: Terms) -> Decision:
    """Say whether the run has to be on a machine that stays from now on, so as not to be late.

    It has to when what is left of the window is no more than work + 2 restarts + one interval + one tick. In
    the worst case the spot machine is gone at the next look with all since its last save (one interval, one
    tick); then one restart brings the machine that stays, and the other one is for a start that fails.
    Nothing but that margin covers an on-demand machine that is not to be had.
    """
    if now.window is None:
        return Decision(yes=False, why=_("there is no window"))
    need = now.work + _reserve(terms)
    if now.window <= need:
        why = _("{left:.1f} h are left for {need:.1f} h: work, two restarts, one interval, one look")
        return Decision(yes=True, why=why.format(left=now.window, need=need))
    return Decision(yes=False, why=_("{slack:.1f} h of slack are left").format(slack=now.window - need))


def should_return(now: Now, terms: Terms) -> Decision:
    """Say whether spot has cost more than it saved, and on-demand is expected to be cheaper for the rest.

    Two things must hold. What spot has cost beyond the price of the same work on demand is more than a move
    costs (a restart on demand), and more than `TOLERATED` of the whole run. And at the price that an hour of
    work has come to, the rest is dearer than on demand with that move. An unknown price decides nothing.
    """
    if terms.never_spot:
        return Decision(yes=True, why=_("this run is never put on spot"))
    if terms.spot is None or terms.on_demand is None or now.spent is None:
        return Decision(yes=False, why=_("a price is unknown, so nothing shows that on-demand is cheaper"))
    if {terms.spot.currency, now.spent.currency} != {terms.on_demand.currency}:
        return Decision(yes=False, why=_("the prices are in several currencies and do not compare"))
    if terms.spot.amount >= terms.on_demand.amount:
        return Decision(
            yes=True,
            why=_("spot costs {spot} an hour now, no less than on-demand for {other}").format(
                spot=terms.spot, other=terms.on_demand
            ),
        )
    same = terms.on_demand.times(Decimal(repr(now.useful)))
    move = terms.on_demand.times(Decimal(repr(terms.restart)))
    values = {"spent": now.spent, "same": same, "useful": now.useful, "move": move}
    whole = terms.on_demand.times(Decimal(repr(TOLERATED * terms.work)))
    if now.spent.amount - same.amount <= max(move.amount, whole.amount):
        why = _("spot has cost {spent} for {useful:.1f} h of saved work, which cost {same} on demand")
        return Decision(yes=False, why=why.format(**values))
    # Without any saved work its price has no limit.
    if now.useful > 0:
        rate = now.spent.amount / Decimal(repr(now.useful))
        if (rate - terms.on_demand.amount) * Decimal(repr(now.work)) <= move.amount:
            why = _("spot has cost {spent}, {same} on demand, but for the rest a move of {move} does not pay")
            return Decision(yes=False, why=why.format(**values))
    why = _(
        "spot has cost {spent} for {useful:.1f} h of saved work, which cost {same} on demand: recovering "
        "costs more than it saves"
    )
    return Decision(yes=True, why=why.format(**values))


def next_machine(now: Now, terms: Terms) -> Move:
    """Return the machine to use until the next look.

    In this order: what may never be on spot, or must not be late, or is no cheaper on spot, uses the machine
    that stays. Spot is kept while it is there, and taken where it is to be had; on-demand is left for it when
    two restarts more of slack are there. Without spot a run that is on no machine waits while its slack is
    more than `KEPT_SLACK` of what it had, in proportion to the work that is left; then it pays on-demand.
    """
    if terms.never_spot:
        return Move(use=LeaseKind.HOURLY, why=_("this run is never put on spot"))
    net = needs_guarantee(now, terms)
    if net.yes:
        return Move(use=LeaseKind.HOURLY, why=net.why)
    back = should_return(now, terms)
    if back.yes:
        return Move(use=LeaseKind.HOURLY, why=back.why)
    if terms.spot is None:
        return Move(use=LeaseKind.HOURLY, why=_("the price of spot is unknown, and that never wins"))
    if now.spot_there and (now.on is not LeaseKind.HOURLY or _slack(now, terms) > 2 * terms.restart):
        return Move(use=LeaseKind.SPOT, why=_("a spot machine is there, and there is time to lose it"))
    if now.on is LeaseKind.HOURLY:
        return Move(use=LeaseKind.HOURLY, why=_("on-demand is kept until spot is back with time to lose it"))
    if _is_behind(now, terms):
        return Move(use=LeaseKind.HOURLY, why=_("too little slack is left to wait for spot"))
    return Move(use=None, why=_("no spot machine is there, and there is time to wait for one"))


def _reserve(terms: Terms) -> float:
    return 2 * terms.restart + terms.every + terms.tick


def _slack(now: Now, terms: Terms) -> float:
    """Return by how many hours the safety net is away; without a window it never comes."""
    if now.window is None:
        return float("inf")
    return now.window - now.work - _reserve(terms)


def _is_behind(now: Now, terms: Terms) -> bool:
    if now.window is None or terms.window is None:
        return False
    slack = terms.window - terms.work - _reserve(terms)
    return _slack(now, terms) < KEPT_SLACK * max(0.0, slack) * now.work / terms.work
