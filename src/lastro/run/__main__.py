"""`python -m lastro.run RUN_FOLDER`: what a provider starts on a machine to carry out an order."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import traceback
from pathlib import Path

from lastro import strictjson
from lastro.clock import SystemClock
from lastro.errors import Fenced, LastroError, StorageError
from lastro.paths import CampaignFolder, RunFolder
from lastro.procs.identity import identity_of
from lastro.providers.environment import NOTICE
from lastro.rules import Order, Verdict
from lastro.run.oom import protect_self
from lastro.run.supervisor import supervise
from lastro.run.vigil import Watch, leave_vigil
from lastro.storage.secrets import redacted


def main(arguments: list[str]) -> int:
    """Supervise one run; what went wrong is left in the run's folder, where home looks for it."""
    folder = RunFolder(Path(arguments[0]))
    protect_self()
    if "SLURM_JOB_ID" in os.environ and NOTICE in os.environ:
        # Slurm sends TERM to every process of a job that it ends; the machine's notice says what it means.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # Read before anything else: the disk may go away.
    watch, watched = _watch_of(folder), True
    try:
        # Who was interrupted is on a machine that goes anyway, unless it is the disk that went.
        verdict = supervise(folder, SystemClock()).verdict
        watched = verdict is not Verdict.INTERRUPTED or not folder.root.is_dir()
    except LastroError as error:
        _leave_word(folder, f"{error.message}\n" + (f"{error.hint}\n" if error.hint else ""))
        watched = not isinstance(error, Fenced)
        return error.exit_code
    except Exception:
        _leave_word(folder, traceback.format_exc())
        raise
    finally:
        me = identity_of(os.getpid())
        if watched and watch is not None and me is not None:
            leave_vigil(watch, me, SystemClock())
    return 0


def _watch_of(folder: RunFolder) -> Watch | None:
    """Return what is to be watched after the end; None when the order cannot be read."""
    with contextlib.suppress(OSError, StorageError, KeyError, TypeError, ValueError):
        order = Order.from_json(strictjson.read(folder.order))
        return Watch(CampaignFolder(Path(order.campaign_folder)), order.machine, order.unattended_seconds)
    return None


def _leave_word(folder: RunFolder, text: str) -> None:
    """Write where home looks; a disk that does not take it is told on the machine's own log."""
    text = redacted(text)
    try:
        with folder.supervisor_log.open("a") as log:
            log.write(text)
    except OSError as error:
        print(f"{text}{folder.supervisor_log}: {error.strerror}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
