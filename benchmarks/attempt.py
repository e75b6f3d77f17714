"""An attempt without a supervisor, in a folder of its own."""

from __future__ import annotations

from pathlib import Path

from lastro import strictjson
from lastro.job.attempt import Attempt
from lastro.job.place import Place
from lastro.paths import RunFolder
from lastro.rules import Attempt as Told
from lastro.rules import CheckpointPolicy, Order, StopKind, StopRule


def make_attempt(root: Path, policy: CheckpointPolicy, number: int = 1) -> Attempt:
    """Return an attempt as a job holds it, with the stop rule that most campaigns have."""
    order = Order(
        campaign="bench",
        run="bench",
        name="bench",
        command=("bench",),
        config={},
        seed=0,
        resume="training",
        workdir=str(root),
        campaign_folder=str(root),
        machine="here",
        node="here",
        home_stream="",
        home_head="",
        stop=(StopRule(kind=StopKind.NON_FINITE, metric="loss"),),
        checkpoint=policy,
    )
    folder = RunFolder(root / "runs" / "bench").attempt(number)
    folder.root.mkdir(parents=True)
    told = Told(number=number, token="", order=order, claimed_at="")
    folder.attempt.write_text(strictjson.pretty(told.as_json()))
    return Attempt(Place(told, folder, by_hand=False))
