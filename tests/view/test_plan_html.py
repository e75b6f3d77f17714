from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lastro.plan.learned import Learned
from lastro.plan.model import Plan
from lastro.plan.parts import Finding, Span
from lastro.plan.points import DecisionPoint
from lastro.view.html import style
from lastro.view.plan_html import headline, render_plan
from tests.plan.planning import plan as planned
from tests.view.plans import cost, option, plan_of, refused, usd
from tests.view.test_html import Reader

ROOT = Path(__file__).parents[2]


def page(made: Plan, *, frozen: bool = False) -> str:
    return render_plan(made, [], frozen=frozen)


@pytest.fixture
def made(tmp_path: Path) -> Plan:
    others = (
        option(
            "2 x three days", machines=2, cost=cost(("machine", "60"), ("disk", "10")), proven=False, gap=0.4
        ),
        option("late", fits_window=False, slack_hours=-4.0, roles=("cheapest violation",)),
    )
    found = (
        Finding(code="x", level="note", text="use `lastro drill`"),
        Finding(code="y", level="fail", text="no"),
    )
    return plan_of(tmp_path, option(), *others, refused("a month", "it is too dear"), findings=found)


def test_the_page_tells_all_that_one_chooses_by(made: Plan) -> None:
    text = Reader(page(made)).text

    facts = (
        "40.00 USD, done after 20 h 00 min",
        "it is the cheapest",
        "20 h 00 min of the window are left",
        "15 h 00 min to 26 h 00 min",
        "2 x three days",
        "too long for the window",
        "comes nearest to fitting",
        "it is too dear",
        "proven: nothing below 40.00 USD does the same",
        "bound 40.00 USD, 40 % below this",
        "25 %",
        "machine 60.00 USD",
        "disk 10.00 USD",
        "a price list",
        "wide",
        "use lastro drill",
    )
    assert [fact for fact in facts if fact not in text] == []
    assert text.index("impossible") < text.index("note use"), "the worst comes first"


def test_the_page_needs_no_network_and_no_script(made: Plan) -> None:
    text = page(made)

    assert not {"script", "iframe", "object", "img"} & set(Reader(text).tags)
    assert re.findall(r"""(?:src|href)=["'](?!data:,)|url\(|@import|https?://""", text) == []


def test_the_same_plan_gives_the_same_page(made: Plan) -> None:
    assert page(made) == page(made)
    assert "not frozen" in page(made) and "not frozen" not in page(made, frozen=True)


def test_names_and_reasons_of_users_are_no_markup(tmp_path: Path) -> None:
    evil = "<b onclick='x'>`&"
    one = option(evil, why=evil, notes=(evil,))
    text = page(plan_of(tmp_path, one, refused(evil + "2", evil), question=evil, lease_why=evil))

    Reader(text)
    assert "<b onclick" not in text


def test_every_picture_is_told_to_who_does_not_see_it(made: Plan) -> None:
    """Drawings are hidden from a screen reader, or have a text; a timeline has one for all its rows."""
    text = page(made)

    assert [tag for tag in re.findall(r"<svg[^>]*>", text) if _needs_text(tag)] == []
    lines = re.findall(r'<div class="timeline[^>]*role="img" aria-label="([^"]+)"', text)
    assert len(lines) == 4, "the calendar, and one of each of three options"
    assert all("run control on GPU 1: from 2 to 10 h" in line for line in lines)


def _needs_text(tag: str) -> bool:
    inner = 'overflow="visible"' in tag  # a mark within a drawing
    return not inner and "aria-hidden" not in tag and "aria-label" not in tag


def test_unknown_is_a_word_and_never_a_zero(tmp_path: Path) -> None:
    text = Reader(page(planned(tmp_path))).text

    assert "Nothing is priced yet" in text
    assert text.count("unknown") >= 3
    assert not re.search(r"\b0(\.0+)? (USD|h|s|GB|%)", text)


@pytest.mark.parametrize(
    ("change", "verdict", "text"),
    [
        ({}, "adopt", "40.00 USD, done after 20 h 00 min"),
        (
            {"fits_budget": None, "cost": cost(("machine", "9"), ("disk", None))},
            "undecided",
            "at least 9.00 USD",
        ),
        ({"fits_window": False}, "stopped", "It does not fit: too long for the window"),
    ],
)
def test_the_headline_says_what_it_comes_to(
    tmp_path: Path, change: dict[str, Any], verdict: str, text: str
) -> None:
    told = headline(plan_of(tmp_path, option(**change)))

    assert told.verdict == verdict
    assert told.text.startswith(text)


def test_a_plan_of_which_no_offer_can_be_taken_says_so(tmp_path: Path) -> None:
    made = plan_of(tmp_path, refused("x", "too small"), option=None, lease_why="none can be taken")

    assert headline(made).text == "Nothing can be rented for it"
    assert "too small" in Reader(page(made)).text


def test_options_share_one_axis_of_money(made: Plan) -> None:
    """To the budget of 80 USD: 40 is half of it, and 60 with 10 is seven eighths."""
    bars = re.findall(r'<svg class="stacked".*?</svg>', page(made), re.S)
    ends = [
        max(float(x) + float(w) for x, w in re.findall(r'x="([\d.]+)%" width="([\d.]+)%"', bar))
        for bar in bars
    ]

    assert ends == [50, 87.5, 50]


def _colours(block: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})\b", block))


def _light(colour: str) -> float:
    """Return the relative luminance of WCAG 2.1."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    dark, light = sorted((_light(one), _light(other)))
    return (light + 0.05) / (dark + 0.05)


def test_texts_can_be_read_on_both_themes() -> None:
    """4.5 is what WCAG 2.1 asks of a text, 3 what it asks of a drawing."""
    sheet = str(style("report.css"))
    light, dark = (_colours(block) for block in re.findall(r":root \{(.*?)\}", sheet, re.S)[:2])

    for theme in (light, dark):
        for ground in ("paper", "card"):
            low = {
                name: round(_contrast(theme[name], theme[ground]), 2)
                for name in ("ink", "soft", "good", "calm", "warn", "bad", "live")
                if _contrast(theme[name], theme[ground]) < 4.5
            }
            assert low == {}
        drawn = ("faint", *(f"s{number}" for number in range(8)))
        assert [name for name in drawn if _contrast(theme[name], theme["card"]) < 3] == []


def test_the_parts_of_both_pages_are_the_same(made: Plan) -> None:
    """What the report's style says of a card, a chip or a cell holds here too, and is not repeated."""
    assert page(made).count(":root {") == 3
    own = (ROOT / "src/lastro/view/templates/plan.css").read_text(encoding="utf-8")
    assert not re.search(r"^(:root|body|table|\.card|\.chip)\b[^,{]*\{", own, re.M)


def test_decisions_and_what_was_learned_are_told(tmp_path: Path) -> None:
    points = (DecisionPoint(stage="pilot", shares=(), holds=("wide",)),)
    hours = Span(low=1, likely=2, high=3)
    learned = Learned(
        run="wide", stage="run", gpu="X", hours=hours, declared=None, count=3, origin="3 runs", why=""
    )

    text = Reader(page(plan_of(tmp_path, option(), decision_points=points, estimates=(learned,)))).text

    assert "pilot ends with a decision; what waits for it: wide" in text
    assert "wide on X: 1 h 00 min to 3 h 00 min, likely 2 h 00 min; 3 runs" in text


def test_a_left_out_run_is_named(tmp_path: Path) -> None:
    reduced = option("reduced, a", protocol="reduced", left_out=("deep",), per_unit=None)
    made = replace(plan_of(tmp_path, reduced), left_out=("deep",), budget=usd("80"))

    assert "Left out of the reduced protocol: deep." in Reader(page(made)).text
