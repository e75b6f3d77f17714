"""One checkpoint that several processes write together, because each holds a part of the state.

Each writes its part and makes it durable; the first one publishes all of them under one manifest when the
last one is; then each reads its own part again. All of them go through the same steps, and meet in them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from lastro import atomic
from lastro.checkpoint import health, store
from lastro.checkpoint.snapshot import STATE, Snapshot
from lastro.errors import LastroError, StorageError
from lastro.job.ranks import Ranks
from lastro.locale import _
from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Written:
    """What one process has made durable. `not_finite`: of its tensors, None where it has written none."""

    files: Mapping[str, store.FileEntry]
    base: Mapping[str, store.FileEntry]
    not_finite: tuple[str, ...] | None

    @property
    def size(self) -> int:
        """Bytes of the checkpoint's own files."""
        return sum(entry.bytes for entry in self.files.values())


class JointSave:
    """One save, at one of the processes.

    Args:
        ranks: a line between the processes on which nothing else is said meanwhile.
        facts: of the manifest.
        checkpoints: the run's folder of them.
        folder: in it, where the parts wait until they are published; made by whoever comes first.
        still_mine: see `store.publish`.
    """

    def __init__(
        self,
        *,
        ranks: Ranks,
        facts: store.Facts,
        checkpoints: Path,
        folder: str,
        still_mine: Callable[[], bool],
    ) -> None:
        self._ranks, self._facts, self._still_mine = ranks, facts, still_mine
        self._checkpoints, self._folder = checkpoints, checkpoints / folder
        self._mine: Written | None = None
        self._all: list[Written] = []
        self._state_size = 0

    @property
    def first(self) -> bool:
        return self._ranks.first

    @property
    def size(self) -> int:
        """Bytes of the whole checkpoint without its manifest; known at the first process, once published."""
        return self._state_size + sum(part.size for part in self._all)

    def write(self, snapshot: Snapshot) -> None:
        """Write this process's part, and see that it is durable. Can be called again after a full disk."""
        atomic.make_folder(self._folder)
        for left_over in self._folder.glob(f"tensors.{self._ranks.rank}.*"):
            left_over.unlink()
        draft = store.Draft(self._folder, self._last_check)
        not_finite = snapshot.write_part(draft)
        for name in draft.files:
            atomic.sync_file(self._folder / name)
        atomic.sync_folder(self._folder)
        self._mine = Written(files=draft.files, base=draft.base, not_finite=not_finite)

    def collect(self) -> None:
        """Wait until every process has made its part durable."""
        self._all = self._exchange(lambda: self._ranks.at_first(self._mine)) or []

    def publish(self, snapshot: Snapshot, from_start: Collection[str]) -> store.Draft | None:
        """Publish all parts as one checkpoint; at the other processes, nothing. See `store.publish`."""
        if not self.first:
            return None
        with store.publish(self._checkpoints, self._facts, self._still_mine) as draft:
            for part in self._all:
                for name, entry in part.files.items():
                    draft.adopt(self._folder / name, entry)
                draft.base.update(part.base)
            draft.write(STATE, [snapshot.state])
            self._state_size = draft.files[STATE].bytes
            looked_at = [part.not_finite for part in self._all if part.not_finite is not None]
            bad = [name for names in looked_at for name in names]
            draft.health = health.judge(bad if looked_at else None, from_start)
        atomic.remove_tree(self._folder)
        return draft

    def read_again(self, *, base: bool) -> tuple[str, ...]:
        """Read this process's part again from the disk; return at the first one what all have found wrong.

        Args:
            base: also what of it lies beside the checkpoints.
        """
        self._exchange(lambda: self._ranks.from_first(None))  # it is published now
        assert self._mine is not None
        names = {*self._mine.files, *([STATE] if self.first else [])}
        beside = set(self._mine.base) if base else set()
        problems = store.verify_files(self._checkpoints / self._facts.name, names, beside)
        found = self._exchange(lambda: self._ranks.at_first(problems)) or []
        return tuple(problem for problems in found for problem in problems)

    def _last_check(self) -> None:
        if not self._still_mine():
            raise store.fenced(self._facts.attempt)

    def _exchange(self, exchange: Callable[[], Any]) -> Any:
        try:
            return exchange()
        except LastroError:
            raise
        except RuntimeError as error:  # what torch says when the other end is gone
            raise StorageError(
                _("step {step} was not saved: another process of the job has ended").format(
                    step=self._facts.step
                ),
                hint=_("its own log says why; all of them go on from the checkpoint before"),
            ) from error
