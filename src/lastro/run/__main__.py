"""`python -m lastro.run RUN_FOLDER`: what a provider starts on a machine to carry out an order."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from pathlib import Path

from lastro import strictjson
from lastro.clock import SystemClock
from lastro.errors import Fenced, LastroError, StorageError
from lastro.paths import CampaignFolder, RunFolder
from lastro.procs.identity import identity_of
from lastro.rules import Order, Verdict
from lastro.run.oom import protect_self
from lastro.run.supervisor import supervise
from lastro.run.vigil import Watch, leave_vigil
from lastro.storage.secrets import redacted


def main(arguments: list[str]) -> int:
    """Supervise one run; what went wrong is left in the run's folder, where home looks for it."""
    folder = RunFolder(Path(arguments[0]))
    protect_self()
    watched = True
    try:
        # Who was interrupted is on a machine that goes anyway, or that home sends the run to again.
        watched = supervise(folder, SystemClock()).verdict is not Verdict.INTERRUPTED
    except LastroError as error:
        _leave_word(folder, f"{error.message}\n" + (f"{error.hint}\n" if error.hint else ""))
        watched = not isinstance(error, Fenced)
        return error.exit_code
    except Exception:
        _leave_word(folder, traceback.format_exc())
        raise
    finally:
        if watched:
            _leave_vigil(folder)
    return 0


def _leave_vigil(folder: RunFolder) -> None:
    me = identity_of(os.getpid())
    with contextlib.suppress(OSError, StorageError, KeyError, TypeError, ValueError):
        order = Order.from_json(strictjson.read(folder.order))
        if me is not None:
            campaign = CampaignFolder(Path(order.campaign_folder))
            leave_vigil(Watch(campaign, order.machine, order.unattended_seconds), me, SystemClock())


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
