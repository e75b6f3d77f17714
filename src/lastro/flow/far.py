"""Campaigns whose disk lies on another computer: the way there."""

from __future__ import annotations

from pathlib import Path

from lastro.paths import Disk, Home
from lastro.providers.registry import full_name, is_far
from lastro.providers.ssh.ssh import DEFAULT_DISK, replica_key
from lastro.spec.addresses import SCHEME, SEPARATOR, each_of
from lastro.spec.campaign import Campaign


def placed(spec: Campaign, on: str | None) -> Campaign:
    """Return a campaign with its provider's full name: as `--on` says, else as its file does.

    Of several hosts as many machines are used as there are, unless the file says how many.

    Raises:
        UsageError: an address is none, or stands there twice.
    """
    several = SEPARATOR.join(_address(host) for host in spec.hosts)
    name = full_name(on or several or spec.provider)
    changes: dict[str, object] = {"provider": name}
    if "machines" not in spec.model_fields_set and is_far(name):
        changes["machines"] = len(each_of(name))
    return spec.model_copy(update=changes)


def _address(host: str) -> str:
    """Return an address as the list of a provider holds it: a name alone is one too."""
    return host if host.startswith(SCHEME) else f"{SCHEME}{host}"


def path_there(spec: Campaign, disk: Path | None) -> str:
    """Return where the disk lies on the machine: as `--disk` says, else the campaign file."""
    if disk is not None:
        return str(disk)
    return spec.disk.path if spec.disk is not None else DEFAULT_DISK


def copy_of(home: Home, provider: str, path: str) -> Disk:
    """Return where home keeps what it needs of a disk at a path on a machine."""
    return Disk(home.replica(replica_key(provider, path)))
