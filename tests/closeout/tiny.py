"""A whole run of a tiny model: code with a reload script, truth, weights in safetensors, predictions."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from lastro.closeout.close import judge_run
from lastro.closeout.inventory import Surroundings
from lastro.closeout.judge import Judgement
from lastro.closeout.promise import DecisionRule, Deliverable, MetricRule, Promise
from lastro.closeout.reload.command import Bench
from lastro.journal.views import RunView
from lastro.paths import RunFolder
from lastro.storage.snapshot import code_files, write_archive

WEIGHTS = (0.5, -1.0, 0.25)
ROWS = 8
# Reads the weights with the standard library, so that a reload costs no import of numpy.
RELOAD = """
import array, csv, json, os, struct, sys
with open(sys.argv[1], "rb") as file:
    (length,) = struct.unpack("<Q", file.read(8))
    begin, end = json.loads(file.read(length))["w"]["data_offsets"]
    file.seek(8 + length + begin)
    weights = array.array("f", file.read(end - begin))
with open("data/inputs.csv") as inputs, open(os.environ["LASTRO_OUTPUTS"] + "/predictions.csv", "w") as out:
    out.write("id,prediction,score\\n")
    for row in csv.DictReader(inputs):
        score = sum(w * float(row[name]) for w, name in zip(weights, "abc"))
        out.write(f"{row['id']},{int(score > 0)},{score:.9f}\\n")
"""


def inputs() -> list[tuple[float, float, float]]:
    """Return the rows that the model is evaluated on."""
    return [(float(i % 3), float(i % 2) - 0.3, float(i)) for i in range(ROWS)]


def scores(weights: Sequence[float] = WEIGHTS) -> list[float]:
    """Return what the model says of every row."""
    w = np.asarray(weights, dtype=np.float32)
    return [float(np.dot(np.asarray(row, dtype=np.float64), w.astype(np.float64))) for row in inputs()]


def predictions(weights: Sequence[float] = WEIGHTS) -> str:
    """Return predictions.csv as the run delivers it."""
    lines = [f"{i},{int(score > 0)},{score:.9f}" for i, score in enumerate(scores(weights))]
    return "\n".join(["id,prediction,score", *lines]) + "\n"


MODEL = Deliverable(
    name="model", path="model.safetensors", reload="python3 reload.py {path}", compare="predictions"
)
PREDICTIONS = Deliverable(
    name="predictions",
    path="predictions.csv",
    key="id",
    rows=ROWS,
    metric=MetricRule(name="accuracy", truth="data/test.csv"),
)
RULE = DecisionRule(metric="accuracy", better="higher", margin=Decimal("0.01"), over="control")
PROMISE = Promise(deliverables=(PREDICTIONS, MODEL), decision=RULE)


@dataclass
class TinyRun:
    """A run that ended well, on a disk below `root`."""

    root: Path
    reload: str = RELOAD
    status: str = "completed"
    why: str | None = None

    def __post_init__(self) -> None:
        self.folder = RunFolder(self.root / "disk" / "runs" / "r1")
        self.code = self.root / "code"
        (self.code / "data").mkdir(parents=True)
        self.outputs = self.folder.outputs
        self.outputs.mkdir(parents=True)
        self.links: dict[str, str] = {}
        self.published: dict[str, str] = {}
        self.write_inputs()
        labels = [f"{i},{int(score > 0) if i else 1 - int(score > 0)}" for i, score in enumerate(scores())]
        (self.code / "data" / "test.csv").write_text("\n".join(["id,label", *labels]) + "\n")
        (self.code / "reload.py").write_text(self.reload)
        save_file({"w": np.asarray(WEIGHTS, dtype=np.float32)}, self.outputs / "model.safetensors")
        (self.outputs / "predictions.csv").write_text(predictions())
        self.publish()

    def write_inputs(self) -> None:
        rows = [f"{i},{a},{b},{c}" for i, (a, b, c) in enumerate(inputs())]
        (self.code / "data" / "inputs.csv").write_text("\n".join(["id,a,b,c", *rows]) + "\n")

    def publish(self) -> None:
        """Tell the journal of the outputs as they are now."""
        self.published = {
            path.relative_to(self.outputs).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in self.outputs.rglob("*")
            if path.is_file()
        }

    def view(self) -> RunView:
        return RunView(
            id="r1", name="control", priority="required", config={}, status=self.status, why=self.why,
            attempts=(), outputs=dict(self.published),
        )  # fmt: skip

    def bench(self, seconds: float = 60.0) -> Bench:
        archive = self.folder.code("c0de")
        if not archive.exists():
            write_archive(self.code, code_files(self.code), archive)
        return Bench(archive=archive, links=self.links, deadline_seconds=seconds)

    def judged(
        self, promise: Promise = PROMISE, *, seconds: float = 60.0, around: Surroundings | None = None
    ) -> Mapping[str, Judgement]:
        work = self.root / "work"
        found = judge_run(self.view(), promise, self.folder, work, self.bench(seconds), around=around)
        assert not list(work.glob("*")), "closing left something in its work folder"
        return {one.name: one for one in found}


def alive_with(marker: str) -> list[int]:
    """Return the processes whose command line holds a text."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if marker in line:
                found.append(int(entry.name))
    return found
