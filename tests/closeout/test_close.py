from __future__ import annotations

import csv
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from lastro.closeout.judge import Verdict
from lastro.closeout.promise import Promise
from lastro.closeout.reload.level import level_for
from tests.closeout.tiny import MODEL, PREDICTIONS, PROMISE, TinyRun, alive_with, predictions


@pytest.fixture
def run(tmp_path: Path) -> TinyRun:
    return TinyRun(tmp_path)


def test_without_a_jail_the_level_is_a_fresh_process_and_the_reason_is_told(
    run: TinyRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LASTRO_RELOAD_LEVEL", "fresh")

    judged = run.judged()["model"]

    assert judged.verdict is Verdict.ACCEPTED
    assert judged.level == "fresh process"
    assert judged.level_why == "LASTRO_RELOAD_LEVEL=fresh asks for it"
    assert "in a fresh process" in judged.why


def change_one_prediction(run: TinyRun) -> None:
    """Flip the prediction of row 3, and nothing else."""
    file = run.outputs / "predictions.csv"
    rows = list(csv.reader(file.read_text().splitlines()))
    rows[4][1] = "0" if rows[4][1] == "1" else "1"
    file.write_text("".join(",".join(row) + "\n" for row in rows))


def change_one_weight(run: TinyRun) -> None:
    file = run.outputs / "model.safetensors"
    weights = load_file(file)
    weights["w"][1] += np.float32(0.125)
    save_file(weights, file)


def test_an_honest_run_is_accepted_with_its_metric_and_its_level(run: TinyRun) -> None:
    judged = run.judged()

    assert {one.verdict for one in judged.values()} == {Verdict.ACCEPTED}
    assert judged["predictions"].metric == 7 / 8
    assert judged["model"].level == judged["predictions"].level == level_for({})[0]
    assert judged["model"].versions["python"]
    assert judged["model"].seconds is not None
    assert judged["model"].loader == "command"
    assert judged["model"].digest == run.published["model.safetensors"]
    assert "all 8 rows were recomputed" in judged["model"].why


def test_a_weight_altered_after_publishing_is_rejected(run: TinyRun) -> None:
    change_one_weight(run)

    judged = run.judged()

    assert judged["model"].verdict is Verdict.REJECTED
    assert "changed after it was published" in judged["model"].why
    assert judged["predictions"].verdict is Verdict.PRODUCED


def test_a_weight_altered_before_publishing_is_rejected_by_what_it_predicts(run: TinyRun) -> None:
    change_one_weight(run)
    run.publish()

    judged = run.judged()

    assert judged["model"].verdict is judged["predictions"].verdict is Verdict.REJECTED
    assert "does not reproduce predictions" in judged["model"].why
    assert "score: delivered" in judged["model"].why
    assert judged["predictions"].metric is None


def test_one_prediction_altered_after_publishing_rejects_both_and_says_why(run: TinyRun) -> None:
    change_one_prediction(run)

    judged = run.judged()

    assert judged["model"].verdict is judged["predictions"].verdict is Verdict.REJECTED
    assert "changed after it was published" in judged["predictions"].why
    assert "3, prediction: delivered" in judged["predictions"].why
    assert "3, prediction: delivered" in judged["model"].why


def test_one_prediction_altered_before_publishing_is_rejected_by_the_model(run: TinyRun) -> None:
    change_one_prediction(run)
    run.publish()

    judged = run.judged()

    assert judged["model"].verdict is judged["predictions"].verdict is Verdict.REJECTED


def test_a_reload_that_reads_the_predictions_does_not_find_them(tmp_path: Path) -> None:
    run = TinyRun(
        tmp_path,
        reload="import os, shutil\n"
        "print(os.listdir('.'), os.listdir(os.environ['LASTRO_OUTPUTS']))\n"
        "shutil.copy('predictions.csv', os.environ['LASTRO_OUTPUTS'])\n",
    )
    # A copy that slipped into the code folder is no help either.
    (run.code / "predictions.csv").write_text(predictions())

    judged = run.judged()

    assert judged["model"].verdict is Verdict.REJECTED
    assert "FileNotFoundError" in judged["model"].why
    assert judged["predictions"].verdict is Verdict.PRODUCED
    assert "could not be reloaded" in judged["predictions"].why


@pytest.mark.timeout(45)  # of the 600 s that it would sleep
def test_a_reload_that_hangs_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    marker = f"hanging-{os.getpid()}-{tmp_path.name}"
    script = (
        "import subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', {marker!r}],"
        " start_new_session=True)\n"
        "time.sleep(600)\n"
    )
    run = TinyRun(tmp_path, reload=script)

    judged = run.judged(seconds=1.5)

    assert judged["model"].verdict is Verdict.REJECTED
    assert "killed after 1.5 s" in judged["model"].why
    assert alive_with(marker) == []


def writes(data: bytes) -> str:
    """Return a script that delivers these bytes as its predictions."""
    return f"import os; open(os.environ['LASTRO_OUTPUTS'] + '/predictions.csv', 'wb').write({data!r})"


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("print('done')", "wrote no predictions.csv"),
        (writes(b"\xff\x00,"), "not a table"),
        (writes(b"id,answer\n1,2\n"), "lacks the columns prediction, score"),
        ("raise SystemExit(3)", "exit code 3"),
        ("raise ValueError('wrong shape')", "wrong shape"),
        ("import os; os.kill(os.getpid(), 11)", "signal 11"),
    ],
)
def test_a_reload_that_does_not_do_its_work_rejects_the_model(tmp_path: Path, script: str, why: str) -> None:
    judged = TinyRun(tmp_path, reload=script).judged()

    assert judged["model"].verdict is Verdict.REJECTED
    assert why in judged["model"].why


def test_a_command_that_is_not_installed_rejects_the_model(run: TinyRun) -> None:
    absent = replace(MODEL, reload="no-such-program-here {path}")

    judged = run.judged(Promise(deliverables=(PREDICTIONS, absent), decision=None))

    assert judged["model"].verdict is Verdict.REJECTED
    assert "no-such-program-here" in judged["model"].why


def test_inputs_that_lie_elsewhere_are_linked_beside_the_code(run: TinyRun) -> None:
    corpus = run.root / "corpus.csv"
    (run.code / "data" / "inputs.csv").rename(corpus)
    run.links = {"data/inputs.csv": str(corpus)}

    assert run.judged()["model"].verdict is Verdict.ACCEPTED


def test_the_reload_knows_nothing_of_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LASTRO_ATTEMPT", "/somewhere")
    monkeypatch.setenv("SECRET_TOKEN", "x")
    script = (
        "import os, sys; sys.exit(str(sorted(os.environ)) + 'HOME=' + str(os.listdir(os.environ['HOME'])))"
    )

    why = TinyRun(tmp_path, reload=script).judged()["model"].why

    assert "HOME=[]" in why
    assert "LASTRO_OUTPUTS" in why
    assert "SECRET_TOKEN" not in why
    assert "LASTRO_ATTEMPT" not in why


def test_the_code_is_the_snapshot_and_not_what_lies_in_the_folder_now(run: TinyRun) -> None:
    run.bench()
    (run.code / "reload.py").write_text("raise SystemExit('changed since')")

    assert run.judged()["model"].verdict is Verdict.ACCEPTED


def test_a_lost_snapshot_rejects_the_model_and_names_the_file(run: TinyRun) -> None:
    run.bench().archive.unlink()
    run.code = run.root / "nothing"
    run.code.mkdir()
    archive = run.folder.code("c0de")
    archive.write_bytes(b"")

    judged = run.judged()

    assert judged["model"].verdict is Verdict.REJECTED
    assert str(archive) in judged["model"].why
    assert judged["predictions"].verdict is Verdict.PRODUCED


def test_a_truth_that_is_not_there_leaves_the_predictions_unproven(run: TinyRun) -> None:
    (run.code / "data" / "test.csv").unlink()

    judged = run.judged()

    assert judged["predictions"].verdict is Verdict.PRODUCED
    assert "data/test.csv" in judged["predictions"].why
    assert judged["model"].verdict is Verdict.ACCEPTED


def test_an_unknown_metric_is_named_with_the_known_ones(run: TinyRun) -> None:
    assert PREDICTIONS.metric is not None
    strange = replace(PREDICTIONS, metric=replace(PREDICTIONS.metric, name="beauty"))

    why = run.judged(Promise(deliverables=(strange, MODEL), decision=None))["predictions"].why

    assert "'beauty' is not a metric" in why
    assert "accuracy" in why


@pytest.mark.parametrize("name", ["model.safetensors", "predictions.csv"])
def test_an_absent_output_is_rejected(run: TinyRun, name: str) -> None:
    (run.outputs / name).unlink()

    judged = {one.path: one for one in run.judged().values()}

    assert judged[name].verdict is Verdict.REJECTED
    assert "is not there" in judged[name].why
    assert all(one.verdict is not Verdict.ACCEPTED for one in judged.values())


def test_an_empty_output_is_rejected(run: TinyRun) -> None:
    (run.outputs / "model.safetensors").write_bytes(b"")
    run.publish()

    assert "is empty" in run.judged()["model"].why


def test_missing_ids_are_named(run: TinyRun) -> None:
    file = run.outputs / "predictions.csv"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:-2]))
    run.publish()

    judged = run.judged()["predictions"]

    assert judged.verdict is Verdict.REJECTED
    assert "has 6 rows, 8 were promised" in judged.why
    assert "lacks 2 of 8 ids: 6, 7" in judged.why


def test_truncated_weights_are_rejected_without_running_anything_twice(run: TinyRun) -> None:
    file = run.outputs / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-4])
    run.publish()

    judged = run.judged()["model"]

    assert judged.verdict is Verdict.REJECTED
    assert "its tensors take" in judged.why


def test_a_temporary_path_inside_an_output_is_rejected(run: TinyRun) -> None:
    weights = load_file(run.outputs / "model.safetensors")
    save_file(weights, run.outputs / "model.safetensors", metadata={"vocabulary": "/tmp/tok/vocab.json"})
    run.publish()

    judged = run.judged()["model"]

    assert judged.verdict is Verdict.REJECTED
    assert "/tmp/tok/vocab.json" in judged.why


def test_an_output_that_is_a_link_out_of_the_outputs_is_rejected(run: TinyRun) -> None:
    elsewhere = run.root / "elsewhere.safetensors"
    (run.outputs / "model.safetensors").rename(elsewhere)
    (run.outputs / "model.safetensors").symlink_to(elsewhere)

    judged = run.judged()["model"]

    assert judged.verdict is Verdict.REJECTED
    assert str(elsewhere) in judged.why


@pytest.mark.parametrize("status", ["stopped", "failed", "superseded", "paused", "interrupted", "running"])
def test_outputs_of_a_run_that_did_not_complete_are_never_accepted(run: TinyRun, status: str) -> None:
    run.status, run.why = status, "loss is NaN at step 7"

    judged = run.judged()

    assert {one.verdict for one in judged.values()} == {Verdict.PRODUCED}
    assert status == "running" or "loss is NaN at step 7" in judged["model"].why


def test_outputs_that_a_stopped_run_never_made_are_missing_and_not_rejected(run: TinyRun) -> None:
    run.status, run.published = "stopped", {}

    assert {one.verdict for one in run.judged().values()} == {Verdict.MISSING}


def test_an_output_that_only_opens_stays_produced(run: TinyRun) -> None:
    plain = replace(MODEL, reload=None, compare=None)

    judged = run.judged(Promise(deliverables=(plain,), decision=None))["model"]

    assert judged.verdict is Verdict.PRODUCED
    assert judged.loader == "safetensors"
    assert judged.level == "at home"


def test_a_reload_that_is_compared_with_nothing_stays_produced(run: TinyRun) -> None:
    lone = replace(MODEL, compare=None)

    judged = run.judged(Promise(deliverables=(PREDICTIONS, lone), decision=None))

    assert judged["model"].verdict is Verdict.PRODUCED
    assert judged["predictions"].verdict is Verdict.ACCEPTED


def test_a_comparison_with_an_output_that_nobody_promised_is_an_answer_not_a_crash(run: TinyRun) -> None:
    judged = run.judged(Promise(deliverables=(replace(MODEL, compare="logits"),), decision=None))

    assert judged["model"].verdict is Verdict.REJECTED
    assert "'logits'" in judged["model"].why


def test_every_judgement_has_the_facts_of_its_event(run: TinyRun) -> None:
    facts = run.judged()["predictions"].as_facts()

    assert facts["verdict"] == "accepted"
    assert {"run", "name", "path", "why", "level", "loader", "digest", "metric"} <= facts.keys()


def test_closing_changes_nothing_on_the_disk(run: TinyRun) -> None:
    run.bench()
    before = {path: path.stat().st_mtime_ns for path in run.folder.root.rglob("*")}

    run.judged(PROMISE)

    assert {path: path.stat().st_mtime_ns for path in run.folder.root.rglob("*")} == before
