"""The environment of what runs on a machine of this box: marked with the machine, and the same `python`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

#: Inherited by everything that runs on a machine: what bears it is ended with the machine.
MACHINE = "LASTRO_MACHINE"
NODE = "LASTRO_NODE"
#: Names the file in which a machine announces that it will be taken away.
NOTICE = "LASTRO_NOTICE"
#: Names the file by which a supervisor lets its machine go, where the machine listens to one.
RELEASE = "LASTRO_RELEASE"


def marker(machine_id: str) -> tuple[str, str]:
    """Return the variable by which the processes of a machine are found."""
    return (MACHINE, machine_id)


def with_interpreter(base: Mapping[str, str]) -> dict[str, str]:
    """Return `base` with a PATH on which `python` is the one that the user means.

    In an activated environment that is decided already; otherwise it is the Python that runs lastro.
    """
    if base.get("VIRTUAL_ENV") or base.get("CONDA_PREFIX"):
        return dict(base)
    # Not resolved: a virtual environment is known by the path of its link.
    folder = str(Path(sys.executable).parent)
    rest = [part for part in base.get("PATH", os.defpath).split(os.pathsep) if part and part != folder]
    return {**base, "PATH": os.pathsep.join([folder, *rest])}


def on_machine(base: Mapping[str, str], machine_id: str, node: str) -> dict[str, str]:
    """Return `base` with the machine's marks and the user's interpreter."""
    return {**with_interpreter(base), MACHINE: machine_id, NODE: node}


def in_scratch(base: Mapping[str, str], home: Path, tmp: Path) -> dict[str, str]:
    """Return `base` with home and temporary folder of a machine's own, and nothing that points elsewhere."""
    kept = {
        name: value
        for name, value in base.items()
        if name not in ("TEMP", "TMP", "LASTRO_HOME")
        and not (name.startswith("XDG_") and name.endswith("_HOME"))
    }
    return {**kept, "HOME": str(home), "TMPDIR": str(tmp)}
