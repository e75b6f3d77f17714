from __future__ import annotations

from decimal import Decimal

from lastro.closeout.account import count_accepted, per_accepted, why_none
from lastro.closeout.judge import Judgement, Verdict
from lastro.journal.views import CostView
from lastro.units import Money

COST = CostView(lines=(), total=Money(Decimal("9.00"), "USD"), reason=None, by_currency=())
UNKNOWN = CostView(lines=(), total=None, reason="offer 'x' has no price", by_currency=())


def judged(run: str, name: str, verdict: Verdict, duplicate_of: str | None = None) -> Judgement:
    return Judgement(run=run, name=name, path=name, verdict=verdict, why="", duplicate_of=duplicate_of)


JUDGED = [
    judged("a", "model", Verdict.ACCEPTED),
    judged("a", "predictions", Verdict.ACCEPTED),
    judged("b", "model", Verdict.ACCEPTED, "a/model"),
    judged("b", "predictions", Verdict.REJECTED),
    judged("c", "model", Verdict.ACCEPTED),
    judged("c", "predictions", Verdict.PRODUCED),
]


def test_the_whole_bill_is_divided_by_what_was_accepted() -> None:
    money, reason = per_accepted(COST, 2, "model")

    assert reason is None
    assert money is not None
    assert money.as_json() == {"amount": "4.50", "currency": "USD"}


def test_undefined_has_its_reason_and_is_never_zero() -> None:
    assert per_accepted(COST, 2, None) == (None, "the decision rule names no unit")
    assert per_accepted(COST, 0, "model") == (None, "undefined: 0 accepted")
    assert per_accepted(UNKNOWN, 2, "model") == (None, "offer 'x' has no price")


def test_accepted_outputs_of_the_unit_count_and_duplicates_once() -> None:
    assert count_accepted(JUDGED, "model") == 2
    assert count_accepted(JUDGED, "predictions") == 1
    assert count_accepted(JUDGED, "run") == 2
    assert count_accepted(JUDGED, None) == 0


def test_undefined_tells_what_each_unit_failed_by() -> None:
    money, reason = per_accepted(COST, 0, "predictions", why_none(JUDGED[3:], "predictions"))

    assert money is None
    assert reason == "undefined: 0 accepted (b/predictions: rejected: ; c/predictions: produced: )"


def test_one_corpus_that_was_delivered_five_times_is_one() -> None:
    """9.00 USD for one corpus and four of the same content: 9.00 each, not 1.80."""
    delivered = [judged("a", "corpus", Verdict.ACCEPTED)]
    delivered += [judged(run, "corpus", Verdict.ACCEPTED, "a/corpus") for run in "bcde"]

    money, _reason = per_accepted(COST, count_accepted(delivered, "corpus"), "corpus")

    assert str(money) == "9.00 USD"
