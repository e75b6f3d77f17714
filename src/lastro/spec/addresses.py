"""Where a machine is had: `ssh://user@host:port`, or `user@host` as it is typed for ssh; `slurm://PARTITION`."""

from __future__ import annotations

import re

from lastro.errors import UsageError
from lastro.locale import _
from lastro.records import dataclass

SCHEME = "ssh://"
#: Stands between the addresses of a provider that is several machines.
SEPARATOR = ","
_FORM = re.compile(
    r"(?:(?P<user>[A-Za-z0-9_][A-Za-z0-9_.-]*)@)?(?P<host>\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9_][A-Za-z0-9_.-]*)"
    r"(?::(?P<port>[0-9]{1,5}))?"
)
_LAST_PORT = 65535
#: A cluster; with `://PARTITION` behind it, one partition of it.
CLUSTER = "slurm"
_PARTITION = re.compile(r"[A-Za-z0-9_.,-]+")


@dataclass(frozen=True, kw_only=True)
class Target:
    """A machine's address. What is None is for ssh to decide, by its own configuration."""

    host: str
    user: str | None = None
    port: int | None = None

    @property
    def spec(self) -> str:
        """How it is written in a campaign file and in the journal."""
        user = f"{self.user}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{SCHEME}{user}{host}" + (f":{self.port}" if self.port else "")

    @property
    def typed(self) -> str:
        """What a person types to log in there."""
        port = f"-p {self.port} " if self.port else ""
        return f"ssh {port}{self.login}"

    @property
    def login(self) -> str:
        return f"{self.user}@{self.host}" if self.user else self.host


def is_address(spec: str) -> bool:
    """Tell whether a provider's name is an address for ssh: it has the scheme, or an `@`."""
    return spec.startswith(SCHEME) or "@" in spec


def each_of(spec: str) -> tuple[str, ...]:
    """Return the addresses of a name that lists several, or the one; each is still as it was typed."""
    return tuple(one.strip() for one in spec.split(SEPARATOR))


def parse(spec: str) -> Target:
    """Read an address.

    Nothing that ssh would take for an option, and nothing that a shell would act upon, is one.

    Raises:
        UsageError: it is none.
    """
    found = _FORM.fullmatch(spec.removeprefix(SCHEME).rstrip("/"))
    port = int(found["port"]) if found and found["port"] else None
    if found is None or (port is not None and not 0 < port <= _LAST_PORT):
        raise UsageError(
            _("{spec!r} is no address for ssh").format(spec=spec),
            hint=_("write ssh://user@host or ssh://user@host:port"),
        )
    return Target(host=found["host"].strip("[]"), user=found["user"], port=port)


def partition_of(spec: str) -> str | None:
    """Return the partition that `slurm://PARTITION` names; None: it names none.

    Raises:
        UsageError: what follows is not the name of a partition.
    """
    partition = spec.partition("://")[2]
    if partition and not _PARTITION.fullmatch(partition):
        raise UsageError(
            _("{spec} names no partition").format(spec=spec), hint=_("slurm, or slurm://PARTITION")
        )
    return partition or None


def place_of(provider: str | None) -> str | None:
    """Return the place that a provider's name is, in full: one host, one partition; None: it is no place.

    Companies, and the ways in which a machine is had (`local`, `slurm`), are none.

    Raises:
        UsageError: it looks like one, and is none.
    """
    if provider is None:
        return None
    if is_address(provider):
        return parse(provider).spec
    return provider if provider.startswith(f"{CLUSTER}://") and partition_of(provider) else None


def is_within(place: str, provider: str) -> bool:
    """Say whether a campaign that runs on a provider can have a machine at a place."""
    return place in each_of(provider) or (provider == CLUSTER and place.startswith(f"{CLUSTER}://"))
