"""The checklist of a provider: what a person has done with it, and when, so that it can expire.

Papers stay where they are: an entry has a reference to them, never a copy.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from lastro.locale import _
from lastro.spec.base import Amount, Contradiction, Duration, Name, Problem, Strict, Text
from lastro.spec.load import load_file
from lastro.spec.prices import Seen, SeenOn


class Done(Strict):
    """Something that was done on a day. `ref` says where its papers are; `until`: it holds to that day."""

    done: SeenOn
    until: Seen = None
    ref: Text | None = None
    note: Text | None = None

    @model_validator(mode="after")
    def _holds_after_it_was_done(self) -> Done:
        if self.until is not None and self.until < self.done:
            text = _("it ends on {until}, before it was done on {done}").format(
                until=self.until, done=self.done
            )
            raise Contradiction(Problem(("until",), text))
        return self


class Quota(Done):
    """Room that was asked for: `done` is the day of the answer; before that there is only `asked`.

    `gpus`: of which class, how many.
    """

    done: Seen = None  # type: ignore[assignment]  # unlike the others it may be on its way
    asked: SeenOn
    gpus: Annotated[dict[str, Annotated[int, Field(ge=0)]], Field(default_factory=dict)]

    @model_validator(mode="after")
    def _holds_after_it_was_done(self) -> Quota:
        first = self.done or self.asked
        if first < self.asked or (self.until is not None and self.until < first):
            raise Contradiction(Problem(("done",), _("its days are not in the order asked, done, until")))
        return self


class Key(Done):
    """A key of its own for this work. `scope`: what it may do. `rotate_by`: it is replaced by then."""

    scope: Text
    rotate_by: SeenOn


class Alert(Done):
    """What warns of spending. `card_limit`: what the card itself lets through at most."""

    at: Amount
    card_limit: Amount | None = None


class Support(Done):
    """A question to the support. `useful_answer`: the time to an answer that helped; None: there was none."""

    useful_answer: Duration | None = None


class Residency(Done):
    """Where the data lies by contract. `jurisdiction` as in the offers file."""

    jurisdiction: Text


class Transfer(Done):
    """Who else sees the data. `clauses`: the clauses by which it may leave its jurisdiction, by reference."""

    clauses: Text | None = None


class Invoice(Done):
    """An invoice that was read, of a week of trial. `tax`: how it shows taxes; `total` as it was paid."""

    tax: Text
    total: Amount | None = None


class Provider(Strict):
    """What was done with one provider; what is not there was not done."""

    quota: Quota | None = None
    identity: Done | None = None
    key: Key | None = None
    alert: Alert | None = None
    apart: Done | None = None
    support: Support | None = None
    image: Done | None = None
    residency: Residency | None = None
    subprocessors: Transfer | None = None
    invoice: Invoice | None = None


def _nothing_yet(value: object) -> object:
    """A provider below which every line is still a comment is one with which nothing was done."""
    return {} if value is None else value


class Checklist(Strict):
    """`checklist.yaml`: providers by the name that the offers file gives them."""

    providers: dict[Name, Annotated[Provider, BeforeValidator(_nothing_yet)]]


def load_checklist(path: Path) -> Checklist | None:
    """Read a checklist file; None where there is none. Raises CampaignInvalid for what is wrong with it."""
    if not path.exists():
        return None
    return load_file(Checklist, path, what=_("a checklist"), hint=_("docs/checklist.md shows every key"))
