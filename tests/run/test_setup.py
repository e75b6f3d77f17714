"""`setup:`: once on each machine, before the job, and its failure is the attempt's."""

from __future__ import annotations

from pathlib import Path

from tests.run.jobs import events_of, order_for, start_supervisor, write_order


def test_the_setup_is_done_once_before_the_job_although_the_job_restarts(tmp_path: Path) -> None:
    folder, order = order_for(tmp_path, "sh", "-c", "cat made; exit 3")
    write_order(folder, order, setup="echo once >> made")

    start_supervisor(folder).wait(60)

    assert folder.attempt(1).log.read_text().endswith("once\n")
    assert folder.attempt(2).log.read_text() == "once\n"


def test_another_machine_does_the_setup_again(tmp_path: Path) -> None:
    folder, order = order_for(tmp_path, "cat", "made")
    write_order(folder, order, setup="echo once >> made")
    start_supervisor(folder).wait(60)

    write_order(folder, order, setup="echo once >> made", machine="m-2")
    start_supervisor(folder).wait(60)

    assert folder.attempt(2).log.read_text().endswith("once\nonce\n")


def test_a_setup_that_fails_ends_the_attempt_with_its_code_and_starts_no_job(tmp_path: Path) -> None:
    folder, order = order_for(tmp_path, "touch", "started")
    write_order(folder, order, setup="echo no such package >&2; exit 7")

    start_supervisor(folder).wait(60)

    assert "exit code 7" in events_of(folder, 2)[-1].facts["why"]
    assert "setup failed with exit code 7" in folder.attempt(1).log.read_text()
    assert not (Path(order.workdir) / "started").exists()
