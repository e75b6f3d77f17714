"""Campaigns whose disk lies on another computer: the way there."""

from __future__ import annotations

from pathlib import Path

from lastro.paths import Disk, Home
from lastro.providers.ssh.ssh import DEFAULT_DISK, replica_key
from lastro.spec.campaign import Campaign


def path_there(spec: Campaign, disk: Path | None) -> str:
    """Return where the disk lies on the machine: as `--disk` says, else the campaign file."""
    if disk is not None:
        return str(disk)
    return spec.disk.path if spec.disk is not None else DEFAULT_DISK


def copy_of(home: Home, provider: str, path: str) -> Disk:
    """Return where home keeps what it needs of a disk at a path on a machine."""
    return Disk(home.replica(replica_key(provider, path)))
