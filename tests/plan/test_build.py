from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lastro import strictjson
from lastro.errors import PlanError
from lastro.plan.build import Code, make_plan
from lastro.plan.model import Plan
from lastro.plan.possible import require_possible
from lastro.rules import Corpus
from lastro.spec.load import load_campaign
from lastro.spec.run_id import run_id

from .planning import ARTICLE, LOTS, NOW, VARIANTS, codes, offers, plan

DESIGN = Path(__file__).parents[1] / "spec" / "design_campaign.yaml"
CORPUS = Corpus(path="data/digits.npz", digest="d" * 64, rows=1797)


def design_plan(tmp_path: Path) -> Plan:
    return make_plan(
        load_campaign(DESIGN).spec,
        offers(tmp_path, LOTS),
        created_at=NOW,
        code=Code(
            digest="c" * 64,
            excludes=["campaign.yaml"],
            git={"commit": None, "diff_digest": None, "dirty": True},
        ),
        corpus=CORPUS,
        disk="./disk",
    )


def test_a_plan_survives_its_file(tmp_path: Path) -> None:
    made = design_plan(tmp_path)

    read = Plan.from_json(strictjson.loads(strictjson.pretty(made.as_json())))

    assert read == made
    assert read.digest() == made.digest()


def test_a_plan_of_the_least_campaign_survives_its_file(tmp_path: Path) -> None:
    made = plan(tmp_path)

    assert Plan.from_json(strictjson.loads(strictjson.dumps(made.as_json()))) == made


def test_a_plan_of_another_format_is_not_guessed_at(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="format"):
        Plan.from_json({**plan(tmp_path).as_json(), "format": 99})


def test_the_same_arguments_give_the_same_digest_in_another_process(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from tests.plan.test_build import design_plan; "
        "print(design_plan(Path(sys.argv[1])).digest())"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    root = Path(__file__).parents[2]

    digest = subprocess.run(command, check=True, capture_output=True, text=True, cwd=root).stdout.strip()

    assert digest == design_plan(tmp_path).digest()
    assert replace(design_plan(tmp_path), seed=1).digest() != digest


def test_the_runs_have_the_published_ids(tmp_path: Path) -> None:
    made = design_plan(tmp_path)

    assert made.run("wide").id == run_id(
        config={"width": 256, "shift": 0, "epochs": 12},
        command="python train.py --width 256 --shift 0 --epochs 12",
        corpus_digest="d" * 64,
        code_digest="c" * 64,
    )
    assert made.run(made.run("wide").id).name == "wide"
    assert made.run("wide").command[:2] == ("python", "train.py")


@pytest.mark.parametrize(
    ("extra", "code", "level"),
    [
        ("", "no_window", "note"),
        ("", "no_budget", "note"),
        ("", "no_variants", "note"),
        ("", "no_decision", "note"),
        ("", "no_deliverables", "warn"),
        ("", "duration_unknown", "note"),
        ("variants: {both: {changes: {width: 1, depth: 1}}}\n", "several_changes", "warn"),
        (ARTICLE.replace("72h", "10h"), "window_too_short", "fail"),
        (ARTICLE.replace("72h", "29h"), "window_tight", "warn"),
        ("decision: {metric: accuracy, better: higher, adopt_if: 0.01}\n", "decision_without_metric", "warn"),
    ],
)
def test_what_a_reader_should_know_is_remarked(tmp_path: Path, extra: str, code: str, level: str) -> None:
    assert codes(plan(tmp_path, extra))[code] == level


def test_the_campaign_of_the_article_has_nothing_to_remark_on_window_or_money(tmp_path: Path) -> None:
    made = plan(tmp_path, ARTICLE + VARIANTS + "budget: 60 USD\n", LOTS)

    told = {"no_deliverables", "no_decision", "no_decision_point", "disk_unknown"}
    assert set(codes(made)) == told | {"no_plan_b", "no_data_check", "no_drill", "price_undated"}
    require_possible(made)


def test_an_impossible_plan_says_why_and_what_next(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"the window is 10 h 00 min: 18 h 00 min too short") as caught:
        require_possible(plan(tmp_path, ARTICLE.replace("72h", "10h")))
    assert caught.value.exit_code == 5 and caught.value.hint
