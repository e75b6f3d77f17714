"""What saving and restoring ask of one library of tensors."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Protocol

from lastro.checkpoint.arena import Arena
from lastro.checkpoint.bulk import Reader

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

    def read_tensors(self, file: Reader) -> dict[str, Any]:
        """Read a file to its end; return its tensors, each in memory of its own.

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
