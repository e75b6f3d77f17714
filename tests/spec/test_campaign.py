from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from lastro.errors import CampaignInvalid
from lastro.rules import CheckpointPolicy, StopKind, StopRule
from lastro.spec.load import LoadedCampaign, load_campaign
from lastro.units import Money

from .conftest import LEAST

Load = Callable[[str], LoadedCampaign]
Refused = Callable[[str], CampaignInvalid]

DESIGN = Path(__file__).parent / "design_campaign.yaml"


def test_the_campaign_of_the_design_loads_into_types() -> None:
    spec = load_campaign(DESIGN).spec

    assert (spec.window, spec.budget) == (timedelta(hours=72), Money(Decimal(60), "USD"))
    assert spec.stop[1] == StopRule(kind=StopKind.FLOOR, metric="accuracy", below=0.5, after_steps=200)
    assert spec.checkpoint.policy() == CheckpointPolicy(max_loss_seconds=600.0, keep=2)
    assert spec.decision is not None
    assert (spec.decision.adopt_margin, spec.decision.over, spec.decision.unit) == (
        Decimal("0.01"),
        "control",
        None,
    )
    assert spec.stages["pilot"].part == 0.1
    assert spec.deliverables["model"].compare == "predictions"


def test_runs_are_the_control_and_its_variants_in_the_order_of_the_file() -> None:
    runs = load_campaign(DESIGN).spec.runs()

    assert [(run.name, run.priority) for run in runs] == [
        ("control", "required"),
        ("shift", "required"),
        ("wide", "useful"),
    ]
    assert runs[2].command == "python train.py --width 256 --shift 0 --epochs 12"
    assert runs[2].config == {"width": 256, "shift": 0, "epochs": 12}
    assert runs[2].changes == ("width",)


def test_three_keys_are_enough(load: Load) -> None:
    spec = load(LEAST).spec

    assert (spec.provider, spec.machines, spec.seed, spec.resume) == ("here", 1, 0, "training")
    assert spec.runs()[0].argv == ("python", "train.py", "--width", "64")


@pytest.mark.parametrize(
    ("every", "policy"),
    [
        ("auto", CheckpointPolicy()),
        ("30s", CheckpointPolicy(every_seconds=30.0)),
        ("200 steps", CheckpointPolicy(every_steps=200)),
        ("1 step", CheckpointPolicy(every_steps=1)),
    ],
)
def test_a_checkpoint_interval_is_automatic_or_in_time_or_in_steps(
    load: Load, every: str, policy: CheckpointPolicy
) -> None:
    assert load(f"{LEAST}checkpoint: {{every: {every}}}\n").spec.checkpoint.policy() == policy


def test_a_lower_metric_is_better_by_a_negative_margin(load: Load) -> None:
    decision = load(f"{LEAST}decision: {{metric: loss, better: lower, adopt_if: -0.02}}\n").spec.decision

    assert decision is not None
    assert decision.adopt_margin == Decimal("0.02")


@pytest.mark.parametrize(
    ("extra", "line", "column", "says"),
    [
        ("windw: 72h", 4, 1, "unknown key 'windw', did you mean 'window'?"),
        ("window: 72", 4, 9, "window: 72 is not a duration"),
        ("window: 0h", 4, 9, "is no time at all"),
        ("budget: 60", 4, 9, "budget: 60 is not an amount with its currency"),
        ("budget: 60 euro", 4, 9, "'euro' is not a currency code"),
        ("machines: 0", 4, 11, "machines: 0 has to be at least 1"),
        ("machines: true", 4, 11, "machines: true has to be a whole number"),
        ("provider: mars", 4, 11, "'mars' is none of: here, local, ssh://user@host, slurm"),
        ("corpus: {path: ../data}", 4, 16, "has to be a path inside its folder"),
        ("corpus: {path: /data}", 4, 16, "has to be a path inside its folder"),
        ("resume: always", 4, 9, "'always' has to be one of"),
        ("variants: {control: {changes: {width: 1}}}", 4, 21, "the name of the control"),
        ("variants: {a: {changes: {wdth: 1}}}", 4, 32, "wdth is not a key of control"),
        ("variants: {a: {changes: {}}}", 4, 25, "a variant that changes nothing"),
        ("variants: {a: {changes: {width: 64}}}", 4, 15, "a is the same run as control"),
        ("variants: {a/b: {changes: {width: 1}}}", 4, 17, "cannot be a name"),
        ("stop: [non_finite]", 4, 8, "has to name what it watches"),
        ("stop: [never: 3]", 4, 8, "'never' is not a stop rule"),
        ("stop: [floor: {metric: acc, below: low}]", 4, 8, "'low' is not a number"),
        ("checkpoint: {every: often}", 4, 21, "'often' is none of: auto, 30s, 200 steps"),
        ("decision: {metric: a, better: lower, adopt_if: 0.1}", 4, 48, "adopt a variant that is worse"),
        ("decision: {metric: a, better: higher, adopt_if: +1 over wide}", 4, 49, "not with wide"),
        ("want: {python: 3.10}", 4, 16, "has to be written in quotes"),
        ("want: {torch: 'soon'}", 4, 15, "'soon' is not a version"),
        ("jurisdictions: [Brazil]", 4, 17, "'Brazil' is not a country code"),
        ("deliverables: {m: {path: m.st, compare: p}}", 4, 41, "nothing is reloaded"),
        ("deliverables: {m: {path: m.st, reload: python r.py}}", 4, 40, "has to name the reloaded file"),
        (
            "deliverables: {m: {path: m.st, reload: 'r {path}', compare: p}}",
            4,
            61,
            "p is not another deliverable",
        ),
        ("deliverables: {a: {path: x}, b: {path: x}}", 4, 40, "x is the path of a as well"),
    ],
)
def test_what_is_wrong_is_told_with_its_place_and_value(
    refused: Refused, extra: str, line: int, column: int, says: str
) -> None:
    error = refused(f"{LEAST}{extra}\n")

    assert says in str(error)
    assert (error.line, error.column) == (line, column)
    assert error.file is not None and str(error).startswith(f"{error.file}:{line}:{column}: ")
    assert error.hint


def test_all_problems_are_told_in_the_order_of_the_file(refused: Refused) -> None:
    error = refused("comand: x\ncampaign: tiny\ncontrol: {a: 1}\nwindow: soon\nmachines: -1\n")

    lines = str(error).splitlines()
    assert ["comand" in lines[0], "window" in lines[1], "machines" in lines[2]] == [True] * 3
    assert f"{error.file}:4:9: window:" in lines[1]
    assert len(lines) == 3, "the missing key is the misspelt one, and is not told twice"


def test_a_placeholder_that_stands_for_nothing_is_named(refused: Refused) -> None:
    error = refused("campaign: c\ncommand: train {wdth}\ncontrol: {width: 1}\n")

    assert "{wdth} stands for nothing; known are: width" in str(error)
    assert error.line == 2


def test_a_key_of_control_that_the_command_does_not_use_is_named(refused: Refused) -> None:
    error = refused("campaign: c\ncommand: train {width}\ncontrol: {width: 1, depth: 2}\n")

    assert "depth is not used" in str(error)
    assert (error.line, error.column) == (3, 28)


def test_a_command_without_placeholders_leaves_the_configuration_to_the_job(load: Load) -> None:
    spec = load(
        "campaign: c\ncommand: python train.py\ncontrol: {w: 1}\nvariants: {a: {changes: {w: 2}}}\n"
    ).spec

    assert [run.config for run in spec.runs()] == [{"w": 1}, {"w": 2}]


def test_an_integer_that_json_cannot_hold_exactly_is_refused(refused: Refused) -> None:
    assert "2^53 - 1" in str(refused("campaign: c\ncommand: t {w}\ncontrol: {w: 9007199254740993}\n"))


def test_stages_that_wait_for_each_other_are_refused(refused: Refused) -> None:
    stages = "stages:\n  a: {person: 1h, after: b}\n  b: {person: 1h}\n"

    assert "wait for each other: a, b" in str(refused(LEAST + stages))


@pytest.mark.parametrize(
    ("stage", "says"),
    [
        ("{gpu: 1}", "nothing says how long"),
        ("{hours: 1, person: 1h}", "both say how long"),
        ("{hours: [3, 2, 4]}", "not in the order low, likely, high"),
        ("{hours: [1, 2]}", "one number or three"),
        ("{part: 10 %}", "a part of which run?"),
        ("{hours: 10, steps: 4000}", "steps of which run?"),
        ("{part: 0.1, run: control}", "is not a part such as '10 %'"),
        ("{hours: 1, run: nobody}", "nobody is not a run"),
        ("{hours: 1, after: nothing}", "nothing is not another stage"),
    ],
)
def test_a_stage_that_means_nothing_is_refused(refused: Refused, stage: str, says: str) -> None:
    assert says in str(refused(f"{LEAST}stages:\n  one: {stage}\n"))


@pytest.mark.parametrize(
    ("written", "least"),
    [("", 300.0), ("hang: 10min\n", 600.0), ("hang: off\n", None), ('hang: "off"\n', None)],
)
def test_the_patience_with_a_silent_job_is_a_time_or_off(
    tmp_path: Path, written: str, least: float | None
) -> None:
    path = tmp_path / "campaign.yaml"
    path.write_text("campaign: c\ncommand: train\ncontrol: {}\n" + written)

    hang = load_campaign(path).spec.hang

    assert (None if hang == "off" else hang.total_seconds()) == least
