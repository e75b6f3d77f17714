"""Which offer is asked now, and what a driver records when it goes from one to the next."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import field, replace

from lastro.billing import Lease
from lastro.errors import CapacityRefused, LastroError, PreflightFailed, ProviderError
from lastro.flow import next_offer as rules
from lastro.flow.lease_choice import bought_for, lease_for
from lastro.flow.next_offer import Move, Nothing, Situation, Stay
from lastro.flow.none_left import AskAgain, End, Question, Tried, none_left
from lastro.flow.offer_record import rungs_of, situation_of
from lastro.flow.waiting_cost import WaitingCost, waiting_cost
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
from lastro.journal.views import CampaignView
from lastro.locale import _
from lastro.plan.model import Plan
from lastro.plan.rung import Rung
from lastro.providers.base import Provider
from lastro.records import dataclass
from lastro.rules.moving import STOP, WAIT

#: Refusals in a row after which a campaign that stops asks no more: with their waits, about half an hour.
MAX_REFUSALS = 12
#: Seconds after the first refusal; each further one in a row doubles them.
_FIRST_WAIT = 1.0


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Which offer is asked now, and why not another.

    `then`: how it goes on where no other offer is left. `rung`: the one that is asked; None: what was bought
    by hand is used. `lease`: what a machine is taken under. `tells`: that none is left is worth a record.
    """

    offer: Move | Stay | Nothing = field(default_factory=lambda: Stay(why=""))
    then: AskAgain | Question | End | None = None
    rung: Rung | None = None
    lease: Lease | None = None
    tells: bool = False
    waiting: WaitingCost = field(default_factory=WaitingCost)
    situation: Situation | None = None

    @property
    def has_other(self) -> bool:
        """Whether there is another offer, if a machine of this one is not used for what it is."""
        return self.situation is not None and rules.has_other(self.situation)


def choose(
    plan: Plan, view: CampaignView, provider: Provider, tried: Tried, going: Collection[str] = ()
) -> Choice:
    """Return which offer is asked now. Pure, but for the provider's name and traits.

    What was bought by hand is used before anything else, and left for nothing. `going`: machines that are
    about to be taken away.
    """
    if bought_for(view, provider.name):
        return Choice(lease=lease_for(plan, view, provider.name))
    rungs = rungs_of(plan, provider.traits)
    waiting = waiting_cost(plan, view)
    situation = situation_of(plan, view, rungs, waiting.single, going)
    offer = rules.next_offer(situation)
    rung, then = situation.rung, None
    if isinstance(offer, Nothing):
        then = none_left(offer, plan.move_on.when_none_left, tried, most=MAX_REFUSALS, waiting=waiting.text)
        rung = then.rung if isinstance(then, AskAgain) else rung
    return Choice(
        offer=offer,
        then=then,
        rung=rung,
        lease=rung.lease,
        tells=len(rungs) > 1 or plan.move_on.when_none_left != STOP,
        waiting=waiting,
        situation=situation,
    )


def refusal_wait(tries: int, longest: float = 300.0) -> float:
    """Return the seconds to wait after so many refusals in a row: 1, 2, 4, ..., `longest` at most."""
    return min(longest, _FIRST_WAIT * 2.0 ** (tries - 1))


def despair(plan: Plan, end: End | None, provider: str, tries: int) -> LastroError:
    """Return the error with which a command ends that gets no machine."""
    if end is not None and end.what in (rules.PREFLIGHT, rules.BOXES):
        hint = _("`lastro preflight` shows all; known to be harmless: --accept-risk CODE --why REASON")
        return PreflightFailed(end.why, hint=hint)
    if end is not None and end.what == rules.BOOT:
        return ProviderError(end.why, hint=_("`lastro run` tries again"))
    text = _("no machine was to be had from '{provider}' in {count} tries").format(
        provider=provider, count=tries
    )
    if end is not None and len(plan.ladder) > 1:
        text += "; " + end.why
    return CapacityRefused(text, hint=_hint(plan))


def _hint(plan: Plan) -> str:
    """Return the next step: the plan's own next offer where a person has to get it."""
    others = ", ".join(f"{rung.offer} ({rung.cost or _('cost unknown')})" for rung in plan.ladder[1:])
    if not others:
        return _("`lastro run` tries again; or take another offer or place")
    return _("`lastro run` tries again; the plan's other offers: {others}").format(others=others)


def reopen(view: CampaignView, writer: StreamWriter, why: str | None) -> None:
    """Have every offer asked again, from the first, where a person says why; what was left stays told."""
    if why is not None and (view.offers.left or view.offers.spent is not None):
        writer.append(EventType.OFFERS_REOPENED, why=why, asked=len(view.machines))


def boot_of(plan: Plan, lease: Lease | None) -> float:
    """Return how long a machine under a lease takes to come up, in seconds."""
    of_offer = (rung.boot_seconds for rung in plan.ladder if lease is not None and rung.offer == lease.offer)
    return next(of_offer, plan.boot_seconds)


def place_in(plan: Plan, lease: Lease | None) -> str | None:
    """Return where the machines of a lease are had; None: wherever the campaign runs."""
    of_offer = (rung.place for rung in plan.ladder if lease is not None and rung.offer == lease.offer)
    return next(of_offer, plan.place)


class Moving:
    """What a driver has tried, and what it records of offers and of machines that are not used."""

    def __init__(
        self, plan: Plan, provider: Provider, writer: StreamWriter, tell: Callable[[str], None]
    ) -> None:
        self._plan, self._provider, self._writer, self._tell = plan, provider, writer, tell
        self._tried = Tried()
        self._waits, self._cost = False, ""

    def choose(self, view: CampaignView, going: Collection[str] = ()) -> Choice:
        """Return which offer is asked now; see `choose`."""
        choice = choose(self._plan, view, self._provider, self._tried, going)
        self._waits = isinstance(choice.offer, Nothing) and self._plan.move_on.when_none_left == WAIT
        self._cost = choice.waiting.text
        return choice

    @property
    def refusals(self) -> int:
        """How often in a row this command was refused."""
        return self._tried.refusals

    def refused(self) -> float:
        """Count a refusal; return the seconds until it is worth asking again."""
        self._tried = replace(self._tried, refusals=self._tried.refusals + 1, times=self._tried.times + 1)
        return self._wait()

    def _wait(self) -> float:
        """Return the pause: the longest at once where no other offer is left and the plan says to wait."""
        longest = self._plan.move_on.ask_every_seconds
        return longest if self._waits else refusal_wait(self._tried.refusals, longest)

    @property
    def while_waiting(self) -> str:
        """What waiting costs, behind a sentence; nothing while another offer is left."""
        return f"; {self._cost}" if self._waits else ""

    def had(self) -> None:
        """Note that a machine was to be had."""
        self._tried = replace(self._tried, refusals=0)

    def used(self) -> None:
        """Note that a machine may be used."""
        self._tried = replace(self._tried, rejected=False)

    def reject(self, machine: str, what: str, why: str, *, by_offer: bool = False) -> None:
        """Record that a machine is not used."""
        self._tried = replace(self._tried, rejected=True, times=self._tried.times + 1)
        self._writer.append(
            EventType.MACHINE_REJECTED, machine=machine, what=what, why=why, by_offer=by_offer
        )
        self._tell(_("{why}; it is let go").format(why=why))

    def leave(self, move: Move) -> None:
        """Record that an offer is left, and begin anew with the next."""
        self._tried = Tried(times=self._tried.times)
        self._writer.append(
            EventType.OFFER_LEFT,
            offer=move.offer,
            to=move.to.offer,
            what=move.what,
            why=move.why,
            figures=dict(move.figures),
        )
        self._tell(_("{why}; the next offer is {to}: {reason}").format(
            why=move.why, to=move.to.offer, reason=move.to.why
        ))  # fmt: skip

    def spent(self, choice: Choice) -> None:
        """Record that no further offer is left, and what waiting costs."""
        then = self._plan.move_on.when_none_left
        figures = choice.waiting.as_json()
        why = choice.offer.why
        self._writer.append(EventType.OFFERS_SPENT, why=why, then=then, figures=figures)
        self._tell(_("no other offer of the plan is left: {why}; {waiting}").format(
            why=why, waiting=choice.waiting.text
        ))  # fmt: skip
