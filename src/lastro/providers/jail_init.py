"""The first process inside a jailed machine: `python -m lastro.providers.jail_init FOLDER`.

It gives the loopback the address of the clouds' metadata services, serves it, and starts what it is asked to
start. When it ends, the kernel ends everything else in the jail.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import sys
import threading
import time
from pathlib import Path

from lastro import atomic
from lastro.paths import MachineFolder
from lastro.providers.metadata import MetadataService
from lastro.providers.spool import serve

ADDRESS = "169.254.169.254"
_SIOCSIFADDR = 0x8916  # linux/sockios.h
_LOOK_EVERY = 0.1
#: Between two signs for the process outside that something runs in here.
_SIGN_EVERY = 1.0
#: bwrap's own process and this one.
_OURS = 2


def take_address() -> None:
    """Give the loopback, which is this jail's own, the metadata service's address. Raises OSError."""
    address = struct.pack("16sH2s4s8x", b"lo:0", socket.AF_INET, b"\0\0", socket.inet_aton(ADDRESS))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, _SIOCSIFADDR, address)


def main(argv: list[str]) -> int:
    """Serve until the machine ends, or until it has been announced and nothing is left to be done."""
    folder = MachineFolder(Path(argv[0]))
    take_address()
    service = MetadataService(folder.notice, os.environ["LASTRO_NODE"], (ADDRESS, 80))
    threading.Thread(target=service.serve_forever, daemon=True).start()
    atomic.write_text(folder.jail_ready, "ready\n")
    next_sign = 0.0
    while not (folder.notice.exists() and _alone()):
        if not folder.notice.exists():
            serve(folder, os.environ, folder.scratch / "jail.log", folder.scratch)
        if time.monotonic() >= next_sign and not _alone():
            folder.jail_ready.touch()
            next_sign = time.monotonic() + _SIGN_EVERY
        time.sleep(_LOOK_EVERY)
    return 0


def _alone() -> bool:
    return sum(name.isdigit() for name in os.listdir("/proc")) <= _OURS  # noqa: PTH208 - names are enough


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
