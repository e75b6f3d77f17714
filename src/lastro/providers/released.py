"""The wish of those who run on a machine that it ends, home or no home."""

from __future__ import annotations

from lastro import strictjson
from lastro.errors import StorageError
from lastro.paths import MachineFolder


def released_by(folder: MachineFolder) -> str | None:
    """Return why a supervisor lets its machine go; None while none does."""
    if not folder.release.exists():
        return None
    try:
        why = str(strictjson.read(folder.release)["why"])
    except (StorageError, KeyError, TypeError):
        why = "it did not say why"  # the scratch is open to every job
    return f"released by its supervisor: {why}"
