from __future__ import annotations

import re
from pathlib import Path

import pytest

from .planning import ARTICLE, LOTS, VARIANTS, codes, plan, texts

ROOT = Path(__file__).parents[2]
RUN = "stages: {run: {each: run, gpu: 1, memory: 20 GB, hours: {RTX 4090: 10, A100: 5}}}\n"
OFFERS = """\
offers:
  - {name: near, kind: hourly, price: 1 USD, gpu: RTX 4090, memory: 24 GB,
     region: br-1, provider: Acme, jurisdiction: BR, seen: 2026-11-20}
  - {name: far, kind: hourly, price: 3 USD, gpu: A100, memory: 80 GB,
     region: eu-1, provider: Other, jurisdiction: DE, seen: 2026-11-20}
  - {name: small, kind: hourly, price: 3 USD, gpu: RTX 4090, memory: 16 GB,
     region: us-1, provider: Other, jurisdiction: US, seen: 2026-11-20}
"""


def test_every_code_has_its_place_in_the_documentation_and_none_is_left_over() -> None:
    sources = (ROOT / "src" / "lastro" / "plan").glob("findings*.py")
    written = {code for path in sources for code in re.findall(r'code="(\w+)"', path.read_text())}
    doubts = (ROOT / "src" / "lastro" / "spec" / "doubts.py").read_text()
    written |= {f"price_{code}" for code in re.findall(r'code="(\w+)"', doubts)}
    stages = ("data_check", "drill", "recover")
    written |= {f"no_{name}" for name in stages}
    page = (ROOT / "docs" / "plan.md").read_text().split("## What it warns of")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]

    assert {code for row in rows for code in re.findall(r"`(\w+)`", row)} == written


@pytest.mark.parametrize(
    ("variants", "code"),
    [
        ("near: {changes: {width: 66}}", "near_duplicate"),
        ("both: {changes: {width: 1, depth: 1}}", "several_changes"),
        (
            "w: {changes: {width: 1}}, d: {changes: {depth: 1}}, b: {changes: {width: 1, depth: 1}}",
            "full_grid",
        ),
    ],
)
def test_runs_that_tell_little_are_named(tmp_path: Path, variants: str, code: str) -> None:
    assert codes(plan(tmp_path, f"variants: {{{variants}}}\n"))[code] == "warn"


def test_a_full_grid_says_how_few_runs_would_do(tmp_path: Path) -> None:
    """Two values of each of two keys: 4 combinations; one change at a time are the control and 2."""
    grid = "w: {changes: {width: 1}}, d: {changes: {depth: 1}}, b: {changes: {width: 1, depth: 1}}"

    text = texts(plan(tmp_path, f"variants: {{{grid}}}\n"))["full_grid"]

    assert "all 4 combinations of depth, width" in text and "with 3 runs" in text


def test_one_change_at_a_time_is_neither_a_grid_nor_a_duplicate(tmp_path: Path) -> None:
    assert not {"full_grid", "near_duplicate", "several_changes"} & set(codes(plan(tmp_path, VARIANTS)))


def test_each_run_says_what_it_could_decide(tmp_path: Path) -> None:
    rule = "decision: {metric: accuracy, better: higher, adopt_if: 0.01}\n"
    made = plan(tmp_path, VARIANTS + rule)

    assert [run.decides for run in made.runs] == [
        "what every variant is compared with",
        "whether width = 256 is adopted (by accuracy)",
        "whether depth = 4 is adopted (by accuracy)",
    ]


def test_the_stages_that_a_campaign_needs_are_asked_for(tmp_path: Path) -> None:
    missing = codes(plan(tmp_path, ARTICLE.replace("collect:", "last:") + VARIANTS, LOTS))
    assert {"no_data_check", "no_drill", "no_recover", "no_decision_point"} <= set(missing)

    whole = ARTICLE + "  data-check: {cpu: 1, hours: 1}\n  resume: {gpu: 1, hours: 1, does: drill}\n"
    assert not {"no_data_check", "no_drill", "no_recover"} & set(codes(plan(tmp_path, whole, LOTS)))


def test_a_required_stage_without_a_second_path_is_named(tmp_path: Path) -> None:
    assert "no plan B for run:" in texts(plan(tmp_path, RUN, OFFERS))["no_plan_b"]


@pytest.mark.parametrize(
    ("second", "extra", "code", "says"),
    [
        ("{gpu: H200}", "", "plan_b_unknown", "no offer is what the plan B of run names"),
        ("{offer: near}", "", "plan_b_is_plan_a", "is its plan A: near"),
        ("{region: us-1}", "", "plan_b_too_small", "has 16 GB of memory, it needs 20 GB"),
        ("{region: eu-1}", "jurisdictions: [BR]\n", "plan_b_outside", "lies in DE, which is not allowed"),
        ("{gpu: A100}", "", "plan_b_incomplete", "does not say how the image gets there"),
    ],
)
def test_a_second_path_that_does_not_lead_there_is_named(
    tmp_path: Path, second: str, extra: str, code: str, says: str
) -> None:
    made = plan(tmp_path, f"{RUN}{extra}plan_b: {{run: {second}}}\n", OFFERS)

    assert any(one.code == code and says in one.text for one in made.findings), made.findings


def test_a_complete_second_path_has_no_finding(tmp_path: Path) -> None:
    second = "{gpu: A100, image: sha256:1, data: a copy there, checkpoint: pushed every hour}"
    made = plan(tmp_path, f"{RUN}plan_b: {{run: {second}}}\n", OFFERS)

    assert not [one for one in made.findings if "plan B" in one.text]


def test_one_provider_for_all_of_it_is_named_with_the_others(tmp_path: Path) -> None:
    text = texts(plan(tmp_path, RUN, OFFERS))["concentration"]

    assert "at Acme" in text and "Other would be others" in text


def test_a_price_without_a_day_and_an_old_one_are_doubted(tmp_path: Path) -> None:
    old = OFFERS.replace("jurisdiction: BR, seen: 2026-11-20", "jurisdiction: BR, seen: 2026-08-01")

    assert codes(plan(tmp_path, RUN, old))["price_stale"] == "warn"
    assert codes(plan(tmp_path, ARTICLE, LOTS))["price_undated"] == "warn"
    assert not {"price_stale", "price_undated"} & set(codes(plan(tmp_path, RUN, OFFERS)))


def test_a_balance_that_does_not_last_is_named(tmp_path: Path) -> None:
    """10 h at 1 USD are 10 USD, of which 4 are there."""
    balance = "balances: [{provider: Acme, amount: 4 USD, seen: 2026-11-29}]\n"

    text = texts(plan(tmp_path, RUN, OFFERS + balance))["balance_too_small"]

    assert "is 4.00 USD" in text and "costs 10.00 USD" in text


def test_the_time_until_a_machine_can_be_had_moves_the_calendar(tmp_path: Path) -> None:
    """10 h of work, two days until the first machine: 58 h in a window of 60."""
    late = OFFERS.replace("region: br-1", "region: br-1, lead: 2d")
    made = plan(tmp_path, RUN + "window: 60h\n", late)

    assert made.total_hours is not None and made.option == "near"
    assert (made.total_hours.likely, made.slack_hours) == (58.0, 2.0)
    assert "lead_time" in codes(made)


def test_an_open_question_is_carried(tmp_path: Path) -> None:
    made = plan(tmp_path, "uncertainties: [whether it fits the memory]\n")

    assert made.uncertainties == ("whether it fits the memory",)
    assert texts(made)["uncertain"] == "open: whether it fits the memory"


def test_data_that_goes_where_it_may_not_is_refused_by_name(tmp_path: Path) -> None:
    moved = "jurisdictions: [BR]\ntransfers: {backup: {size: 10 GB, from: machine, to: us-1}}\n"
    made = plan(tmp_path, RUN + moved, OFFERS)

    assert "backup goes to us-1, which lies in US" in texts(made)["transfer_outside"]
    assert codes(made)["transfer_outside"] == "fail"


@pytest.mark.parametrize(
    ("save", "code", "level"),
    [("", "loss_unknown", "note"), ("20s", "loss_kept", "note"), ("8min", "loss_too_large", "warn")],
)
def test_the_loss_that_is_tolerated_is_held_against_what_a_save_takes(
    tmp_path: Path, save: str, code: str, level: str
) -> None:
    """A save of 8 min is made every 80 at most, so that more than 10 min may be lost; one of 20 s every 4."""
    extra = "checkpoint: {max_loss: 10min}\n" + (f"interruption: {{save: {save}}}\n" if save else "")

    assert codes(plan(tmp_path, RUN + extra, OFFERS))[code] == level
