"""What a set-up installs, kept on the disk: the next machine installs the same without a network."""

from __future__ import annotations

import hashlib
import re
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from lastro.paths import Disk

_LISTS = re.compile(r"\bpip3? (?:install|sync)\b[^;&|\n]*?(?:-r|--requirement)[= ]*([^\s;&|]+)")

#: Packages are brought into the wheelhouse once, and installed from there without a network; where that does
#: not work (a package of another Python, a list that changed), the set-up is done as it is written.
SCRIPT = """
wheelhouse=$1 complete=$2 setup=$3
shift 3
if [ ! -e "$complete" ]; then
    mkdir -p "$wheelhouse"
    if python -m pip wheel --quiet --wheel-dir "$wheelhouse" "$@" >&2; then
        : > "$complete"
    else
        echo "lastro: packages could not be kept on the disk; the set-up goes on without" >&2
    fi
fi
if [ -e "$complete" ]; then
    PIP_NO_INDEX=1 PIP_FIND_LINKS="file://$wheelhouse" sh -c "$setup" && exit 0
    echo "lastro: not everything is in $wheelhouse; the set-up is done with the network" >&2
fi
sh -c "$setup"
"""


def lists_of(setup: str) -> list[str]:
    """Return the files of requirements that a set-up gives to pip, in their order. Pure."""
    return [name.strip("'\"") for name in _LISTS.findall(setup)]


def with_wheels(setup: str, workdir: Path, disk: Disk) -> tuple[str, ...]:
    """Return the command that does a set-up out of the disk's packages; `sh -c` itself where it has no list.

    Args:
        setup: as the campaign file has it.
        workdir: the folder that it runs in.
        disk: whose wheelhouse is used.
    """
    names = lists_of(setup)
    key = key_of([workdir / name for name in names]) if names else None
    if key is None:
        return ("sh", "-c", setup)
    lists = [part for name in names for part in ("-r", name)]
    complete = disk.wheels_complete(key)
    return ("sh", "-c", SCRIPT, "lastro-wheels", str(disk.wheelhouse), str(complete), setup, *lists)


def key_of(lists: Sequence[Path]) -> str | None:
    """Return what the packages of these lists are known by; None when one of the lists is not there."""
    digest = hashlib.sha256(f"{sysconfig.get_platform()} {sysconfig.get_python_version()}".encode())
    for path in lists:
        try:
            digest.update(path.read_bytes())
        except OSError:
            return None
    return digest.hexdigest()[:16]
