"""What is done when no further offer of the plan is left: as the plan says. Pure."""

from __future__ import annotations

from lastro.flow.next_offer import Nothing
from lastro.locale import _
from lastro.plan.rung import Rung
from lastro.records import dataclass
from lastro.rules.moving import ASK, WAIT


@dataclass(frozen=True, kw_only=True)
class AskAgain:
    """This offer is asked once more."""

    rung: Rung
    why: str


@dataclass(frozen=True, kw_only=True)
class Question:
    """A person has to say how it goes on."""

    why: str


@dataclass(frozen=True, kw_only=True)
class End:
    """Nothing more is asked for. `what`: the code of the reason, see `next_offer`."""

    what: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Tried:
    """What this command has tried. `refusals`: in a row. `times`: refusals and rejected machines in all.

    `rejected`: it has let a machine go before any work, and has had none since that could be used.
    """

    refusals: int = 0
    times: int = 0
    rejected: bool = False


def none_left(
    nothing: Nothing, then: str, tried: Tried, *, most: int, waiting: str
) -> AskAgain | Question | End:
    """Return how it goes on. Whoever types `lastro run` has the last offer asked again, whatever it showed.

    Args:
        nothing: why no other offer is left, and what may have a machine later.
        then: stop, ask or wait.
        tried: by this command.
        most: refusals in a row after which a campaign that stops asks no more.
        waiting: what waiting costs, in words.
    """
    open_ones = list(nothing.askable)
    if not tried.rejected and nothing.rung not in open_ones:
        open_ones.insert(0, nothing.rung)
    end = End(what=nothing.what, why=nothing.why)
    if then == ASK:
        if tried.rejected or tried.times >= len(open_ones):
            return Question(why=_question(nothing.why, waiting))
    elif then == WAIT:
        if not open_ones:
            return end
    elif tried.rejected or tried.refusals > most:
        return end
    rung = open_ones[tried.refusals % len(open_ones)]
    return AskAgain(rung=rung, why=_("no other offer is left; {waiting}").format(waiting=waiting))


def _question(why: str, waiting: str) -> str:
    return _(
        "no offer of the plan is left ({why}). {waiting}. `lastro run` asks once more; other offers, or "
        "those that were left: `lastro run --revise WHY`; to end it: `lastro close`"
    ).format(why=why, waiting=waiting[:1].upper() + waiting[1:])
