"""What every adapter does in the same way: what is restored late, random states, the ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch  # noqa: F401 - the bridge is PyTorch's where it has been imported

from lastro.checkpoint import snapshot
from lastro.checkpoint.adapters import bridge
from lastro.errors import UsageError
from lastro.job.attempt import Attempt, attach
from lastro.job.ranks import Ranks
from lastro.locale import _


class Late:
    """The place of an object that its framework makes after the checkpoint has been read.

    Until it is bound the state waits here; then it is put back and compared, like that of a tracked object.

    Args:
        name: that it is tracked under.
        live: the object, where there is one already that may be replaced.
    """

    def __init__(self, name: str, live: Any = None) -> None:
        self._name, self._live = name, live
        self._waiting: Any = None

    @property
    def waiting(self) -> Any:
        """The state that was read and not yet put back; None at the very beginning of a run."""
        return self._waiting

    def state_dict(self) -> Any:
        if self._waiting is not None:
            return self._waiting
        return {} if self._live is None else self._live.state_dict()

    def load_state_dict(self, state: Any) -> None:
        self._waiting = state

    def bind(self, live: Any) -> None:
        """Put what waits into the object, and save that object from here on.

        Raises:
            CheckpointDamaged: the object does not take this state, by name.
        """
        waiting, self._waiting, self._live = self._waiting, None, live
        if waiting is not None:
            snapshot.apply({self._name: waiting}, {self._name: live}, bridge(), (snapshot.RANDOM,))


class Facts:
    """Values that have to be the same in every attempt: a difference is refused by its name."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)

    def state_dict(self) -> dict[str, Any]:
        return self._values

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Nothing is taken over: what differs is found by the comparison that follows."""


class Told:
    """State that a framework takes back in its own way, and not always as it was: it is not compared."""

    def __init__(self, ask: Callable[[], Any], take: Callable[[Any], None]) -> None:
        self._ask, self._take = ask, take
        self._taken: Any = None

    def state_dict(self) -> Any:
        taken, self._taken = self._taken, None
        return self._ask() if taken is None else taken

    def load_state_dict(self, state: Any) -> None:
        self._take(state)
        self._taken = state


class SafePoints:
    """One training loop of a framework: restored once, at safe points at the top of its updates.

    Args:
        processes: that train together, as the framework knows it.

    Raises:
        UsageError: their launcher has told them something else.
    """

    def __init__(self, processes: int) -> None:
        self.attempt: Attempt = attach()
        self.ranks: Ranks = self.attempt.ranks
        if processes != self.ranks.count:
            raise UsageError(
                _("{count} processes train together, and {told} were told who they are").format(
                    count=processes, told=self.ranks.count
                ),
                hint=_("start them by torchrun, which tells each its rank and how many there are"),
            )
        self._random: Mapping[str, Any] | None = None

    def restore(self) -> int:
        """Put back what is tracked; return the step to go on after, 0 at the very beginning."""
        step = self.attempt.restore()
        if step > 0:
            # The framework draws from the generators until it trains: they are put back again then.
            self._random = bridge().random_state()
        return step

    def top(self, step: int) -> None:
        """Be at the top of the loop, with `step` updates complete and the next one about to begin."""
        random, self._random = self._random, None
        if random is not None:
            bridge().set_random_state(random)
        self.attempt.safe_point(step)
