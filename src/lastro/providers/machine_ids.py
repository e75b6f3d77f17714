"""Names of machines, and what is said of one that cannot be used."""

from __future__ import annotations

import hashlib
import re
from datetime import datetime
from pathlib import Path

from lastro.errors import ProviderError, UsageError
from lastro.locale import _
from lastro.paths import Home, MachineFolder
from lastro.providers.base import Machine, MachineState, Made
from lastro.storage.home import home_id


def digest_of(home: Home, tag: str) -> str:
    """Return the digest that names the machine of a tag.

    The home is part of it: processes are ended by the id of their machine, and another home on this box
    may have used the same tag.
    """
    return _digest(home_id(home), tag)


def digest_of_another(made: Made) -> str:
    """Return the digest that names the machine of another home."""
    return _digest(made.home, made.request.tag)


def _digest(home: str, tag: str) -> str:
    return hashlib.sha256(f"{home} {tag}".encode()).hexdigest()


def unknown_machine(machine_id: str, why: str, now: datetime, tag: str = "") -> Machine:
    """Return what is known here of another home's machine that could not be asked: that it may bill on."""
    return Machine(
        id=machine_id,
        node="",
        tag=tag,
        state=MachineState.UNKNOWN,
        workdir=Path(),
        created_at=now,
        cause=why,
    )


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


def takes_no_faults(provider: str) -> UsageError:
    """Return the error for scripted faults on machines that no script can take away."""
    return UsageError(
        _("scripted faults cannot be executed on '{name}': its machines are real").format(name=provider),
        hint=_("rehearse with --on local"),
    )
