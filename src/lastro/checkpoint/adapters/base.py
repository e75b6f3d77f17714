"""What saving and restoring ask of one library of tensors."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Protocol

from lastro.checkpoint.arena import Arena
from lastro.checkpoint.bulk import Reader
from lastro.checkpoint.divided import Divided

#: The one file of a checkpoint that holds tensors, in the safetensors format.
TENSORS = "tensors.safetensors"


class Stateful(Protocol):
    """What can be tracked: models, optimizers, schedulers, scalers, and whatever else has these two."""

    def state_dict(self) -> Any:
        """Return all that the object needs to go on."""
        ...

    def load_state_dict(self, state_dict: Any, /) -> Any:
        """Become what the state says."""
        ...


class Staged(Protocol):
    """Copied tensors. Used by one thread at a time, which need not be the one that has copied them."""

    @property
    def memory(self) -> memoryview:
        """The bytes of the file `TENSORS`, in an arena."""
        ...

    def not_finite(self) -> tuple[str, ...]:
        """Return the names of those that hold NaN or an infinity, in the order in which they were taken."""
        ...


class Exchange(Protocol):
    """The processes that train together. Every method is called by all of them."""

    @property
    def rank(self) -> int:
        """Which of them this is, from 0."""
        ...

    @property
    def first(self) -> bool:
        """Whether this is rank 0."""
        ...

    def at_first(self, value: Any) -> list[Any] | None:
        """Return at the first process what each of them gives, by rank; None at the others."""
        ...

    def from_first(self, value: Any) -> Any:
        """Return what the first process gives."""
        ...


class Parts(Protocol):
    """What this process takes out of a checkpoint whose tensors are divided, or are to be."""

    @property
    def skipped(self) -> Collection[str]:
        """Names of tensors in the files that hold nothing for this process."""
        ...

    def needs_file_of(self, rank: int) -> bool:
        """Tell whether anything is needed that this process has written."""
        ...

    def fill(self, tensors: Mapping[str, Any]) -> dict[str, Any]:
        """Return the tensors of the state by name, made of those of the files that were not skipped.

        Raises:
            CheckpointDamaged: a part is not there, or is not what the layout says.
        """
        ...


class Bridge(Protocol):
    """One library of tensors and its random states."""

    def take(self, path: str, value: Any) -> str | None:
        """Return the name under which a tensor is kept, and remember it; None for what is no tensor.

        Raises:
            CheckpointDamaged: a tensor of a kind that cannot be put back exactly, by name.
        """
        ...

    def hold_back(self, objects: Mapping[str, Stateful]) -> None:
        """Keep apart, of what is taken from now on, the tensors that these objects declare not to train."""
        ...

    def marks(self) -> Mapping[str, object]:
        """Return, for each tensor that is held back, what changes when its values do. Compared with `==`."""
        ...

    def held_bytes(self) -> int:
        """Return how many bytes are held back."""
        ...

    def let_move(self, names: Collection[str]) -> None:
        """Hold these back no more: they are copied by `stage` like any others."""
        ...

    def stage_held(self, arena: Arena) -> Staged | None:
        """Copy the tensors that are held back; None without any."""
        ...

    def stage(self, arena: Arena) -> Staged | None:
        """Copy the tensors that were taken since the last call; None without any.

        When this returns, whatever happens to the tensors changes nothing of the copy.
        """
        ...

    def is_divided(self, objects: Mapping[str, Stateful]) -> bool:
        """Tell whether each process holds only a part of some tensor of these objects."""
        ...

    def divide(self, together: Exchange) -> dict[str, Divided] | None:
        """Keep, of what was taken, only what this process writes. Called by all of them.

        Returns:
            At the first process, how each divided tensor is divided; None at the others.

        Raises:
            CheckpointDamaged: the processes hold tensors that do not fit together, by name.
        """
        ...

    def keep_own(self) -> None:
        """Keep of each divided tensor that was taken what this process holds, under the tensor's name."""
        ...

    def wholes(self) -> Mapping[str, str]:
        """Return the name of the tensor that each part belongs to, by the part's own; known once divided."""
        ...

    def parts(self, layout: Mapping[str, Divided], objects: Mapping[str, Stateful]) -> Parts:
        """Say what of a checkpoint these objects need here.

        Args:
            layout: how its divided tensors are divided.
            objects: by the names that they are tracked under; each tensor is to be divided as theirs are.
        """
        ...

    def read_tensors(self, file: Reader, skip: Collection[str] = ()) -> dict[str, Any]:
        """Read a file to its end; return its tensors, each in memory of its own, but for those to skip.

        Raises:
            CheckpointDamaged: it is not a file of tensors, or this library cannot hold them.
            EOFError: it is shorter than it says.
        """
        ...

    def devices(self) -> dict[str, list[str]]:
        """Return on which kinds of devices the taken tensors lie, by the first part of their paths."""
        ...

    def compare(self, saved: Any, live: Any) -> str | None:
        """Return what differs, "" when every bit is the same, None when neither is a tensor."""
        ...

    def compare_shapes(self, saved: Any, live: Any) -> str | None:
        """Like `compare`, but for shape and element type alone."""
        ...

    def prepare(self, saved: Any, live: Any) -> Any:
        """Return `saved` in the form that the object with the state `live` loads."""
        ...

    def random_state(self) -> dict[str, Any]:
        """Return the state of every generator of this process."""
        ...

    def set_random_state(self, state: Mapping[str, Any]) -> None:
        """Put the generators back.

        Raises:
            CheckpointDamaged: a generator of the state does not exist here, by name.
        """
        ...
