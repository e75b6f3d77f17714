"""Lives of a training process whose weights are lost while its loss looks well."""

from __future__ import annotations

import json
import signal
from pathlib import Path

from lastro.checkpoint import store
from lastro.rules import CheckpointPolicy
from tests.job.conftest import Nursery
from tests.job.hand import environment, kinds, make_run, signals

_SCRIPT = """
import json, os
import torch
import lastro
wish = json.loads(os.environ["WISH"])
model = torch.nn.Linear(1, 1)
attempt = lastro.attach()
attempt.track(model=model)
for step, batch in attempt.steps(list(range(40)), epochs=1):
    with torch.no_grad():
        model.weight.add_(1.0)
        if step.number == wish.get("lost_at"):
            model.weight.fill_(float("nan"))
    attempt.log(loss=1.0)
with attempt.output("weight.txt") as path:
    path.write_text(repr(model.weight.item()))
"""


def test_a_run_whose_weights_were_lost_goes_on_from_before_that(tmp_path: Path, nursery: Nursery) -> None:
    script = tmp_path / "train.py"
    script.write_text(_SCRIPT)
    run = make_run(tmp_path, checkpoint=CheckpointPolicy(every_steps=10, keep=1))
    first = run.attempt()
    wish = {"WISH": json.dumps({"lost_at": 15})}
    nursery.run(first, script, signal=signal.SIGKILL, step=37, environ={**environment(first), **wish})
    assert "checkpoint 20-a1: it is not healthy: model/weight holds values" in first.log.read_text()
    assert [folder.name for folder in store.names(run.folder.checkpoints)] == ["30-a1", "10-a1"]

    second = run.attempt()
    ended = nursery.run(second, script, environ={**environment(second), "WISH": "{}"})

    assert ended.code == 0, ended.log
    assert kinds(second)[:3] == ["started", "passed_over", "restored"]
    assert signals(second)[2]["step"] == 10
    assert 39 <= float((run.folder.outputs / "weight.txt").read_text()) <= 41  # 40 steps from a small start


def test_with_only_lost_ones_a_run_never_begins_again_at_step_0(tmp_path: Path, nursery: Nursery) -> None:
    script = tmp_path / "train.py"
    script.write_text(_SCRIPT)
    run = make_run(tmp_path)
    first = run.attempt()
    wish = {"WISH": json.dumps({"lost_at": 5})}
    nursery.run(first, script, signal=signal.SIGKILL, step=17, environ={**environment(first), **wish})
    second = run.attempt()

    ended = nursery.run(second, script, environ={**environment(second), "WISH": "{}"})

    assert ended.code == 6
    assert "step 10 was committed before, but no checkpoint can be used here" in ended.log
