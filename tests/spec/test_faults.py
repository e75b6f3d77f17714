from __future__ import annotations

from pathlib import Path

import pytest

from lastro.errors import CampaignInvalid
from lastro.spec.faults import FaultSpec
from lastro.spec.load import load_faults


def test_faults_are_read_in_order_with_and_without_notice(tmp_path: Path) -> None:
    path = tmp_path / "faults.yaml"
    path.write_text(
        "faults:\n  - {run: shift, step: 60, notice: 5s}\n  - {run: wide, step: 130, notice: none}\n"
    )

    assert load_faults(path) == (
        FaultSpec(index=0, run="shift", step=60, notice_seconds=5.0),
        FaultSpec(index=1, run="wide", step=130, notice_seconds=None),
    )


def test_a_fault_of_a_run_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "faults.yaml"
    path.write_text("faults:\n  - {run: shfit, step: 60}\n")

    with pytest.raises(CampaignInvalid, match=r"'shfit' is not a run .* did you mean 'shift'") as caught:
        load_faults(path, runs=["control", "shift"])
    assert (caught.value.line, caught.value.column) == (2, 11)


def test_a_fault_before_the_first_step_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "faults.yaml"
    path.write_text("faults:\n  - {run: a, step: -1}\n")

    with pytest.raises(CampaignInvalid, match="-1 has to be at least 0"):
        load_faults(path)


def test_a_machine_that_is_not_to_be_had_has_nothing_but_its_number(tmp_path: Path) -> None:
    path = tmp_path / "faults.yaml"
    path.write_text("faults:\n  - {create: 2}\n")

    assert load_faults(path, runs=["a"]) == (FaultSpec(index=0, create=2),)
    for text, problem in (
        ("{create: 2, run: a}", "never had has no run"),
        ("{create: 0}", "at least 1"),
        ("{run: a}", "'step' is missing"),
        ("{step: 3}", "'run' is missing"),
    ):
        path.write_text(f"faults:\n  - {text}\n")
        with pytest.raises(CampaignInvalid, match=problem):
            load_faults(path, runs=["a"])


def test_a_machine_may_freeze_instead_of_being_taken_away(tmp_path: Path) -> None:
    path = tmp_path / "faults.yaml"
    path.write_text("faults:\n  - {run: a, step: 3, silent: true}\n")

    assert load_faults(path, runs=["a"]) == (FaultSpec(index=0, run="a", step=3, silent=True),)
    for text, problem in (
        ("{run: a, step: 3, silent: true, notice: 5s}", "freezes gives no notice"),
        ("{create: 2, silent: true}", "never had cannot freeze"),
    ):
        path.write_text(f"faults:\n  - {text}\n")
        with pytest.raises(CampaignInvalid, match=problem):
            load_faults(path, runs=["a"])
