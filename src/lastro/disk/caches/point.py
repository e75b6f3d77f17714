"""Points the caches of what starts on this machine to a disk."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from lastro.disk.caches.carried import kernel_key
from lastro.disk.caches.settings import Finding, Places, Settings, settings_for
from lastro.locale import _
from lastro.paths import Disk
from lastro.units import show_bytes


def carried_folder(home: Path, key: str) -> Path:
    """Return where compiled kernels lie on a machine."""
    return home / ".cache" / "lastro" / "compiled" / key


def point(disk: Disk, base: Mapping[str, str], key: str | None = None) -> Settings:
    """Return the variables for a program on this machine, with what is to be known of others.

    Args:
        disk: where caches are kept.
        base: the environment that the program would have otherwise.
        key: of its compiled kernels; None: asked of this machine.
    """
    home = Path(base.get("HOME") or Path.home())
    places = Places(
        disk=str(disk.caches.absolute()),
        carried=str(carried_folder(home, kernel_key() if key is None else key)),
        machine=str(home / ".cache" / "lastro" / "staging"),
        home=str(home),
    )
    found = settings_for(places, base)
    return Settings(variables=found.variables, findings=(*found.findings, *_left_behind(home, found)))


def _left_behind(home: Path, found: Settings) -> list[Finding]:
    """Name the models that lie in the usual place and will not be looked for there any more."""
    usual = home / ".cache" / "huggingface" / "hub"
    if "HF_HOME" not in found.variables or not usual.is_dir():
        return []
    models = [path for path in usual.glob("*--*") if path.is_dir()]
    total = sum(blob.stat().st_size for path in models for blob in path.glob("blobs/*"))
    if not total:
        return []
    text = _("{count} models and data sets ({size}) lie in {usual}; `cp -a {usual} {new}` saves a download")
    return [
        Finding(
            variable="HF_HOME",
            text=text.format(
                count=len(models),
                size=show_bytes(total),
                usual=usual,
                new=Path(found.variables["HF_HOME"]) / "hub",
            ),
        )
    ]


def lives_longer(disk: Disk, home: Path, *, own: Path | None) -> bool:
    """Tell whether caches on the disk outlive those in home: home is on a file system that is not the disk's.

    Args:
        disk: where caches would be kept.
        home: where they lie otherwise.
        own: the machine's own storage where lastro deletes it; None: it is not known to go.
    """
    if own is not None:
        return not Path(os.path.realpath(disk.root)).is_relative_to(os.path.realpath(own))
    try:
        return disk.root.stat().st_dev != home.stat().st_dev
    except OSError:
        return False
