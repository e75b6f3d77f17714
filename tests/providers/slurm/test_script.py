"""The batch script of a machine, and the partition in a provider's name."""

from __future__ import annotations

from pathlib import Path

import pytest

from lastro.errors import UsageError
from lastro.providers.slurm.script import Script, options_at, without_nodes


def script(**options: str) -> list[str]:
    made = Script(
        job="lastro-digits-0123456789",
        machine="slurm-0123456789",
        campaign="digits",
        folder=Path("/shared/disk/.lastro/machines/slurm-0123456789"),
        python=Path("/shared/my env/bin/python"),
        options=options,
    )
    return made.text().splitlines()


def test_it_can_be_read_and_holds_what_was_asked_for() -> None:
    lines = script(partition="gpu", exclusive="", constraint='a100|"h100"')
    assert lines[0] == "#!/bin/bash"
    assert "#SBATCH --job-name=lastro-digits-0123456789" in lines
    assert "#SBATCH --no-requeue" in lines
    assert "#SBATCH --signal=B:USR1@120" in lines
    assert "#SBATCH --partition=gpu" in lines
    assert "#SBATCH --exclusive" in lines
    assert r'#SBATCH --constraint="a100|\"h100\""' in lines
    assert lines[-1] == (
        "exec '/shared/my env/bin/python' -m lastro.providers.slurm.seat "
        "/shared/disk/.lastro/machines/slurm-0123456789"
    )
    assert max(map(len, lines[:4])) <= 100


def test_a_partition_in_the_name_comes_before_the_one_in_the_file() -> None:
    assert options_at("slurm", {"partition": "a"}) == {"partition": "a"}
    assert options_at("slurm://b", {"partition": "a", "qos": "q"}) == {"partition": "b", "qos": "q"}
    with pytest.raises(UsageError, match="names no partition"):
        options_at("slurm://a b", {})


def test_nodes_that_give_no_sign_are_excluded_beside_the_users_own() -> None:
    assert without_nodes({"qos": "q"}, set()) == {"qos": "q"}
    assert without_nodes({"exclude": "n7"}, {"n2", "n1"}) == {"exclude": "n7,n1,n2"}
