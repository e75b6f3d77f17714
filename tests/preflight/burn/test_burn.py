from __future__ import annotations

import sys
from typing import Any

import pytest

from lastro.preflight.burn.check import run_steps
from lastro.preflight.burn.judge import judge_burn, judge_paces
from lastro.preflight.burn.steps import burn_steps
from lastro.preflight.check import Finding, Level

TOLD: dict[str, dict[str, Any]] = {
    "memory": {"bytes": 10**9, "patterns": ["0101"], "wrong": 0, "first": None},
    "matmul": {"times": 9, "wrong": 0, "first": None, "far": 0.1, "first_third": 1e12, "last_third": 1e12},
    "transfer": {"times": 3, "wrong": 0, "there": 2e9, "back": 2e9, "pinned": True},
    "reduce": {"times": 3, "wrong": 0, "pace": 2e9},
}


def judged(kernel: str, *, gpus: int = 2, **changes: Any) -> tuple[Finding, ...]:
    step = next(one for one in burn_steps(gpus, ["float32"], 10) if one["kernel"] == kernel)
    findings = judge_burn([step], [{**step, **TOLD[kernel], **changes}])
    for finding in findings:
        if finding.level in (Level.FAIL, Level.WARN):
            assert finding.consequence and finding.next_step
    return findings


def test_each_gpu_is_burned_in_each_type_of_the_plan_and_all_of_them_add_up_together() -> None:
    steps = burn_steps(2, ["bfloat16", "float32", "bfloat16", "int8"], 200)

    assert [(step["kernel"], step["device"], step.get("dtype")) for step in steps] == [
        ("memory", "cuda:0", None), ("matmul", "cuda:0", "bfloat16"), ("matmul", "cuda:0", "float32"),
        ("transfer", "cuda:0", None),
        ("memory", "cuda:1", None), ("matmul", "cuda:1", "bfloat16"), ("matmul", "cuda:1", "float32"),
        ("transfer", "cuda:1", None),
        ("reduce", "all", None),
    ]  # fmt: skip
    assert sum(step["seconds"] for step in steps) == pytest.approx(200)
    assert steps[-1]["backend"] == "nccl"


def test_one_gpu_has_nobody_to_add_up_with_and_a_processor_shows_the_path() -> None:
    assert "reduce" not in [step["kernel"] for step in burn_steps(1, ["float32"], 10)]
    assert burn_steps(0, ["float32"], 10)[-1]["backend"] == "gloo"


@pytest.mark.parametrize("kernel", sorted(TOLD))
def test_what_was_right_passes_and_one_wrong_number_fails(kernel: str) -> None:
    (well,) = judged(kernel)
    wrong = judged(kernel, wrong=1)[0]

    assert (well.code, well.level) == (f"burn_{kernel}", Level.PASS)
    assert (wrong.code, wrong.level) == (f"burn_{kernel}", Level.FAIL)


def test_the_first_wrong_place_is_named() -> None:
    first = {"pattern": "1010", "byte": 4096, "expected": "aa", "found": "ab"}
    assert "byte 4096 in pattern 1010: ab instead of aa" in judged("memory", wrong=2, first=first)[0].value
    first = {"time": 7, "row": 1, "column": 2, "expected": "1.0", "found": "2.0"}
    assert "time 7, row 1, column 2: 2.0 instead of 1.0" in judged("matmul", wrong=1, first=first)[0].value


def test_a_product_far_from_the_exact_one_fails_though_it_is_always_the_same() -> None:
    assert [finding.level for finding in judged("matmul", far=3.0)] == [Level.PASS, Level.FAIL]


def test_a_card_that_fades_is_told_and_a_processor_is_not_judged_by_its_pace() -> None:
    codes = [finding.code for finding in judged("matmul", last_third=0.89e12)]

    assert codes == ["burn_matmul", "burn_fades"]
    assert len(judged("matmul", last_third=0.91e12)) == 1
    assert len(judged("matmul", gpus=0, last_third=0.5e12)) == 1


def paced(there: float, *, second: float = 2e9, locked: dict[str, Any] | None = None) -> list[Any]:
    """What comes of copies to two cards, of which the second is well."""
    steps = [one for one in burn_steps(2, ["float32"], 10) if one["kernel"] == "transfer"]
    told = [
        {**step, **TOLD["transfer"], "there": pace} for step, pace in zip(steps, (there, second), strict=True)
    ]
    return list(judge_paces(told, locked))


def test_a_card_slower_than_its_siblings_or_than_the_locked_one_is_told() -> None:
    """The middle of 0.9 and 2 GB/s is 1.45, of which 0.9 is 62 %; 1.2 is 60 % of the 2 that were locked."""
    assert [one.value for one in paced(0.9e9)[:-1]] == ["62% of its siblings in the middle"]
    assert [one.value for one in paced(1.2e9, locked={"there cuda:0": 2e9})[:-1]] == ["60% of the locked one"]
    assert len(paced(1.5e9, locked={"there cuda:0": 2e9})) == 1
    slow = paced(0.9e9)[0]
    assert (slow.code, slow.level) == ("burn_pace", Level.WARN) and slow.consequence and slow.next_step


def test_the_paces_of_cards_are_locked_and_those_of_processors_are_not() -> None:
    (measured,) = paced(2e9)
    steps = burn_steps(0, ["float32"], 10)
    told = [{**step, **TOLD[step["kernel"]]} for step in steps]

    assert measured.name == "burn"
    assert measured.values == {
        "there cuda:0": 2e9, "back cuda:0": 2e9, "there cuda:1": 2e9, "back cuda:1": 2e9,
    }  # fmt: skip
    assert list(judge_paces(told, None)) == []


def test_a_step_that_broke_or_never_answered_is_no_answer_and_is_required() -> None:
    steps = burn_steps(1, ["float32"], 10)

    broken, *silent = judge_burn(steps, [{**steps[0], "error": "RuntimeError: no kernel image"}])

    assert broken.level is Level.NO_ANSWER and "no kernel image" in broken.value and broken.required
    assert [finding.level for finding in silent] == [Level.NO_ANSWER] * 2


def small(*kernels: str) -> list[dict[str, Any]]:
    return [
        {**step, "bytes": 2**20, "seconds": 0.1} if step["kernel"] != "matmul" else {**step, "size": 32}
        for step in burn_steps(0, ["float32", "bfloat16"], 0.4)
        if step["kernel"] in kernels
    ]


def codes_of_passed(steps: list[dict[str, Any]]) -> list[str]:
    told = run_steps(sys.executable, steps, 120)

    assert not isinstance(told, str)
    findings = judge_burn(steps, told)
    assert {finding.level for finding in findings} == {Level.PASS}, [one.text for one in findings]
    return [finding.code for finding in findings]


def test_the_path_on_the_processor_in_a_python_of_its_own() -> None:
    codes = codes_of_passed(small("memory", "matmul", "transfer"))

    assert codes == ["burn_memory", "burn_matmul", "burn_matmul", "burn_transfer"]


@pytest.mark.long
def test_two_processes_add_up_right() -> None:
    assert codes_of_passed(small("reduce")) == ["burn_reduce"]


def test_without_torch_nothing_is_carried_out_and_it_says_why() -> None:
    bare = str(getattr(sys, "_base_executable", sys.executable))

    told = run_steps(bare, small("memory"), 60)

    assert isinstance(told, str) and "no torch" in told
