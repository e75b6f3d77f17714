"""What stays beside the latest checkpoints, over two lives of a real process."""

from __future__ import annotations

import signal
from pathlib import Path

from lastro.checkpoint import store
from lastro.rules import Best, CheckpointPolicy
from tests.job.conftest import Nursery
from tests.job.hand import make_run

#: The score is best at update 12, is measured at each second update, and is worst at the last ones.
_SCRIPT = """
import lastro
attempt = lastro.attach()
for step, batch in attempt.steps(list(range(60)), epochs=1):
    if step.number % 2 == 0:
        attempt.log(score=-abs(step.number - 12))
    if step.number == 33:
        attempt.save(keep="the report shows it")
with attempt.output("done.txt") as path:
    path.write_text("done")
"""


def test_the_best_and_what_was_asked_for_stay_over_a_kill(tmp_path: Path, nursery: Nursery) -> None:
    """Saves at 5, 10, ...: that of 10 has the score of 10, which is -2, that of 15 the one of 14, -2 too.

    The later one of two that are as good stays. The save that was asked for holds 33 whole updates. The
    second life has not read 15 again, so it also keeps the best of those that it has: 45, where it began.
    """
    script = tmp_path / "train.py"
    script.write_text(_SCRIPT)
    policy = CheckpointPolicy(every_steps=5, keep=1, best=Best(metric="score", higher=True))
    run = make_run(tmp_path, checkpoint=policy)
    killed = nursery.run(run.attempt(), script, signal=signal.SIGKILL, step=47)
    assert killed.signal == signal.SIGKILL, killed.log
    assert [folder.name for folder in store.names(run.folder.checkpoints)] == ["45-a1", "33-a1", "15-a1"]

    ended = nursery.run(run.attempt(), script)

    assert ended.code == 0, ended.log
    kept = store.names(run.folder.checkpoints)
    assert [folder.name for folder in kept] == ["60-a2", "45-a1", "33-a1", "15-a1"]
    best = store.committed(kept[-1])
    assert isinstance(best, store.Manifest)
    assert best.facts.measured == {"score": -2.0}
    assert [store.verify(folder) for folder in kept] == [(), (), (), ()]
