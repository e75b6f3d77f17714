"""`python -m lastro.run RUN_FOLDER`: what a provider starts on a machine to carry out an order."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

from lastro.clock import SystemClock
from lastro.errors import LastroError
from lastro.paths import RunFolder
from lastro.run.oom import protect_self
from lastro.run.supervisor import supervise
from lastro.storage.secrets import redacted


def main(arguments: list[str]) -> int:
    """Supervise one run; what went wrong is left in the run's folder, where home looks for it."""
    folder = RunFolder(Path(arguments[0]))
    protect_self()
    try:
        supervise(folder, SystemClock())
    except LastroError as error:
        _leave_word(folder, f"{error.message}\n" + (f"{error.hint}\n" if error.hint else ""))
        return error.exit_code
    except Exception:
        _leave_word(folder, traceback.format_exc())
        raise
    return 0


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
