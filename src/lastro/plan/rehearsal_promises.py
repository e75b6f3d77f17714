"""Which promises of a plan were kept in a rehearsal, and which loss broke which. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from enum import Enum

from lastro.billing import LeaseKind, cost
from lastro.locale import _, ngettext
from lastro.plan.rehearsal_account import Blow
from lastro.plan.rehearsal_blame import Blame, blame
from lastro.plan.rehearsal_scale import Scale
from lastro.plan.rehearsal_shape import Shape, end_hours, machine_hours
from lastro.plan.rehearsal_weather import Kind
from lastro.records import dataclass
from lastro.units import Money, show_duration

#: Less than this, in hours, is rounding of binary fractions.
_ROUNDING = 1e-6


class Answer(str, Enum):
    """Whether a promise was kept. UNPROMISED: the plan promises nothing of the kind."""

    HELD = "held"
    BROKEN = "broken"
    NOT_SHOWN = "not_shown"
    UNPROMISED = "unpromised"


@dataclass(frozen=True, kw_only=True)
class Promise:
    """One promise. `faults`: the losses that broke it, by their index; None of one that nobody has drawn.

    `hours`, `money`: promised and seen, where it is about these; a value of None is unknown. `condition`:
    under which it was kept; empty for none.
    """

    name: str
    answer: Answer
    promised: str
    seen: str
    why: str = ""
    faults: tuple[int | None, ...] = ()
    hours: tuple[float | None, float | None] | None = None
    money: tuple[Money | None, Money | None] | None = None
    condition: str = ""


@dataclass(frozen=True, kw_only=True)
class RunEnd:
    """How a run ended in small. `why`: of one that is not completed."""

    run: str
    required: bool
    status: str
    why: str | None = None


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """What was delivered: how many outputs were promised, and those that are not accepted, with their run."""

    promised: int
    failed: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What a rehearsal has shown. `answers`: the conclusion undisturbed, and with losses.

    `rented`: machines that are not known to be gone. `unseen`: runs of which no step was seen, so that
    nothing happened to them. `cut`: more faults were drawn than were played.
    """

    blows: tuple[Blow, ...]
    runs: tuple[RunEnd, ...]
    outputs: Outputs
    answers: tuple[str, str]
    rented: tuple[str, ...]
    unseen: tuple[str, ...] = ()
    cut: bool = False


def promises_of(shape: Shape, scale: Scale, seen: Seen) -> tuple[Promise, ...]:
    """Return all promises of a plan, kept or not."""
    return (
        _window(shape, seen),
        _budget(shape, seen),
        _loss(scale, seen),
        _runs(seen),
        _outputs(seen),
        _same_answer(seen),
        _rented(seen),
    )


def verdict_of(promises: Sequence[Promise]) -> Answer:
    """Return what they come to: broken when one is, not shown when one of the others is not, else held."""
    answers = {promise.answer for promise in promises}
    for worse in (Answer.BROKEN, Answer.NOT_SHOWN):
        if worse in answers:
            return worse
    return Answer.HELD


# --- time and money -----------------------------------------------------------------------------------


def _window(shape: Shape, seen: Seen) -> Promise:
    name = "window"
    if shape.window is None:
        return _unpromised(name, _("the campaign has no window"))
    delays = {place: blow.delay for place, blow in enumerate(seen.blows)}
    known = {place: delay for place, delay in delays.items() if delay is not None}

    def end_without(left_out: frozenset[int]) -> float | None:
        longer: dict[str, float] = {}
        for place, delay in known.items():
            if place not in left_out:
                run = seen.blows[place].run
                longer[run] = longer.get(run, 0.0) + delay
        return end_hours(shape, longer)

    end, promised = end_without(frozenset()), show_hours(shape.window)
    hours = (shape.window, end)
    if end is None:
        why = _("a duration of the plan is unknown")
        return Promise(name=name, answer=Answer.NOT_SHOWN, promised=promised, seen="-", why=why, hours=hours)
    found = Promise(name=name, answer=Answer.HELD, promised=promised, seen=show_hours(end), hours=hours)
    limit = shape.window + _ROUNDING

    def broken_without(left_out: frozenset[int]) -> bool:
        left = end_without(left_out)
        return left is not None and left > limit

    if end > limit:
        return _broken(found, seen, blame(broken_without, known), show_hours(end_without(_all(known)) or 0.0))
    return _doubted(_with_waits(found, shape, seen, shape.window - end), seen, len(known) < len(delays))


def _with_waits(found: Promise, shape: Shape, seen: Seen, slack: float) -> Promise:
    """Say how long the waits for other machines may be, where nobody has told how long they are."""
    waits = sum(blow.happened and blow.kind is not Kind.REFUSED for blow in seen.blows)
    if shape.pauses.away is not None or not waits:
        return found
    text = ngettext(
        "if another machine is to be had within {time} (interruption.away is not told)",
        "if another machine is to be had within {time}, {count} times (interruption.away is not told)",
        waits,
    )
    return replace(
        found,
        seen=_("at least {time}").format(time=found.seen),
        condition=text.format(time=show_hours(slack / waits), count=waits),
    )


def _budget(shape: Shape, seen: Seen) -> Promise:
    name = "budget"
    if shape.budget is None:
        return _unpromised(name, _("the campaign has no budget"))
    unknown = _cost_unknown(shape, seen)
    if unknown is not None:
        promised, money = str(shape.budget), (shape.budget, None)
        return Promise(
            name=name, answer=Answer.NOT_SHOWN, promised=promised, seen="-", why=unknown, money=money
        )
    held = {place: blow.held or 0.0 for place, blow in enumerate(seen.blows)}

    def spent_without(left_out: frozenset[int]) -> Money:
        return _spent(shape, [hours for place, hours in held.items() if place not in left_out])

    total = spent_without(frozenset())
    found = Promise(
        name=name,
        answer=Answer.HELD,
        promised=str(shape.budget),
        seen=str(total),
        money=(shape.budget, total),
    )
    budget = shape.budget.amount

    def broken_without(left_out: frozenset[int]) -> bool:
        return spent_without(left_out).amount > budget

    if total.amount > budget:
        return _broken(found, seen, blame(broken_without, held), str(spent_without(_all(held))))
    return _doubted(found, seen, any(blow.held is None for blow in seen.blows))


def _cost_unknown(shape: Shape, seen: Seen) -> str | None:
    """Say why nobody can tell what it costs; None: it can be told."""
    assert shape.budget is not None, "asked for a budget only"
    lease, currency = shape.lease, shape.budget.currency
    if lease is None:
        return _("no offer is taken")
    if lease.price is None:
        return _("the price of {offer} is unknown").format(offer=lease.offer)
    if shape.by_hour:
        return _("its prices go by the hour of the day")
    if machine_hours(shape) is None:
        return _("a duration of the plan is unknown")
    lot = lease.kind is LeaseKind.LOT
    lines = (*shape.other, *(shape.machine if lot else ()))
    missing = next((line for line in lines if line.amount is None), None)
    if missing is not None:
        return _("the price of {what} is unknown").format(what=missing.name)
    used = {lease.price.currency, *(line.amount.currency for line in lines if line.amount)}
    if used != {currency}:
        return _("prices in {currencies} do not add up without a dated rate").format(
            currencies=", ".join(sorted(used | {currency}))
        )
    if lot and _outlasts_its_lots(shape, seen):
        return _("the work ends after the lots that are planned, and another one is not reckoned with")
    return None


def _outlasts_its_lots(shape: Shape, seen: Seen) -> bool:
    assert shape.lease is not None, "asked for a lot only"
    longer: dict[str, float] = {}
    for blow in seen.blows:
        longer[blow.run] = longer.get(blow.run, 0.0) + (blow.delay or 0.0)
    before, now, term = end_hours(shape, {}), end_hours(shape, longer), shape.lease.term_seconds
    if before is None or now is None or not term:
        return True
    return -(-now * 3600 // term) > -(-before * 3600 // term)


def _spent(shape: Shape, held: Sequence[float]) -> Money:
    """Return what is paid when machines are held for their lanes' work and for these hours more.

    A lot costs its price. By the hour each lane's machine is held for its own work, and whatever replaces it
    is billed for itself, in begun units.
    """
    assert shape.lease is not None and shape.budget is not None, "asked for a known price only"
    lot = shape.lease.kind is LeaseKind.LOT
    total = Money(shape.budget.amount * 0, shape.budget.currency)
    for line in (*shape.other, *(shape.machine if lot else ())):
        total = total + (line.amount or total.times(0))
    if lot:
        return total
    lanes = [shape.pauses.boot + hours for hours in machine_hours(shape) or ()]
    for hours in (*lanes, *(more for more in held if more > 0)):
        total = total + (cost(shape.lease, round(hours * 3600, 6)) or total.times(0))
    return total


# --- what was seen in small ---------------------------------------------------------------------------


def _loss(scale: Scale, seen: Seen) -> Promise:
    name = "loss"
    if scale.bound is None and not scale.saves:
        return _unpromised(name, scale.bound_why)
    if scale.bound is None:
        return Promise(name=name, answer=Answer.NOT_SHOWN, promised="-", seen="-", why=scale.bound_why)
    happened = [blow for blow in seen.blows if blow.happened and blow.run]
    known = [blow for blow in happened if blow.lost is not None]
    worst = max((blow.lost or 0.0 for blow in known), default=0.0)
    found = Promise(
        name=name,
        answer=Answer.HELD,
        promised=show_hours(scale.bound),
        seen=show_hours(worst),
        why=scale.bound_why,
        hours=(scale.bound, worst),
    )
    over = [blow for blow in known if (blow.lost or 0.0) > scale.bound + _ROUNDING]
    if over:
        dearest = max(over, key=lambda blow: blow.lost or 0.0)
        return _because(found, [dearest], scale.bound_why)
    return _doubted(found, seen, len(known) < len(happened))


def _runs(seen: Seen) -> Promise:
    required = [run for run in seen.runs if run.required]
    done = [run for run in required if run.status == "completed"]
    found = Promise(
        name="runs",
        answer=Answer.HELD,
        promised=_("{count} required").format(count=len(required)),
        seen=_("{count} completed").format(count=len(done)),
    )
    failed = next((run for run in required if run.status != "completed"), None)
    if failed is None:
        return found
    last = [blow for blow in seen.blows if blow.happened and blow.run == failed.run][-1:]
    return _because(found, last, f"{failed.run}: {failed.why or failed.status}")


def _outputs(seen: Seen) -> Promise:
    name = "outputs"
    if not seen.outputs.promised:
        return _unpromised(name, _("the campaign promises no output"))
    good = seen.outputs.promised - len(seen.outputs.failed)
    found = Promise(
        name=name,
        answer=Answer.HELD,
        promised=_("{count} reload").format(count=seen.outputs.promised),
        seen=_("{count} reloaded").format(count=good),
    )
    if not seen.outputs.failed:
        return found
    run, why = seen.outputs.failed[0]
    return _because(found, [blow for blow in seen.blows if blow.happened and blow.run == run], why)


def _same_answer(seen: Seen) -> Promise:
    undisturbed, disturbed = seen.answers
    found = Promise(name="answer", answer=Answer.HELD, promised=undisturbed, seen=disturbed)
    if undisturbed == disturbed:
        return found
    return _because(found, [blow for blow in seen.blows if blow.happened], _("it hangs on the faults"))


def _rented(seen: Seen) -> Promise:
    none = _("no machine left")
    found = Promise(name="rented", answer=Answer.HELD, promised=none, seen=none)
    if not seen.rented:
        return found
    left = _("left: {machines}").format(machines=", ".join(seen.rented))
    return Promise(name="rented", answer=Answer.BROKEN, promised=none, seen=left)


# --- words --------------------------------------------------------------------------------------------


def show_hours(hours: float) -> str:
    """Return hours of the plan as people say them."""
    return show_duration(timedelta(hours=hours))


def _unpromised(name: str, why: str) -> Promise:
    return Promise(name=name, answer=Answer.UNPROMISED, promised="-", seen="-", why=why)


def _all(places: Mapping[int, object]) -> frozenset[int]:
    return frozenset(places)


def _doubted(found: Promise, seen: Seen, unknown: bool) -> Promise:
    """Return a promise that was kept as far as it was seen; where not all was, it is not shown."""
    why = None
    if unknown:
        why = _("what some of the faults cost is unknown")
    elif seen.unseen:
        names = ", ".join(seen.unseen)
        why = _("no step was seen of {names}: nothing happened to them").format(names=names)
    elif seen.cut:
        why = _("more faults were drawn than were played")
    if why is None:
        return found
    return replace(found, answer=Answer.NOT_SHOWN, why=why)


def _broken(found: Promise, seen: Seen, culprits: Blame, undisturbed: str) -> Promise:
    """Return a promise of time or money that was broken, with the losses without which it was not."""
    blows = [seen.blows[place] for place in culprits.of]
    if not blows:
        why = _("none of the faults: undisturbed it is {undisturbed} already").format(undisturbed=undisturbed)
        return replace(found, answer=Answer.BROKEN, why=why)
    told = _told(blows)
    why = (
        _("without {faults} it would have held").format(faults=told)
        if culprits.alone
        else _("only without all of {faults} it would have held").format(faults=told)
    )
    return replace(found, answer=Answer.BROKEN, why=why, faults=tuple(blow.index for blow in blows))


def _because(found: Promise, blows: Sequence[Blow], why: str) -> Promise:
    told = f"{_told(blows)}; {why}" if blows else _("none of the faults; {why}").format(why=why)
    return replace(found, answer=Answer.BROKEN, why=told, faults=tuple(blow.index for blow in blows))


def _told(blows: Sequence[Blow]) -> str:
    return ", ".join(_name(blow) for blow in blows)


def _name(blow: Blow) -> str:
    """Return what a loss is called: by its number, counted from 1."""
    if blow.index is None:
        return _("a fault of {run} that nobody has drawn").format(run=blow.run)
    return _("fault {number}").format(number=blow.index + 1)
