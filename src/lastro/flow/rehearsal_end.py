"""Ends the machines of a rehearsal whose process has died: `python -m lastro.flow.rehearsal_end HOME...`.

It reads its standard input, whose other end the rehearsal holds. Whatever ends that one, a kill too, the
kernel closes its end, and this process lets no machine live on.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from lastro.clock import SystemClock
from lastro.flow.own_home import end_machines
from lastro.paths import Home


@contextlib.contextmanager
def ended_with_me(homes: Sequence[Path]) -> Iterator[None]:
    """See to it that no machine of these homes outlives this process, whatever ends it."""
    argv = [sys.executable, "-m", "lastro.flow.rehearsal_end", *map(str, homes)]
    watch = subprocess.Popen(  # in a session of its own: Ctrl-C is for the one who rehearses
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        watch.communicate()


def main(homes: Sequence[str]) -> int:
    """Wait for the end of the one who started this, and end what is left of these homes."""
    sys.stdin.buffer.read()
    for home in homes:
        end_machines(Home(Path(home)), SystemClock())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
