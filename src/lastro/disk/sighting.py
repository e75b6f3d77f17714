"""Who sees a disk: this machine, as far as it can be told from every other one."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from lastro.clock import boot_id
from lastro.disk.facts import Sighting
from lastro.disk.mounts import Mount, device_of, mount_of, read_mounts

_MACHINE_ID = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
#: Where images leave the provider's id of the machine: cloud-init's, and AWS's in the firmware tables.
_CLOUD_INIT = Path("/var/lib/cloud/data/instance-id")
_ASSET_TAG = Path("/sys/class/dmi/id/board_asset_tag")
#: Variables in which providers of containers name the machine.
_VARIABLES = ("RUNPOD_POD_ID", "VAST_CONTAINERLABEL", "CONTAINER_ID", "PAPERSPACE_NOTEBOOK_ID")


def sighting_of(
    root: Path,
    *,
    node: str = "",
    instance: str | None = None,
    own: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Sighting:
    """Return how this machine sees a disk.

    Args:
        root: of the disk; it has to be there.
        node: what the machine is called where it is known by a name.
        instance: the provider's id of it; None: looked up.
        own: of a machine of the local provider, its own storage; None: this box, whose root file system is.
        environment: this process's by default.

    Raises:
        OSError: the disk cannot be asked.
    """
    mounts = read_mounts()
    place = os.path.realpath(root)
    mount = mount_of(place, mounts)
    env = os.environ if environment is None else environment
    return Sighting(
        node=node,
        machine_id=_digest(_first_line(*_MACHINE_ID)),
        boot_id=boot_id(),
        instance=_instance(env) if instance is None else instance,
        root_device=_device_id("/", mounts),
        source=f"{mount.source}:{mount.root}" if mount else "",
        fs_type=mount.fs_type if mount else "",
        on_root=_is_own(place, own),
        rehearsal=own is not None,
    )


def _is_own(place: str, own: Path | None) -> bool:
    if own is not None:
        return Path(place).is_relative_to(os.path.realpath(own))
    return device_of(os.stat(place)) == device_of(os.stat("/"))  # noqa: PTH116 - a real path's text


def _device_id(path: str, mounts: list[Mount]) -> str:
    """Return what tells a file system from that of another machine: its source, and the kernel's id of it."""
    mount = mount_of(path, mounts)
    found = os.statvfs(path).f_fsid
    return f"{mount.source if mount else ''} {found:x}"


def _instance(environment: Mapping[str, str]) -> str:
    for name in _VARIABLES:
        if environment.get(name):
            return environment[name]
    tag = _first_line(_ASSET_TAG)
    return _first_line(_CLOUD_INIT) or (tag if tag.startswith("i-") else "")


def _first_line(*paths: Path) -> str:
    for path in paths:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            if text := path.read_text().strip():
                return text.splitlines()[0]
    return ""


def _digest(text: str) -> str:
    """Return a digest: machine-id(5) asks that the id itself is kept to the machine."""
    return hashlib.sha256(f"lastro disk {text}".encode()).hexdigest()[:16] if text else ""
