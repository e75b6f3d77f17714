"""Names of machines, and what is said of one that cannot be used."""

from __future__ import annotations

import re

from lastro.errors import ProviderError
from lastro.locale import _
from lastro.paths import MachineFolder
from lastro.providers.base import Machine


def checked(folder: MachineFolder, machine_id: str, prefix: str) -> MachineFolder:
    """Return the folder of an id that has the form of this provider's ids: it cannot lead elsewhere.

    Raises:
        ProviderError: it has another form, so there is no such machine.
    """
    if not machine_id.startswith(prefix) or not re.fullmatch(r"[a-z0-9-]+", machine_id):
        raise unknown(machine_id)
    return folder


def unknown(machine_id: str) -> ProviderError:
    """Return the error for an id that no machine of this home has."""
    return ProviderError(
        _("there is no machine {id} here").format(id=machine_id),
        hint=_("its records may lie in another home: see LASTRO_HOME"),
    )


def not_running(machine: Machine) -> ProviderError:
    """Return the error for a start on a machine that cannot take it."""
    why = f" ({machine.cause})" if machine.cause else ""
    return ProviderError(
        _("nothing can be started on {id}: it is {state}{why}").format(
            id=machine.id, state=machine.state.value, why=why
        ),
        hint=_("wait for its boot, or create another machine"),
    )
