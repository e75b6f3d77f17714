"""Work that dies: done in a child of the test, which ends before or after the n-th thing that others can see.

What only this process would see (memory, a file that has no name yet) is no such thing: between two of them a
kill makes no difference. Nothing is imported anew, so a point costs what the work costs.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from lastro.providers.ssh.channel import Channel

_DIED = 137
#: Things done to files: what others can see of them.
FILES = (
    (os, "link"),
    (os, "replace"),
    (os, "rename"),
    (os, "unlink"),
    (os, "symlink"),
    (os, "truncate"),
)
#: No power cut is tried here, but before its sync is where a stream has grown by a line.
SYNCS = ((os, "fsync"),)
#: Things done to processes, and questions to other computers.
CALLS = (
    (subprocess.Popen, "__init__"),
    (subprocess.Popen, "communicate"),
    (Channel, "ask"),
    (signal, "pidfd_send_signal"),
    (os, "kill"),
)


Things = Sequence[tuple[Any, str]]


def dies(point: int, work: Callable[[], object], things: Things, *, below: str | None = None) -> bool:
    """Do `work` in a child that dies at a point; False: it has come through, because it has fewer points.

    Args:
        point: from 1; an odd one is before a thing is done, the even one after it is the moment after that.
        work: what is done. It must not fail.
        things: what counts, by its owner and name.
        below: only what happens below a function of that name counts.
    """
    child = os.fork()
    if not child:
        code = 1
        try:
            _arm(point, things, below)
            work()
            code = 0
        except SystemExit as left:
            code = int(bool(left.code))
        except Exception:  # noqa: BLE001 - it must not come back into the test that was forked
            traceback.print_exc()
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, _DIED), f"it failed, with code {code}"
    return code == _DIED


def _arm(point: int, things: Things, below: str | None) -> None:
    number, after = (point + 1) // 2, point % 2 == 0
    seen = 0

    def counting(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal seen
            counts = below is None or _is_below(below)
            seen += counts
            mine = counts and seen == number
            if mine and not after:
                os._exit(_DIED)
            try:
                return real(*args, **kwargs)
            finally:
                if mine:
                    os._exit(_DIED)

        return call

    for owner, name in things:
        setattr(owner, name, counting(getattr(owner, name)))


def _is_below(name: str) -> bool:
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_name != name:
        frame = frame.f_back
    return frame is not None
