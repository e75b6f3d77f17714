"""What saving and restoring ask of one library of tensors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from lastro.checkpoint.store import Draft

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


class Bridge(Protocol):
    """One library of tensors and its random states."""

    def take(self, path: str, value: Any) -> str | None:
        """Return the name under which a tensor is kept, and remember it; None for what is no tensor.

        Raises:
            CheckpointDamaged: a tensor of a kind that cannot be put back exactly, by name.
        """
        ...

    def not_finite(self) -> tuple[str, ...] | None:
        """Return the names of the taken tensors that hold NaN or an infinity; None without any tensor."""
        ...

    def write_taken(self, draft: Draft) -> None:
        """Write the tensors that were taken since the last call into `TENSORS`; none make no file."""
        ...

    def read_tensors(self, path: Path) -> dict[str, Any]:
        """Return the tensors of a file, in memory of their own.

        Raises:
            CheckpointDamaged: it is not a file of tensors, or this library cannot hold them.
        """
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
