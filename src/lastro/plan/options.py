"""The options of a plan: which candidates are offered and for what, which are refused, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lastro.billing import LeaseKind
from lastro.locale import _
from lastro.plan.bill import lot_hours, machine_lanes, show_hours
from lastro.plan.breakeven import break_even
from lastro.plan.candidates import Candidate, Protocol, Question, candidates, reductions, useful_counts, whole
from lastro.plan.mixtures import against_on_demand, groups, mixture
from lastro.plan.parts import REDUCED, WHOLE, Option
from lastro.plan.proof import Proof, prove
from lastro.plan.risk import Risk
from lastro.plan.risk_of import risk_of
from lastro.plan.second_path import with_second_hours
from lastro.plan.unpriced import NOTHING_LEFT, unpriced
from lastro.records import dataclass
from lastro.units import Money

#: What an option is among the others. The order is that in which they are shown.
CHEAPEST, SAFE, REDUCED_ROLE = "cheapest", "rarely late", "reduced protocol"
LOT, PARALLEL, LONGER = "one lot", "lots in parallel", "one longer lot"
HOURLY, SPOT = "by the hour", "spot"
VIOLATION = "cheapest violation"


@dataclass(frozen=True, kw_only=True)
class Options:
    """All options, those that are offered first; the one to take, and why it, or why none.

    `base`: the calendar of the whole protocol, on the cheapest offer; None: nothing can be rented. `offered`:
    a candidate for each offer that an option takes. `eligible`: a candidate for each offer that can be taken
    for what is done, the cheapest first; `fitting`: the names of those that fit window and budget.
    """

    options: tuple[Option, ...]
    taken: Candidate | None
    why: str
    base: Candidate | None
    risk: Risk | None
    offered: tuple[Candidate, ...]
    eligible: tuple[Candidate, ...] = ()
    fitting: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class _Role:
    candidate: Candidate
    roles: tuple[str, ...]
    why: str


def options_of(question: Question, *, seed: int, protocol: str = WHOLE) -> Options:
    """Return the options of a campaign.

    Args:
        question: the campaign and what can be rented for it.
        seed: of the draws.
        protocol: the one that is taken: the whole, or the reduced one, which has to be asked for.
    """
    return _Chooser(question, seed, protocol).options()


class _Chooser:
    """Lays out and prices all candidates once, and chooses among them."""

    def __init__(self, question: Question, seed: int, protocol: str) -> None:
        self._question, self._seed, self._protocol = question, seed, protocol
        self._whole = whole(question.campaign)
        self._machines = question.campaign.machines
        self._risks: dict[tuple[str, str, int], Risk] = {}
        self._all = candidates(question, self._whole, useful_counts(question.campaign, self._whole.work))
        self._ended = {one.offer.name: why for one in self._all if (why := one.ends_before)}
        self._all = [one for one in self._all if one.ends_before is None]
        self._all.sort(key=lambda one: one.rank)
        self._own = [one for one in self._all if one.machines == self._machines]
        self._reduced = self._reduce()

    # --- the whole ------------------------------------------------------------------------------------

    def options(self) -> Options:
        roles = self._merged([*self._roles()])
        proofs = self._proofs(roles)
        offered = [self._offered(role, proofs) for role in roles]
        own = {one.offer for one in offered if (one.protocol, one.machines) == (WHOLE, self._machines)}
        offered += self._mixed(proofs.get(WHOLE))
        spot = next((role.candidate for role in roles if SPOT in role.roles), None)
        offered += groups(self._question, spot) if spot else []
        refused = [*self._refused(own)]
        taken, why = self._taken()
        base = self._own[0] if self._own else None
        shown = taken or base
        eligible = self._eligible()
        return Options(
            options=(*offered, *refused),
            taken=taken,
            why=why,
            base=base,
            risk=self._risk(shown) if shown else None,
            offered=tuple({role.candidate.offer.name: role.candidate for role in roles}.values()),
            eligible=tuple(eligible),
            fitting=frozenset(one.offer.name for one in eligible if self._fits(one)),
        )

    def _eligible(self) -> list[Candidate]:
        """Return a candidate for each offer that can be taken for the protocol that is done."""
        campaign = with_second_hours(self._question.campaign, self._question.market)
        reduced = self._reduced.protocol if self._protocol == REDUCED and self._reduced else None
        if campaign is self._question.campaign and reduced is None:
            return self._own
        protocol = (
            whole(campaign)
            if reduced is None
            else next(one for one in reductions(campaign) if one.left_out == reduced.left_out)
        )
        found = candidates(replace(self._question, campaign=campaign), protocol, (self._machines,))
        return sorted((one for one in found if one.ends_before is None), key=lambda one: one.rank)

    def _roles(self) -> Iterator[_Role]:
        fitting = [one for one in self._own if self._fits(one)]
        cheapest = fitting[0] if fitting else None
        if cheapest is not None:
            yield _Role(candidate=cheapest, roles=(CHEAPEST,), why=self._why_cheapest(cheapest))
            safe = self._safe(fitting)
            if safe is not None:
                yield _Role(candidate=safe, roles=(SAFE,), why=self._why_safe(safe))
        elif self._own:
            nearest = min(self._own, key=self._violation)
            yield _Role(candidate=nearest, roles=(VIOLATION,), why=self._broken(nearest))
        if self._reduced is not None:
            yield _Role(candidate=self._reduced, roles=(REDUCED_ROLE,), why=self._why_reduced(self._reduced))
        yield from self._of_lots()
        yield from self._by_kind(cheapest)

    def _of_lots(self) -> Iterator[_Role]:
        """Offer one lot, lots in parallel, and one longer lot, where there are lots."""
        lots = [one for one in self._all if one.offer.kind is LeaseKind.LOT]
        single = [one for one in lots if one.bill.holding.leases == 1 and one.bill.holding.terms == 1]
        single = [one for one in single if one.machines == self._machines]
        parallel = [one for one in lots if one.bill.holding.leases > 1 and one.bill.holding.terms == 1]
        parallel = [one for one in parallel if self._within(one)]
        if single:
            yield _Role(candidate=single[0], roles=(LOT,), why=self._why_lot(single[0]))
        if parallel:
            yield _Role(candidate=parallel[0], roles=(PARALLEL,), why=self._why_parallel(parallel[0], single))
            longer = next((one for one in single if _term(one) > _term(parallel[0])), None)
            if longer is not None:
                yield _Role(candidate=longer, roles=(LONGER,), why=self._why_lot(longer))

    def _by_kind(self, cheapest: Candidate | None) -> Iterator[_Role]:
        for kind, role in ((LeaseKind.HOURLY, HOURLY), (LeaseKind.SPOT, SPOT)):
            of_kind = [one for one in self._own if one.offer.kind is kind]
            best = next((one for one in of_kind if self._fits(one)), of_kind[0] if of_kind else None)
            if best is not None:
                yield _Role(candidate=best, roles=(role,), why=self._why_kind(best, cheapest))

    def _merged(self, roles: Sequence[_Role]) -> list[_Role]:
        """Put together what is one plan under several roles."""
        merged: dict[tuple[str, str, int], _Role] = {}
        for role in roles:
            key = self._key(role.candidate)
            before = merged.get(key)
            if before is None:
                merged[key] = role
                continue
            why = before.why if role.why in before.why else f"{before.why}; {role.why}"
            merged[key] = replace(before, roles=(*before.roles, *role.roles), why=why)
        return list(merged.values())

    # --- the reduced protocol -------------------------------------------------------------------------

    def _reduce(self) -> Candidate | None:
        """Return the most that fits when the whole does not; the least that answers when it does."""
        protocols = [*reductions(self._question.campaign)]
        if not protocols:
            return None
        if any(self._fits(one) for one in self._own):
            protocols = protocols[-1:]
        for protocol in protocols:
            found = sorted(candidates(self._question, protocol, (self._machines,)), key=lambda one: one.rank)
            fitting = next((one for one in found if one.ends_before is None and self._fits(one)), None)
            if fitting is not None:
                return fitting
        return None

    # --- judgement ------------------------------------------------------------------------------------

    def _within(self, one: Candidate) -> bool:
        window = self._question.window_hours
        return window is None or one.end_hours is None or one.end_hours <= window

    def _affordable(self, one: Candidate) -> bool | None:
        """Say whether a cost is within the budget; None: it cannot be told."""
        return self._question.affordable(one.compared, complete=one.bill.cost.total is not None)

    def _fits(self, one: Candidate) -> bool:
        return self._within(one) and self._affordable(one) is not False

    def _violation(self, one: Candidate) -> tuple[float, float]:
        """How far a candidate is from fitting: money over the budget first, then hours over the window."""
        window, budget = self._question.window_hours, self._question.campaign.budget
        late = max(0.0, (one.end_hours or 0.0) - window) if window is not None else 0.0
        over = 0.0
        if budget is not None and one.compared is not None and one.compared.currency == budget.currency:
            over = max(0.0, float(one.compared.amount - budget.amount))
        return over, late

    def _safe(self, fitting: Sequence[Candidate]) -> Candidate | None:
        limit = self._question.campaign.max_late
        if self._question.window_hours is None:
            return None
        for one in fitting:
            late = self._risk(one).p_late
            if late is not None and late <= limit:
                return one
        return None

    def _key(self, one: Candidate) -> tuple[str, str, int]:
        return one.offer.name, one.protocol.kind, one.machines

    def _risk(self, one: Candidate) -> Risk:
        key = self._key(one)
        if key not in self._risks:
            self._risks[key] = risk_of(
                one,
                window_hours=self._question.window_hours,
                budget=self._question.campaign.budget,
                seed=self._seed,
            )
        return self._risks[key]

    def _proofs(self, roles: Sequence[_Role]) -> dict[str, Proof]:
        """Prove, for each protocol that is offered, what nothing can undercut."""
        protocols: dict[str, Protocol] = {}
        for role in roles:
            protocols.setdefault(role.candidate.protocol.kind, role.candidate.protocol)
        lanes = max([one.machines for one in self._all], default=self._machines)
        return {
            kind: prove(
                self._question,
                protocol,
                window=self._any_within(protocol),
                lanes=lanes,
                known=self._least_of(kind),
            )
            for kind, protocol in protocols.items()
        }

    def _least_of(self, kind: str) -> Money | None:
        """Return what the cheapest candidate of a protocol costs; None: unknown."""
        if kind == REDUCED:
            return self._reduced.compared if self._reduced else None
        return next((one.compared for one in self._all if one.bill.cost.total is not None), None)

    def _any_within(self, protocol: Protocol) -> bool:
        """Say whether some candidate of a protocol ends in time: then the bound is for those that do."""
        if protocol.kind == REDUCED:
            return self._reduced is not None and self._within(self._reduced)
        return any(self._within(one) for one in self._all)

    def _mixed(self, proof: Proof | None) -> list[Option]:
        """Offer a mixture of offers where it is cheaper than the cheapest that is of one kind."""
        best = next((one for one in self._own if self._fits(one)), None)
        found = proof.mixture if proof else None
        if found is None or best is None or best.compared is None or proof is None:
            return []
        if found.cost.amount >= best.compared.amount:
            return []
        return [mixture(self._question, found, proof.bound, best)]

    # --- values ---------------------------------------------------------------------------------------

    def _offered(self, role: _Role, proofs: dict[str, Proof]) -> Option:
        one = role.candidate
        risk, proof = self._risk(one), proofs[one.protocol.kind]
        # What ends in time is no bound for what does not: that may well be cheaper.
        same = not proof.within_window or self._within(one)
        bound = proof.bound if same and one.compared else None
        gap, whole = None, one.bill.cost.total is not None
        if whole and bound and one.compared is not None and bound.currency == one.compared.currency:
            paid = one.compared.amount
            gap = max(0.0, float((paid - bound.amount) / paid)) if paid > 0 else 0.0
        option = self._option(one, offered=True, why=role.why)
        return replace(
            option,
            roles=role.roles,
            p_late=risk.p_late,
            p_over_budget=risk.p_over_budget,
            draws=risk.draws,
            bound=bound,
            gap=None if gap is None else round(gap, 6),
            proven=gap is not None and gap <= NOTHING_LEFT,
            notes=tuple(self._notes(one)),
            calendar=one.calendar.slots,
        )

    def _option(self, one: Candidate, *, offered: bool, why: str) -> Option:
        window, total = self._question.window_hours, one.calendar.total
        return Option(
            name=one.name,
            roles=(),
            offered=offered,
            why=why,
            offer=one.offer.name,
            kind=one.offer.kind.value,
            protocol=one.protocol.kind,
            left_out=one.protocol.left_out,
            machines=one.machines,
            holdings=(one.bill.holding,),
            cost=one.bill.cost,
            end=total,
            slack_hours=None if window is None or total is None else round(window - total.likely, 9),
            fits_window=None if window is None or total is None else self._within(one),
            fits_budget=self._affordable(one),
            p_late=None,
            p_over_budget=None,
            draws=None,
            bound=None,
            gap=None,
            proven=False,
            per_unit=self._per_unit(one),
            notes=(),
            calendar=(),
        )

    def _per_unit(self, one: Candidate) -> Money | None:
        work, total = self._question.campaign.work, one.bill.cost.total
        return total.divided(work.amount) if work and total else None

    def _refused(self, shown: set[str | None]) -> Iterator[Option]:
        reasons = self._reasons()
        own = {one.offer.name: one for one in self._own}
        for offer in self._question.market.offers:
            if offer.name in shown:
                continue
            if offer.name in own:
                yield self._option(own[offer.name], offered=False, why=self._why_not(own[offer.name]))
                continue
            why = reasons.get(offer.name) or _("{count} of them are not to be had").format(
                count=self._machines
            )
            yield unpriced(offer.name, offer.kind.value, self._machines, why)

    def _reasons(self) -> dict[str, str]:
        """Return why offers cannot be taken for the whole, by their names."""
        refused = self._question.refusals(self._whole.work)
        return {**self._ended, **{name: why for name, why in refused.items() if why}}

    # --- reasons --------------------------------------------------------------------------------------

    def _why_cheapest(self, one: Candidate) -> str:
        if self._question.campaign.budget is not None and self._affordable(one) is None:
            return _("the cheapest as far as is known, and the budget cannot be checked: {cost}").format(
                cost=show_cost(one)
            )
        return _("the cheapest that fits {limits}: {cost}").format(limits=self._limits(), cost=show_cost(one))

    def _limits(self) -> str:
        window, budget = self._question.window_hours is not None, self._question.campaign.budget is not None
        if window and budget:
            return _("the window and the budget")
        return _("the window") if window else _("the budget") if budget else _("(no limit is set)")

    def _why_safe(self, one: Candidate) -> str:
        late = self._risk(one).p_late
        return _("the cheapest that is late in at most {limit:.0%} of the draws: {late:.1%}").format(
            limit=self._question.campaign.max_late, late=late
        )

    def _broken(self, one: Candidate) -> str:
        """Say what a candidate breaks, with the numbers."""
        parts = []
        window = self._question.window_hours
        if window is not None and one.end_hours is not None and one.end_hours > window:
            parts.append(
                _("it takes {hours}, {over} more than the window").format(
                    hours=show_hours(one.end_hours), over=show_hours(one.end_hours - window)
                )
            )
        budget = self._question.campaign.budget
        if self._affordable(one) is False and budget is not None and one.compared is not None:
            over = Money(one.compared.amount - budget.amount, budget.currency)
            parts.append(
                _("it costs {cost}, {over} more than the budget").format(cost=show_cost(one), over=over)
            )
        return "; ".join(parts)

    def _why_reduced(self, one: Candidate) -> str:
        left = ", ".join(one.protocol.left_out) or _("what is not required of the stages")
        text = _("still answers the question, without {left}").format(left=left)
        slack = self._option(one, offered=True, why="").slack_hours
        return text if slack is None else f"{text}; " + _("{slack} of slack").format(slack=show_hours(slack))

    def _why_parallel(self, one: Candidate, single: Sequence[Candidate]) -> str:
        text = _("{count} lots at once end after {hours}").format(
            count=one.bill.holding.leases, hours=show_hours(one.end_hours or 0.0)
        )
        if single and single[0].end_hours is not None and one.end_hours is not None:
            gained = single[0].end_hours - one.end_hours
            text += ", " + _("{gained} before one machine: only independent runs become shorter").format(
                gained=show_hours(max(0.0, gained))
            )
        return text

    def _why_lot(self, one: Candidate) -> str:
        spare = _term(one) - lot_hours(one.calendar, machine_lanes(one.calendar, one.offer), "likely")
        text = _("one lot of {term} holds it all, {spare} of it are slack").format(
            term=show_hours(_term(one)), spare=show_hours(spare)
        )
        if not self._within(one):
            text += "; " + _("{broken}, so the window has to be moved").format(broken=self._broken(one))
        return text

    def _why_kind(self, one: Candidate, cheapest: Candidate | None) -> str:
        what = _("on spot") if one.offer.kind is LeaseKind.SPOT else _("by the hour")
        broken = self._broken(one)
        if broken:
            return _("{what} it would be {cost}; {broken}").format(
                what=what, cost=show_cost(one), broken=broken
            )
        if cheapest is None or cheapest is one:
            return _("{what}: {cost}").format(what=what, cost=show_cost(one))
        return _("{what}: {cost} against {other}").format(
            what=what, cost=show_cost(one), other=show_cost(cheapest)
        )

    def _why_not(self, one: Candidate) -> str:
        broken = self._broken(one)
        if broken:
            return broken
        if one.bill.cost.total is None:
            return one.bill.cost.why or _("its cost is unknown")
        if one.compared is None:
            return _("no rate was given that would compare its currency")
        best = next((other for other in self._own if self._fits(other)), None)
        if best is None or best.compared is None:
            return _("another option does the same")
        more = Money(one.compared.amount - best.compared.amount, one.compared.currency)
        return _("it costs {more} more than {other} and does the same").format(more=more, other=best.name)

    def _notes(self, one: Candidate) -> Iterator[str]:
        if one.offer.kind is not LeaseKind.LOT and one.offer.gpus:
            lots = [other for other in self._own if other.offer.kind is LeaseKind.LOT]
            for lot in (other for other in lots if other.offer.gpus):
                yield break_even(
                    lot.offer.lease(),
                    one.offer.lease(),
                    lot_gpus=lot.offer.machines * lot.offer.gpus,
                    hourly_gpus=one.offer.gpus,
                ).why
        if one.machines != self._machines:
            yield _("needs `machines: {count}` in the campaign file").format(count=one.machines)
        if one.note:
            yield one.note
        if one.offer.kind is LeaseKind.SPOT and (beside := against_on_demand(self._question, one)):
            yield beside
        if one.bill.cost.total is None and one.bill.cost.why:
            yield one.bill.cost.why
        elif one.bill.cost.total is not None and one.bill.cost.high is None:
            yield _("when everything takes long it needs a following term, and what that costs is not known")

    # --- what is taken --------------------------------------------------------------------------------

    def _taken(self) -> tuple[Candidate | None, str]:
        if not self._question.market.offers:
            return None, _("the campaign names no offers, so nothing is priced")
        if self._protocol == REDUCED:
            if self._reduced is None:
                return None, _("no reduced protocol fits")
            return self._reduced, self._why_reduced(self._reduced)
        if not self._own:
            told = "; ".join(f"{name}: {why}" for name, why in self._reasons().items())
            return None, _("none of the offers can be taken: {reasons}").format(reasons=told)
        fitting = next((one for one in self._own if self._fits(one)), None)
        if fitting is not None:
            if len(self._own) == 1:
                return fitting, _("the only offer that can be taken")
            return fitting, self._why_cheapest(fitting)
        nearest = min(self._own, key=self._violation)
        return nearest, _("none fits; {offer} comes nearest: {why}").format(
            offer=nearest.name, why=self._broken(nearest)
        )


def _term(one: Candidate) -> float:
    """Return the hours of a lot's term."""
    assert one.offer.term is not None, "a lot has a term"
    return one.offer.term.total_seconds() / 3600


def show_cost(one: Candidate) -> str:
    """Return what a candidate costs as people read it."""
    cost = one.bill.cost
    if cost.total is not None:
        return str(cost.total)
    return _("at least {known}").format(known=cost.at_least) if cost.at_least else _("unknown")
