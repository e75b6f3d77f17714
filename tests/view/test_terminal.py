from __future__ import annotations

import io

import pytest
from rich.console import Console, RenderableType

from lastro.view.model import page_of
from lastro.view.parts import Live, Page, PerAccepted
from lastro.view.terminal import status, summary
from tests.view.story import HOURLY, Story, adopted, planned


def shown(content: RenderableType, *, terminal: bool = False) -> str:
    out = io.StringIO()
    Console(file=out, width=80, force_terminal=terminal, color_system=None, highlight=False).print(
        content, crop=False
    )
    return out.getvalue()


def running() -> Page:
    story = Story(planned("a-variant-with-quite-a-long-name-that-goes-on"))
    story.machine("m-1", 0)
    story.start("control", 1, 1)
    story.save("control", 1, 5, 100)
    return page_of(story.view(10), live={"id-control": Live(step=131, silent_seconds=2.0)})


def test_a_summary_tells_verdict_runs_interruptions_cost_and_where_the_report_is() -> None:
    text = shown(summary(page_of(adopted().view(), report="/disk/report.html")))
    facts = (
        "Adopt wide",
        "wide is better by 0.05",
        "+0.05",
        "1 of 1",
        "machine lost",
        "2 min 02 s",
        "0.60 USD",
        "report: /disk/report.html",
    )
    for fact in facts:
        assert fact in text, fact


def test_a_status_tells_what_runs_what_it_costs_and_what_is_at_risk() -> None:
    text = shown(status(running()))
    facts = (
        "Running: control",
        "step 131",
        "31 steps since the checkpoint at 100",
        "9 min 00 s",
        "2.0 s ago",
        "0.10 USD",
        "0.60 USD",
    )
    for fact in facts:
        assert fact in text, fact


def test_in_a_pipe_there_are_no_frames_and_no_escapes() -> None:
    text = shown(summary(page_of(adopted().view()))) + shown(status(running()))
    assert not set(text) & set("╭╮╰╯│─┃━┏┓\x1b|")
    assert "╭" in shown(summary(page_of(adopted().view())), terminal=True)


@pytest.mark.parametrize("terminal", [True, False])
def test_everything_fits_into_80_columns(terminal: bool) -> None:
    story = Story(planned("a-variant-with-quite-a-long-name-that-goes-on"))
    story.machine("m-with-quite-a-long-name-that-goes-on-and-on", 0, {**HOURLY, "price": None})
    name = "a-variant-with-quite-a-long-name-that-goes-on"
    story.start(name, 1, 1)
    story.end(name, 1, 2, "notice", 1_000_000, "a reason of many words, " * 9)
    for page in (page_of(story.view()), running(), page_of(adopted().view())):
        for face in (summary, status):
            assert max(len(line) for line in shown(face(page), terminal=terminal).splitlines()) <= 80


def test_a_long_path_of_the_report_stays_in_one_line() -> None:
    path = "/disk/" + "deep/" * 30 + "report.html"
    assert f"report: {path}\n" in shown(summary(page_of(adopted().view(), report=path)))


def test_unknown_is_said_and_never_a_zero() -> None:
    story = Story(planned())
    story.machine("m-1", 0, {**HOURLY, "price": None})
    story.start("control", 1, 1)
    text = shown(status(page_of(story.view(2))))
    assert "unknown: offer 'box' has no price" in text
    assert "0.00" not in text and " 0 USD" not in text
    assert "last sign of life   unknown" in text


def test_an_undefined_cost_per_unit_says_why() -> None:
    page = page_of(adopted().view(), per_accepted=PerAccepted(reason="0 accepted", unit="run"))
    assert "undefined: 0 accepted" in shown(summary(page))


def test_a_failure_s_message_cannot_steer_the_terminal() -> None:
    story = Story(planned())
    story.start("control", 1, 1)
    story.end("control", 1, 2, "crashed", 3, "ValueError: \x1b]0;owned\x07\x1b[2J[bold]x[/bold]")
    text = shown(summary(page_of(story.view())))
    assert "\x1b" not in text and "\x07" not in text
    assert "[bold]x[/bold]" in text


def test_a_campaign_without_a_plan_can_be_shown() -> None:
    assert "No plan is frozen yet" in shown(status(page_of(Story().view())))
