from __future__ import annotations

import math
import random
import re
from html.parser import HTMLParser

import pytest

from lastro.journal.events import EventType as E
from lastro.view.html import render
from lastro.view.model import page_of
from lastro.view.parts import PerAccepted
from lastro.view.series import Measured, Points, compose
from tests.view.story import HOURLY, Story, adopted, curve, planned


class Reader(HTMLParser):
    """Reads the texts of a page, and complains of tags that are not closed in their order."""

    _VOID = frozenset(("meta", "link", "br", "img"))

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in self._VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def test_the_report_tells_the_verdict_the_cost_and_what_was_lost() -> None:
    text = Reader(render(page_of(adopted().view()))).text
    facts = (
        "Adopt wide",
        "wide is better by 0.05",
        "+0.05",
        "reaches the margin",
        "0.60 USD",
        "machine lost",
        "the machine is gone",
        "2 min 02 s",
        "fresh process",
        "d" * 64,
        "non-finite value: loss",
    )
    for fact in facts:
        assert fact in text, fact


def test_the_same_page_gives_the_same_text() -> None:
    assert render(page_of(adopted().view())) == render(page_of(adopted().view()))


def test_the_report_asks_no_network_and_runs_no_script() -> None:
    html = render(page_of(adopted().view()))
    assert not {"script", "iframe", "object", "embed", "base"} & set(Reader(html).tags)
    assert re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?(?!data:|#)[^\s"')]+""", html) == []
    assert "//" not in re.sub(r"<style>.*?</style>", "", html, flags=re.S)
    assert "default-src 'none'" in html


def test_names_reasons_and_configurations_are_escaped() -> None:
    evil = "<script>alert(1)</script>\"'&"
    plan = planned(question=evil)
    plan["runs"].append(
        {"id": "id-evil", "name": evil, "priority": "useful", "config": {evil: evil}, "command": []}
    )
    story = Story(plan)
    story.machine(evil, 0, {**HOURLY, "source": evil})
    story.start("evil", 1, 1)
    story.end("evil", 1, 2, "crashed", 3, evil)
    story.home(3, E.PLAN_REVISED, digest=evil, plan=plan, why=evil)
    story.conclude("undecided", None, evil)
    measured = {"id-evil": Measured(series={evil: curve(evil, [(1, 1.0), (2, math.nan)])})}
    html = render(
        page_of(story.view(), measured, folder=evil, per_accepted=PerAccepted(reason=evil, unit=evil))
    )
    assert "<script" not in html
    assert "\"'&" not in html
    assert "script" not in Reader(html).tags


def test_unknown_is_never_shown_as_zero() -> None:
    story = Story(planned())
    story.machine("m-1", 0, None)
    page = page_of(story.view())
    html = render(page)
    card = Reader(html[html.index("<h2>Cost</h2>") : html.index("<section>")].rsplit("</div>", 2)[0]).text
    assert "unknown" in card and "no price was given" in card
    assert not re.search(r"\b0(\.0+)? USD", Reader(html).text)


def test_an_undefined_cost_per_unit_says_why() -> None:
    page = page_of(adopted().view(), per_accepted=PerAccepted(reason="undefined: 0 accepted", unit="run"))
    assert "per accepted run undefined 0 accepted" in Reader(render(page)).text


@pytest.mark.parametrize(
    "plan", [None, planned(), planned("wide", decision=None, calendar=[], stop=[], budget=None)]
)
def test_a_campaign_that_has_not_started_has_a_report(plan: dict[str, object] | None) -> None:
    assert "nothing rented" in Reader(render(page_of(Story(plan).view()))).text


def test_a_campaign_that_still_runs_has_a_report() -> None:
    story = Story(planned("wide"))
    story.machine("m-1", 0)
    story.start("control", 1, 1)
    text = Reader(render(page_of(story.view(10)))).text
    for fact in (
        "Running: control",
        "steps at risk",
        "nothing yet",
        "per hour now",
        "still running",
        "not yet",
    ):
        assert fact in text, fact


def test_a_nan_is_told() -> None:
    story = Story(planned())
    story.start("control", 1, 1)
    story.end("control", 1, 2, "stop_rule", 2, "loss is nan at step 2")
    measured = {
        "id-control": Measured(series={"loss": curve("loss", [(1, 1.0), (2, math.nan)])}, damaged_lines=2)
    }
    text = Reader(render(page_of(story.view(), measured))).text
    for fact in ("NaN", "loss is nan at step 2", "stop rule", "2 damaged lines of measurements left out"):
        assert fact in text, fact


def test_a_scripted_loss_is_not_passed_off_as_a_real_one() -> None:
    story = adopted()
    story.home(6, E.FAULT_FIRED, index=0, run="control", step=140, notice_seconds=None)
    assert (
        "1 of these losses was scripted: this was a rehearsal." in Reader(render(page_of(story.view()))).text
    )


def test_eight_runs_of_six_metrics_and_100k_points_stay_within_250_kib() -> None:
    names = [f"variant-{number}" for number in range(7)]
    plan = planned(*names)
    chance = random.Random(1)
    noise = Points()
    for step in range(100_000):
        noise.add(step, chance.random())
    # Noise: the extremes of each bucket differ, so that no line is short.
    series = compose([{f"metric-{number}": noise for number in range(6)}])
    measured = {run["id"]: Measured(series=series) for run in plan["runs"]}
    html = render(page_of(Story(plan).view(), measured))
    assert html.count('class="band') == 48
    assert len(html.encode()) <= 250 * 1024


def test_the_language_of_the_page_is_that_of_its_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LASTRO_LANG", "xx_YY")  # there is no such catalogue: the texts are English
    assert '<html lang="en">' in render(page_of(adopted().view()))


def test_how_sure_the_answer_is_stands_beside_it() -> None:
    """An interval, a paired difference, and the rows in which the two disagree."""
    story = adopted()
    rows = [
        {"run": "id-control", "name": "control", "counts": True, "why_not": None, "difference": None,
         "interval": {"mean": 0.9, "low": 0.85, "high": 0.94, "count": 200, "method": "bootstrap"},
         "disagreement": None},
        {"run": "id-wide", "name": "wide", "counts": True, "why_not": None,
         "interval": {"mean": 0.95, "low": 0.92, "high": 0.98, "count": 200, "method": "bootstrap"},
         "difference": {"mean": 0.05, "low": 0.01, "high": 0.09, "count": 200, "method": "bootstrap"},
         "disagreement": {"better": 14, "worse": 4, "same": 182, "rows_worse": [],
                          "rows_better": [{"id": "i7", "label": "<3>", "control": "8", "variant": "3"}]}},
    ]  # fmt: skip
    changed = [{"at": "2026-11-30T09:30:00.000000Z", "why": "a slip"}]
    evidence = {"runs": rows, "rule_changed": changed}
    story.home(
        93, E.CAMPAIGN_CONCLUDED, verdict="adopt", run="id-wide", why="it is better", evidence=evidence
    )

    html = render(page_of(story.view()))

    text = Reader(html).text
    assert "0.92 to 0.98" in text and "+0.01 to +0.09" in text
    assert "Where wide and the control disagree" in text
    assert "&lt;3&gt;" in html
    assert "The rule was changed at 2026-11-30 09:30:00 UTC: a slip" in text
    assert "How sure" not in Reader(render(page_of(adopted().view()))).text
