"""Which door a machine has: the explicit list."""

from __future__ import annotations

from lastro.clock import Clock
from lastro.errors import ProviderError
from lastro.locale import _
from lastro.paths import Disk, Home
from lastro.providers.base import Machine, MachineState, Provider
from lastro.providers.doors.box import HereDoor, LocalDoor
from lastro.providers.doors.door import Door
from lastro.providers.doors.slurm import SlurmDoor
from lastro.providers.doors.ssh import SshDoor
from lastro.providers.here import Here
from lastro.providers.local import Local
from lastro.providers.slurm.slurm import Slurm
from lastro.providers.ssh.hosts import Hosts
from lastro.providers.ssh.ssh import Ssh

_OPEN = (MachineState.RUNNING, MachineState.LEAVING)


def door_of(
    provider: Provider, machine_id: str, home: Home, disk: Disk, clock: Clock
) -> tuple[Machine, Door]:
    """Return a machine as it is now, and its door. `disk`: the campaign's, or home's copy of it.

    Raises:
        ProviderError: it is not there, or does not answer.
        StorageError: its disk is not there.
    """
    if isinstance(provider, Hosts):
        provider = provider.at(machine_id)
    machine = provider.describe(machine_id)
    if machine.state not in _OPEN:
        why = f" ({machine.cause})" if machine.cause else ""
        raise ProviderError(
            _("nobody is let into {id}: it is {state}{why}").format(
                id=machine.id, state=machine.state.value, why=why
            ),
            hint=_("`lastro status` shows the machines of this campaign"),
        )
    if isinstance(provider, Ssh):
        return machine, SshDoor(provider.channel, machine, disk)
    if isinstance(provider, Slurm):
        return machine, SlurmDoor(home.slurm_machine(machine.id), disk, clock)
    if isinstance(provider, Local):
        return machine, LocalDoor(home.local_machine(machine.id), disk)
    assert isinstance(provider, Here)
    return machine, HereDoor(home.here_machine(machine.id), disk)
