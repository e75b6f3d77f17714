"""`python -m lastro.run.last_act DISK`: what a machine does before its scratch goes, home or no home."""

from __future__ import annotations

import sys
from pathlib import Path

from lastro.clock import SystemClock
from lastro.paths import Disk
from lastro.run.rescuing import rescue_own_storage


def main(arguments: list[str]) -> int:
    """Copy what of value lies on this machine only; 1 when something could not be."""
    return 1 if rescue_own_storage(Disk(Path(arguments[0])), SystemClock()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
