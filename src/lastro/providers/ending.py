"""The end of a local machine: everything of it is killed, its scratch is wiped, and only then it is gone."""

from __future__ import annotations

from collections.abc import Sequence

from lastro.clock import Clock
from lastro.paths import MachineFolder
from lastro.procs.killtree import end_tree
from lastro.providers import scratch
from lastro.providers.environment import marker
from lastro.providers.records import End, read_end, read_or_none, write_end

HOST_DIED = "the machine's host process died"


def end_machine(folder: MachineFolder, cause: str, clock: Clock, roots: Sequence[int] = ()) -> End:
    """End what lives of a machine, wipe its scratch, and publish its end. Safe to repeat after a crash.

    Raises:
        ProviderError: something could not be killed; the machine is not gone.
        StorageError: the scratch could not be wiped; the machine is not gone.
    """
    end_tree(marker(folder.root.name), roots)
    scratch.wipe(folder)
    write_end(folder, End(at=clock.stamp(), cause=cause))
    end = read_end(folder)
    assert end is not None
    return end


def bury(folder: MachineFolder, clock: Clock) -> End:
    """End a machine whose process has died, with the cause that it had announced for its end, if any.

    Raises:
        ProviderError, StorageError: see `end_machine`.
    """
    told = (read_or_none(folder.state) or {}).get("ending") or read_or_none(folder.deletion) or {}
    cause = told if isinstance(told, str) else told.get("cause", HOST_DIED)
    return end_machine(folder, cause, clock)
