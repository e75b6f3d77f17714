"""State without tensors: for jobs that have not imported a tensor library."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from typing import Any

from lastro.checkpoint.adapters.base import Exchange, Stateful
from lastro.checkpoint.arena import Arena
from lastro.checkpoint.bulk import Reader
from lastro.checkpoint.divided import Divided
from lastro.errors import CheckpointDamaged
from lastro.locale import _


def no_generator(name: str) -> CheckpointDamaged:
    """Return the error for a random state that has no generator here."""
    return CheckpointDamaged(
        _("random/{name} is in the checkpoint, but there is no such generator here").format(name=name),
        hint=_("resume with the same libraries and devices as before"),
    )


class AllParts:
    """Everything that the files hold, as it is."""

    skipped: Collection[str] = ()

    def needs_file_of(self, rank: int) -> bool:
        return True

    def fill(self, tensors: Mapping[str, Any]) -> dict[str, Any]:
        return dict(tensors)


class Plain:
    """Numbers, text and containers; Python's own random generator."""

    def take(self, path: str, value: Any) -> str | None:
        return None

    def hold_back(self, objects: Mapping[str, Stateful]) -> None:
        """Plain values are small: all of them are written each time."""

    def marks(self) -> Mapping[str, object]:
        return {}

    def held_bytes(self) -> int:
        return 0

    def let_move(self, names: Collection[str]) -> None:
        """Nothing is held back."""

    def stage_held(self, arena: Arena) -> None:
        """Nothing is held back."""

    def stage(self, arena: Arena) -> None:
        """Nothing was taken."""

    def devices(self) -> dict[str, list[str]]:
        return {}

    def is_divided(self, objects: Mapping[str, Stateful]) -> bool:
        return False

    def divide(self, together: Exchange) -> dict[str, Divided] | None:
        return {}

    def keep_own(self) -> None:
        """Nothing was taken."""

    def wholes(self) -> Mapping[str, str]:
        return {}

    def parts(self, layout: Mapping[str, Divided], objects: Mapping[str, Stateful]) -> AllParts:
        return AllParts()

    def read_tensors(self, file: Reader, skip: Collection[str] = ()) -> dict[str, Any]:
        raise CheckpointDamaged(
            _("the checkpoint holds tensors, but torch has not been imported"),
            hint=_("import torch before the training loop, as the run did that saved this"),
        )

    def compare(self, saved: Any, live: Any) -> str | None:
        return None

    def compare_shapes(self, saved: Any, live: Any) -> str | None:
        return None

    def prepare(self, saved: Any, live: Any) -> Any:
        return saved

    def random_state(self) -> dict[str, Any]:
        return {"python": random.getstate()}

    def set_random_state(self, state: Mapping[str, Any]) -> None:
        for name in state:
            if name != "python":
                raise no_generator(name)
        random.setstate(state["python"])
