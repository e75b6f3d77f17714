"""The work by MLflow, with its store in SQLite. Run by a Python that has it, and not lastro."""

from __future__ import annotations

import time
from pathlib import Path

import mlflow
from mlflow.entities import Metric

from benchmarks.tracking.timing import each_step, main, spent

_MOST_IN_A_BATCH = 1000


def _open(root: Path) -> mlflow.MlflowClient:
    mlflow.set_tracking_uri(f"sqlite:///{root}/mlflow.db")
    mlflow.set_experiment("bench")
    return mlflow.MlflowClient()


def log(root: Path, number: int, steps: int) -> dict[str, float]:
    return _log(root, number, steps, waiting=True)


def log_async(root: Path, number: int, steps: int) -> dict[str, float]:
    return _log(root, number, steps, waiting=False)


def _log(root: Path, number: int, steps: int, *, waiting: bool) -> dict[str, float]:
    _open(root)
    with mlflow.start_run(run_name=f"{number}"):
        told = each_step(
            lambda values, step: mlflow.log_metrics(values, step=step, synchronous=waiting),
            number,
            range(1, steps + 1),
        )
        if not waiting:
            mlflow.flush_async_logging()
    return {**told, "cpu": spent() - told["began"]}


def fill(root: Path, points: int) -> dict[str, float]:
    client = _open(root)
    began, now = spent(), int(time.time() * 1000)
    run = client.create_run(mlflow.get_experiment_by_name("bench").experiment_id, run_name="one")
    for first in range(0, points, _MOST_IN_A_BATCH):
        steps = range(first, min(points, first + _MOST_IN_A_BATCH))
        client.log_batch(run.info.run_id, [Metric("loss", 1 / (step + 1), now, step) for step in steps])
    return {"cpu": spent() - began}


def read(root: Path, points: int) -> dict[str, float]:
    client = _open(root)
    (run,) = _runs(client, "one")
    began = spent()
    found = client.get_metric_history(run, "loss")
    assert len(found) == points
    return {"cpu": spent() - began}


def report(root: Path, processes: int, steps: int) -> dict[str, float]:
    client = _open(root)
    began = spent()
    for number in range(1, processes + 1):
        run = _runs(client, f"{number}")[0]
        for name in client.get_run(run).data.metrics:
            assert len(client.get_metric_history(run, name)) == steps
    return {"cpu": spent() - began}


def _runs(client: mlflow.MlflowClient, name: str) -> list[str]:
    experiment = mlflow.get_experiment_by_name("bench").experiment_id
    found = client.search_runs([experiment], f"attributes.run_name = '{name}'")
    return [run.info.run_id for run in found]


if __name__ == "__main__":
    main({"log": log, "log_async": log_async, "fill": fill, "read": read, "report": report})
