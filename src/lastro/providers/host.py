"""Being the one process that is a machine, and the parent of all that runs on it."""

from __future__ import annotations

import contextlib
import ctypes
import os

from lastro import atomic, strictjson
from lastro.paths import MachineFolder
from lastro.procs.identity import identity_of

#: What a process ends with that was started to be a machine and is not it.
NOT_NEEDED = 12
_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


def become(folder: MachineFolder) -> bool:
    """Make this process the machine of a folder; False: another one is it, or it is not wanted any more.

    As a subreaper it is then the parent of everything on the machine that loses its own parent.
    """
    me = identity_of(os.getpid())
    assert me is not None
    if not atomic.claim(folder.host, strictjson.dumps({"process": me.as_json()}).encode()):
        return False
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    return True
