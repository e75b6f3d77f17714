"""`python -m lastro.run RUN_FOLDER`: what a provider starts on a machine to carry out an order."""

from __future__ import annotations

import sys
from pathlib import Path

from lastro.clock import SystemClock
from lastro.errors import LastroError
from lastro.paths import RunFolder
from lastro.run.supervisor import supervise


def main(arguments: list[str]) -> int:
    """Supervise one run; errors go to the supervisor's log with their next step."""
    folder = RunFolder(Path(arguments[0]))
    try:
        supervise(folder, SystemClock())
    except LastroError as error:
        sys.stderr.write(f"error: {error.message}\n" + (f"  next: {error.hint}\n" if error.hint else ""))
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
