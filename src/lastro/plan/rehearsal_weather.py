"""What a rehearsal lets happen to machines: by what is known of an offer, else one of each kind."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from lastro.locale import _
from lastro.plan.lifetimes import Lifetimes
from lastro.plan.on_spot import lifetimes_of
from lastro.records import dataclass
from lastro.spec.offers import Offer

#: Of machines that announce their end, so many do not: notices are best effort wherever they are given.
SUDDEN_SHARE = 0.25
#: So many losses are machines that say nothing any more, and of which nobody says that they are gone.
SILENT_SHARE = 0.1
#: So often a machine is not to be had when it is asked for. All three are assumed: no offer says them.
REFUSED_SHARE = 0.25
#: The shortest notice of the clouds below, where nothing is known and each kind is to be seen once.
ASSUMED_NOTICE = 30.0
#: Seconds by which clouds announce the end of a machine; docs/machines.md says where that is told.
NOTICES: Mapping[str, float] = {"aws": 120.0, "gcp": 30.0, "azure": 30.0}


class Kind(str, Enum):
    """What can happen to a machine."""

    NOTICE = "notice"  # it is taken away, and says so before
    SUDDEN = "sudden"  # it is taken away without a word
    SILENT = "silent"  # it freezes: nobody hears of it, and nobody says that it is gone
    REFUSED = "refused"  # it is not to be had when it is asked for


@dataclass(frozen=True, kw_only=True)
class Weather:
    """What losses are drawn from. `lives` None: nothing is known, and each kind comes once.

    `notice`: seconds; None: no machine of this offer announces its end, as far as anybody knows. `origin`,
    and each of `assumed`, is a sentence or a part of one for the reader.
    """

    lives: Lifetimes | None
    notice: float | None
    origin: str
    assumed: tuple[str, ...] = ()


def weather_of(offer: Offer | None) -> Weather:
    """Return the weather of the offer that a plan takes; None: it takes none."""
    lives = lifetimes_of(offer) if offer is not None else None
    notice = _notice(offer)
    if offer is None or lives is None:
        why = (
            _("no offer is taken, so there is no history to draw from")
            if offer is None
            else _("nothing says how long machines of {offer} live").format(offer=offer.name)
        )
        told = _("a notice of {seconds:.0f} s").format(seconds=ASSUMED_NOTICE)
        return Weather(
            lives=None,
            notice=notice or ASSUMED_NOTICE,
            origin=_("{why}: each kind of fault comes once").format(why=why),
            assumed=() if notice else (told,),
        )
    assumed: tuple[str, ...] = (
        _("{share:.0%} of losses are silent").format(share=SILENT_SHARE),
        _("{share:.0%} of requests are refused").format(share=REFUSED_SHARE),
    )
    if notice:
        assumed = (_("{share:.0%} of losses come without notice").format(share=SUDDEN_SHARE), *assumed)
    return Weather(lives=lives, notice=notice or None, origin=_origin(offer, lives, notice), assumed=assumed)


def _notice(offer: Offer | None) -> float | None:
    """Return the seconds of notice that machines of an offer give; None: unknown, 0: none."""
    if offer is None:
        return None
    if offer.notice is not None:
        return offer.notice.total_seconds()
    return NOTICES.get((offer.provider or "").casefold())


def _origin(offer: Offer, lives: Lifetimes, notice: float | None) -> str:
    text = (
        _("{count} lives of {offer} were observed, {hours:.3g} h on average")
        if lives.observed
        else _("{offer} is declared to be interrupted every {hours:.3g} h")
    )
    told = text.format(count=len(lives.hours), offer=offer.name, hours=lives.mean)
    if notice is None:
        return _("{lives}; nothing says that it gives notice, so it gives none").format(lives=told)
    if not notice:
        return _("{lives}; it gives no notice").format(lives=told)
    return _("{lives}; it gives {seconds:.0f} s of notice").format(lives=told, seconds=notice)
