"""What a run declares not to train is written once, and referred to by each checkpoint.

A tensor belongs to it when it is a parameter that asks for no gradient. It is known to be unchanged by a
mark: its place in memory, the library's own count of changes made to it, and a sample of its values, for
changes that go past that count. What has a new mark is not fixed after all, and is part of every checkpoint
from then on.
"""

from __future__ import annotations

from lastro.checkpoint import store
from lastro.checkpoint.adapters.base import Bridge, Staged
from lastro.checkpoint.arena import Arena

#: Less than this is not worth a file of its own.
LEAST_BYTES = 1 << 20


class Base:
    """Which file holds what is fixed, and the marks that it had when it was written."""

    def __init__(self) -> None:
        self._marks: dict[str, object] = {}
        self._moving: set[str] = set()
        self._not_finite: tuple[str, ...] = ()
        self._file: tuple[str, store.FileEntry] | None = None

    def divide(self, bridge: Bridge, *, look_again: bool) -> Part:
        """Leave with the bridge what is written with this checkpoint; return the rest.

        Args:
            bridge: has taken the state, and holds the fixed part back.
            look_again: copy and digest the fixed part although nothing shows that it has changed.
        """
        bridge.let_move(self._moving)
        marks = bridge.marks()
        changed = {name for name in marks if self._marks.get(name, marks[name]) != marks[name]}
        if changed:
            self._moving |= changed
            bridge.let_move(changed)
            marks = bridge.marks()
        if bridge.held_bytes() < LEAST_BYTES:
            bridge.let_move(marks.keys())
            return Part(self, None, fixed=False)
        if marks == self._marks and self._file is not None and not look_again:
            return Part(self, None, fixed=True)
        self._marks, self._file = dict(marks), None
        return Part(self, bridge.stage_held(Arena()), fixed=True)

    def write(self, draft: store.Draft, staged: Staged | None) -> None:
        """Refer to the file in a draft; write it first where that is needed."""
        if staged is not None:
            self._not_finite = staged.not_finite()
            self._file = draft.write_base(staged.memory)
        assert self._file is not None
        name, entry = self._file
        draft.base[name] = entry

    @property
    def not_finite(self) -> tuple[str, ...]:
        """Names of fixed tensors that hold NaN or an infinity; known once it was written."""
        return self._not_finite


class Part:
    """The fixed part of one snapshot. `staged`: a copy, where it has to be written; `fixed`: there is one."""

    def __init__(self, base: Base, staged: Staged | None, *, fixed: bool) -> None:
        self._base, self.staged, self.fixed = base, staged, fixed

    @property
    def size(self) -> int:
        """Bytes that are to be written for it now."""
        return len(self.staged.memory) if self.staged else 0

    def write(self, draft: store.Draft) -> tuple[str, ...]:
        """Refer to it in a draft; return the names of its tensors that are not finite."""
        if not self.fixed:
            return ()
        self._base.write(draft, self.staged)
        return self._base.not_finite
