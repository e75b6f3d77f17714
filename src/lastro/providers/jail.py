"""The jailed level of a local machine: its own root view, processes, host name and network, by bubblewrap.

Inside, everything is read-only but its scratch and the disk; `/tmp` and `/dev/shm` are its own; its
processes have a PID namespace, so that the end of its first one ends them all; the only address is that of
its metadata service, as on a cloud's machine. Nothing is mounted outside, and nothing stays.
"""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Mapping
from pathlib import Path

from lastro import atomic
from lastro.paths import MachineFolder
from lastro.sandbox import bubblewrap

PLAIN, JAILED = "plain", "jailed"
#: Which level new machines get: jailed where it is asked for and can be had.
LEVEL = "LASTRO_LOCAL_LEVEL"
#: The id of the kernel's boot: a jail shows another one, so that its pids are taken for nobody else's.
_BOOT_ID = "/proc/sys/kernel/random/boot_id"
_APART = ("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--die-with-parent")
#: To give its loopback the metadata service's address, and to listen on port 80 there.
_RIGHTS = ("--cap-add", "CAP_NET_ADMIN", "--cap-add", "CAP_NET_BIND_SERVICE")


def level_for(environment: Mapping[str, str]) -> tuple[str, str | None]:
    """Return the level of a machine that is made now, and why it is not the one that was asked for."""
    if environment.get(LEVEL) != JAILED:
        return PLAIN, None
    why = why_not()
    return (JAILED, None) if why is None else (PLAIN, why)


def why_not() -> str | None:
    """Return why machines cannot be jailed here; None when they can. Tried once, with all that it takes."""
    seen = ("--ro-bind", "/", "/", "--proc", "/proc", "--ro-bind", "/dev/null", _BOOT_ID)
    return bubblewrap.why_not(*_APART, *_RIGHTS, *seen)


def start(folder: MachineFolder, disk: Path, node: str, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start the jail of a machine, with `jail_init` as its first process. It dies with the caller."""
    boot_id = folder.root / "boot_id"
    if not boot_id.exists():
        atomic.write_text(boot_id, f"{uuid.uuid4()}\n")
    argv = [
        *(bubblewrap.TOOL, *_APART, *_RIGHTS, "--hostname", node),
        *("--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev", "--tmpfs", "/dev/shm"),
        *("--proc", "/proc", "--ro-bind", str(boot_id), _BOOT_ID),
        *("--bind", str(folder.tmp), "/tmp"),
        *_programs_below("/tmp"),
        *bubblewrap.writable(*(path.absolute() for path in (disk, folder.scratch, folder.requests))),
        *(*bubblewrap.read_only(folder.record.absolute()), "--chdir", str(folder.scratch)),
        *("--", sys.executable, "-m", "lastro.providers.jail_init", str(folder.root)),
    ]
    with folder.log.open("ab") as log:
        return subprocess.Popen(argv, env=dict(env), stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def _programs_below(hidden: str) -> list[str]:
    """Return the binds of Python and lastro where they lie in a folder that the jail has another of."""
    roots = {sys.prefix, sys.base_prefix, str(Path(__file__).parents[2])}
    return bubblewrap.read_only(*sorted(root for root in roots if Path(root).is_relative_to(hidden)))


def environment(base: Mapping[str, str]) -> dict[str, str]:
    """Return what processes in a jail see: the metadata service in place of the notice file."""
    cloud = os.environ.get("LASTRO_LOCAL_CLOUD") or "aws"
    kept = {name: value for name, value in base.items() if name != "LASTRO_NOTICE"}
    return {**kept, "TMPDIR": "/tmp", "LASTRO_NOTICES": cloud}
