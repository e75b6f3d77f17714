"""The processes of a job that train together, as torchrun starts them, and what they have to agree on.

The first one, rank 0, saves and tells; at each safe point all of them learn in one exchange what it has
decided and whether any was asked to leave. So all save, and all leave, after the same update.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from lastro.errors import UsageError
from lastro.locale import _

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup

#: How long a process waits for the others: they may be verifying a large checkpoint, or wait for room.
_PATIENCE = timedelta(hours=6)


class Ranks:
    """Which of the processes this is. Every method that exchanges something is called by all of them.

    Args:
        rank: of this process, from 0.
        count: of all processes; 1: there is nobody to agree with, and nothing is exchanged.
    """

    def __init__(self, rank: int = 0, count: int = 1) -> None:
        self.rank, self.count = rank, count
        self._group: ProcessGroup | None = None

    @property
    def first(self) -> bool:
        """Whether this is the process that saves and tells."""
        return self.rank == 0

    @property
    def several(self) -> bool:
        return self.count > 1

    def meet(self) -> None:
        """Make a group of these processes for lastro's own exchanges, on the CPU whatever trains.

        Raises:
            UsageError: torch.distributed does not know them, or knows more than the environment told.
        """
        distributed = _distributed()
        known = distributed.get_world_size() if distributed is not None else 1
        if known != self.count:
            raise UsageError(
                _("WORLD_SIZE names {told} processes, and torch.distributed knows {known}").format(
                    told=self.count, known=known
                ),
                hint=_("start them by torchrun, and call init_process_group before steps or restore"),
            )
        self._group = self._new_group()

    def apart(self) -> Ranks:
        """Return a second line between the same processes, for a thread that has its own to say."""
        other = Ranks(self.rank, self.count)
        other._group = self._new_group()
        return other

    def _new_group(self) -> ProcessGroup | None:
        if not self.several:
            return None
        import torch

        group: ProcessGroup = torch.distributed.new_group(backend="gloo", timeout=_PATIENCE)
        return group

    def any_of(self, wishes: Sequence[bool]) -> tuple[bool, ...]:
        """Return for each of the wishes whether any process has it."""
        if not self.several:
            return tuple(wishes)
        import torch

        told = torch.tensor([int(wish) for wish in wishes], dtype=torch.int32)
        torch.distributed.all_reduce(told, op=torch.distributed.ReduceOp.MAX, group=self._group)
        return tuple(bool(value) for value in told.tolist())

    def from_first(self, value: Any) -> Any:
        """Return what the first process gives."""
        if not self.several:
            return value
        import torch

        told = [value]
        torch.distributed.broadcast_object_list(told, src=0, group=self._group)
        return told[0]

    def at_first(self, value: Any) -> list[Any] | None:
        """Return at the first process what each of them gives, by rank; None at the others."""
        if not self.several:
            return [value]
        import torch

        given: list[Any] | None = [None] * self.count if self.first else None
        torch.distributed.gather_object(value, given, dst=0, group=self._group)
        return given

    def wait_for_all(self) -> None:
        """Return when all of them are here."""
        if self.several:
            import torch

            torch.distributed.barrier(group=self._group)


def ranks_of(environment: Mapping[str, str] = os.environ) -> Ranks:
    """Return what torchrun, or another launcher that speaks like it, has told this process."""
    count = int(environment.get("WORLD_SIZE") or 1)
    return Ranks(int(environment.get("RANK") or 0) if count > 1 else 0, count)


def _distributed() -> Any:
    """Return torch.distributed where the job has made its group; None where it has not."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.distributed.is_available() or not torch.distributed.is_initialized():
        return None
    return torch.distributed
