"""Which machine looks at a disk: this box, or one that lastro has made, which runs on it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lastro.disk.prove import Who
from lastro.providers.base import Machine
from lastro.providers.environment import MACHINE, NODE, RELEASE
from lastro.providers.here import host_node

#: How the ids of the local provider's machines begin.
LOCAL_MACHINE = "local-"
#: How ids of machines begin whose scratch goes with them.
WITH_SCRATCH = (LOCAL_MACHINE, "slurm-")


def who_of_environment(environment: Mapping[str, str]) -> Who:
    """Return who this process is: a machine with a scratch of its own marks what runs on it."""
    machine, release = environment.get(MACHINE, ""), environment.get(RELEASE)
    if machine.startswith(WITH_SCRATCH) and release is not None:
        own = Path(release).parent
        return Who(node=environment.get(NODE, ""), instance=machine, own=own, environment=environment)
    return Who(node=environment.get(NODE) or host_node(), environment=environment)


def who_of(machine: Machine) -> Who:
    """Return who a machine is whose provider runs it on this box."""
    if machine.id.startswith(LOCAL_MACHINE):
        return Who(node=machine.node, instance=machine.id, own=machine.workdir.parent)
    return Who(node=machine.node)
