"""A run that ended well and delivered what a test puts there: code, outputs, a promise, one closing."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lastro.closeout.close import judge_run
from lastro.closeout.identity import mark_duplicates
from lastro.closeout.inventory import Surroundings
from lastro.closeout.judge import Judgement
from lastro.closeout.near import mark_near
from lastro.closeout.promise import Deliverable, Promise
from lastro.closeout.reload.command import Bench
from lastro.journal.views import RunView
from lastro.paths import RunFolder
from lastro.storage.snapshot import code_files, write_archive


@dataclass
class Delivery:
    """One run below `root`. `links`: its inputs, path below the code -> where they are."""

    root: Path
    name: str = "r1"
    links: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder = RunFolder(self.root / "disk" / "runs" / self.name)
        self.outputs = self.folder.outputs
        self.outputs.mkdir(parents=True)
        self.code = self.root / f"code-{self.name}"
        self.code.mkdir()

    def judged(self, *promised: Deliverable, around: Surroundings | None = None) -> Mapping[str, Judgement]:
        """Publish what lies in the outputs, close, and return the judgements by name."""
        archive = self.folder.code("c0de")
        if not archive.exists():
            write_archive(self.code, code_files(self.code), archive)
        published = {
            path.relative_to(self.outputs).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in self.outputs.rglob("*")
            if path.is_file()
        }
        run = RunView(
            id=self.name, name=self.name, priority="required", config={}, status="completed", why=None,
            attempts=(), outputs=published,
        )  # fmt: skip
        bench = Bench(archive=archive, links=self.links, deadline_seconds=240)
        promise = Promise(deliverables=promised, decision=None)
        found = judge_run(run, promise, self.folder, self.root / "work", bench, around=around)
        return {one.name: one for one in found}

    def judge(self, promised: Deliverable, around: Surroundings | None = None) -> Judgement:
        """Publish, close, and return the judgement on the one output that was promised."""
        return self.judged(promised, around=around)[promised.name]


def counted(*judgements: Judgement) -> tuple[Judgement, ...]:
    """Return judgements of several runs as a campaign marks them."""
    return mark_near(mark_duplicates(judgements))
