"""Slurm's commands where they are missing, refuse, or answer with nonsense: told, never taken for an end."""

from __future__ import annotations

from pathlib import Path

import pytest

from lastro.clock import SystemClock
from lastro.errors import ProviderError
from lastro.paths import Home
from lastro.providers.base import MachineRequest, MachineState
from lastro.providers.slurm.cluster import Unanswered
from lastro.providers.slurm.slurm import Slurm


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the only folder in which commands are looked for."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def command(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def request(tmp_path: Path) -> MachineRequest:
    (tmp_path / "disk").mkdir(exist_ok=True)
    return MachineRequest(tag="one", campaign="small", disk=tmp_path / "disk", lease=None)


def slurm(tmp_path: Path) -> Slurm:
    return Slurm("slurm", Home(tmp_path / "home"), SystemClock())


def test_a_computer_without_slurm_is_named_with_the_command_that_is_missing(
    tmp_path: Path, commands: Path
) -> None:
    with pytest.raises(ProviderError, match="there is no squeue") as told:
        slurm(tmp_path).create(request(tmp_path))

    assert "from which jobs are submitted" in str(told.value.hint)


def test_who_may_not_submit_is_told_in_slurms_words(tmp_path: Path, commands: Path) -> None:
    command(commands, "squeue", "exit 0")
    command(commands, "sbatch", "echo 'sbatch: error: Invalid account or account/partition' >&2; exit 1")

    with pytest.raises(ProviderError, match="did not take the job: Invalid account") as told:
        slurm(tmp_path).create(request(tmp_path))

    assert "job.sbatch" in str(told.value.hint)


def test_a_number_that_is_none_is_no_job(tmp_path: Path, commands: Path) -> None:
    command(commands, "squeue", "exit 0")
    command(commands, "sbatch", "echo Welcome to the cluster")

    with pytest.raises(ProviderError, match="Welcome to the cluster"):
        slurm(tmp_path).create(request(tmp_path))


def test_a_job_of_which_squeue_says_nonsense_is_unknown_and_not_gone(tmp_path: Path, commands: Path) -> None:
    command(commands, "squeue", "echo 'no job here | | maintenance'")
    command(commands, "sbatch", "echo 7")
    at = slurm(tmp_path)

    made = at.create(request(tmp_path))
    command(
        commands, "squeue", "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1"
    )

    assert made.state is MachineState.UNKNOWN
    assert slurm(tmp_path).describe(made.id).state is MachineState.UNKNOWN
    with pytest.raises(Unanswered):
        slurm(tmp_path).delete(made.id)
