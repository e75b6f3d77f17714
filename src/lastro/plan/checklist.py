"""What of a provider's checklist is missing, expired or wrong for a plan, and how long it takes. Pure."""

from __future__ import annotations

import datetime as dates
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from lastro.locale import _
from lastro.plan.eligible import lies_in
from lastro.plan.levels import NOTE, WARN
from lastro.plan.parts import Finding
from lastro.records import dataclass
from lastro.spec.checklist import Checklist, Done, Key, Provider, Quota, Residency, Support
from lastro.spec.offers import Offer

#: Machines of these are this box: nothing is rented.
_THIS_BOX = ("here", "local")

ItemName = Literal[
    "quota", "identity", "key", "alert", "apart", "support", "image", "residency", "subprocessors", "invoice"
]


@dataclass(frozen=True, kw_only=True)
class Item:
    """One line of the checklist. `holds_days`: after so long it is to be looked at again. Assumed.

    `takes_days`: how long it takes from the beginning where nobody has measured it, assumed; None: an
    offer's lead time says it, or nobody.
    """

    name: ItemName
    holds_days: int
    takes_days: float | None

    def what(self) -> str:
        """Return what is to be done, in words."""
        return {
            "quota": _("quota for the cards, asked for and answered"),
            "identity": _("identity check, papers by reference"),
            "key": _("key of its own with a scope and a day of rotation"),
            "alert": _("spending alert, and the limit of the card"),
            "apart": _("production apart from experiments"),
            "support": _("support tried: time to a useful answer"),
            "image": _("image mirrored to a place of one's own"),
            "residency": _("where the data lies, by contract"),
            "subprocessors": _("sub-processors and transfer clauses read"),
            "invoice": _("invoice with its taxes seen, from a week of trial"),
        }[self.name]


ITEMS: tuple[Item, ...] = (
    Item(name="quota", holds_days=180, takes_days=None),
    Item(name="identity", holds_days=365, takes_days=3),
    Item(name="key", holds_days=90, takes_days=0.1),
    Item(name="alert", holds_days=180, takes_days=0.1),
    Item(name="apart", holds_days=365, takes_days=0.5),
    Item(name="support", holds_days=180, takes_days=2),
    Item(name="image", holds_days=90, takes_days=0.5),
    Item(name="residency", holds_days=365, takes_days=5),
    Item(name="subprocessors", holds_days=180, takes_days=1),
    Item(name="invoice", holds_days=365, takes_days=7),
)


@dataclass(frozen=True, kw_only=True)
class Needed:
    """What a plan needs of one provider.

    Args:
        provider: by its name.
        gpus: classes of its cards, as the offers file writes them, with how many at once.
        jurisdictions: in which the data may lie; empty: anywhere.
        until: the last day on which all has to hold.
        lead_days: how long a first machine takes there, by the offers file; None: it does not say.
    """

    provider: str
    gpus: Mapping[str, int]
    jurisdictions: tuple[str, ...]
    until: dates.date
    lead_days: float | None = None


@dataclass(frozen=True, kw_only=True)
class State:
    """How one item stands: done | expires | expired | waiting | missing | wrong, with the reason.

    `takes_days` None: nobody knows how long it takes. `origin` says where that number comes from.
    """

    provider: str
    item: Item
    state: str
    why: str
    takes_days: float | None
    origin: str

    @property
    def is_open(self) -> bool:
        return self.state != "done"

    def as_json(self) -> dict[str, Any]:
        return {
            "provider": self.provider,
            "item": self.item.name,
            "what": self.item.what(),
            "state": self.state,
            "why": self.why,
            "takes_days": self.takes_days,
            "origin": self.origin,
        }


def needed_of(
    offers: Iterable[Offer],
    machines: int,
    jurisdictions: tuple[str, ...],
    until: dates.date,
) -> tuple[Needed, ...]:
    """Return what the offers of a plan need, by provider; offers that name none need nothing of any."""
    found: dict[str, Needed] = {}
    for offer in offers:
        if offer.provider is None or offer.provider in _THIS_BOX:
            continue
        before = found.get(offer.provider)
        gpus = dict(before.gpus) if before else {}
        if offer.gpu is not None:
            gpus[offer.gpu] = max(gpus.get(offer.gpu, 0), offer.gpus * machines)
        leads = [offer.lead.total_seconds() / 86400] if offer.lead is not None else []
        leads += [before.lead_days] if before and before.lead_days is not None else []
        found[offer.provider] = Needed(
            provider=offer.provider,
            gpus=gpus,
            jurisdictions=jurisdictions,
            until=until,
            lead_days=max(leads, default=None),
        )
    return tuple(found.values())


def states(checklist: Checklist | None, needed: tuple[Needed, ...], today: dates.date) -> tuple[State, ...]:
    """Return how every item of every provider stands that a plan needs. Pure.

    Args:
        checklist: None: there is no file.
        needed: from `needed_of`.
        today: the day on which it is asked.
    """
    return tuple(
        _state(checklist.providers.get(one.provider) if checklist else None, one, item, today)
        for one in needed
        for item in ITEMS
    )


def _state(known: Provider | None, needed: Needed, item: Item, today: dates.date) -> State:
    entry: Done | None = getattr(known, item.name) if known is not None else None
    state, why = _judged(entry, needed, item, today)
    takes, origin = item.takes_days, _("assumed")
    if item.name == "quota" and needed.lead_days is not None:
        takes, origin = needed.lead_days, _("lead time in the offers file")
    elif takes is None:
        origin = _("nobody has said it")
    return State(provider=needed.provider, item=item, state=state, why=why, takes_days=takes, origin=origin)


def _judged(entry: Done | None, needed: Needed, item: Item, today: dates.date) -> tuple[str, str]:
    if entry is None:
        return "missing", _("nothing is written of it")
    if isinstance(entry, Quota) and entry.done is None:
        return "waiting", _("asked for on {day}, and not answered").format(day=entry.asked)
    if entry.done > today:
        return "missing", _("it is to be done on {day}").format(day=entry.done)
    wrong = _wrong(entry, needed)
    if wrong is not None:
        return "wrong", wrong
    ends = _ends(entry, item)
    if ends < today:
        return "expired", _("done on {day}, it held until {ends}").format(day=entry.done, ends=ends)
    if ends < needed.until:
        return "expires", _("it holds until {ends}, and the plan needs it until {until}").format(
            ends=ends, until=needed.until
        )
    return "done", _("{day}, holds until {ends}").format(day=entry.done, ends=ends)


def _ends(entry: Done, item: Item) -> dates.date:
    """Return the last day on which an entry holds: what stands there, else the usual time."""
    days = [entry.until or entry.done + dates.timedelta(days=item.holds_days)]
    if isinstance(entry, Key):
        days = [entry.rotate_by, *([entry.until] if entry.until is not None else [])]
    return min(days)


def _wrong(entry: Done, needed: Needed) -> str | None:
    """Return what an entry says that this plan cannot do with; None where there is nothing."""
    if isinstance(entry, Quota) and entry.gpus:
        for gpu, count in needed.gpus.items():
            had = entry.gpus.get(gpu, 0)
            if had < count:
                return _("quota for {had} of {gpu}, the plan needs {count}").format(
                    had=had, gpu=gpu, count=count
                )
    if isinstance(entry, Residency) and needed.jurisdictions:
        allowed = [place for place in needed.jurisdictions if lies_in(entry.jurisdiction, [place])]
        if not allowed:
            return _("the data lies in {place}; allowed are {allowed}").format(
                place=entry.jurisdiction, allowed=", ".join(needed.jurisdictions)
            )
    if isinstance(entry, Support) and entry.useful_answer is None:
        return _("no useful answer came")
    return None


def template(needed: tuple[Needed, ...], today: dates.date) -> str:
    """Return a checklist to be filled in, of the providers that a plan needs; every line is a comment."""
    lines = [
        "# " + _("What was done with each provider, and when. Papers by reference, never copied here."),
        "# " + _("Take the # away from a line when it was done; docs/checklist.md says what each means."),
        "providers:",
    ]
    for one in needed:
        lines.append(f"  {one.provider}:")
        gpus = ", ".join(f'"{gpu}": {count}' for gpu, count in one.gpus.items())
        lines += ["    # " + line for line in _EXAMPLES.format(day=today, gpus=gpus).splitlines()]
    return "\n".join(lines) + "\n"


_EXAMPLES = """\
quota: {{asked: {day}, done: {day}, gpus: {{{gpus}}}}}
identity: {{done: {day}, ref: "drawer 2, folder A"}}
key: {{done: {day}, scope: "start, stop, list", rotate_by: {day}}}
alert: {{done: {day}, at: 50 USD, card_limit: 200 USD}}
apart: {{done: {day}, note: "a project of its own"}}
support: {{done: {day}, useful_answer: 4h}}
image: {{done: {day}, ref: "registry.example.org/train@sha256:..."}}
residency: {{done: {day}, jurisdiction: BR}}
subprocessors: {{done: {day}, clauses: "contract, annex 3"}}
invoice: {{done: {day}, tax: "ISS shown", total: 12.34 USD}}"""


def findings_of_checklist(found: Iterable[State]) -> Iterator[Finding]:
    """Return one finding for each provider of which something is open, with what takes longest. Pure."""
    by_provider: dict[str, list[State]] = {}
    for state in found:
        if state.is_open:
            by_provider.setdefault(state.provider, []).append(state)
    for provider, states_of in by_provider.items():
        names = ", ".join(f"{one.item.name} ({one.state})" for one in states_of)
        days = [one.takes_days for one in states_of if one.takes_days is not None]
        text = _(
            "checklist of {provider}: {count} of {all} open: {names}; the longest takes {days:g} d"
        ).format(
            provider=provider, count=len(states_of), all=len(ITEMS), names=names, days=max(days, default=0)
        )
        wrong = any(one.state in ("expired", "wrong") for one in states_of)
        yield Finding(code="checklist_open", level=WARN if wrong else NOTE, text=text)
