"""`setup:` of a campaign: what has to be done once on a machine before its first attempt of a run."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from lastro import atomic
from lastro.paths import RunFolder

#: The set-up in a shell of its own; then the shell becomes the job, so that signals reach the job itself.
_SCRIPT = """
began=$(date +%s)
echo "lastro: setup: $1" >&2
sh -c "$2" || { code=$?; echo "lastro: setup failed with exit code $code" >&2; exit "$code"; }
echo "lastro: setup took $(( $(date +%s) - began )) s" >&2
: > "$3"
shift 3
exec "$@"
"""


def with_setup(
    command: tuple[str, ...],
    setup: str | None,
    run: RunFolder,
    machine: str,
    how: Callable[[str], Sequence[str]] = lambda setup: ("sh", "-c", setup),
) -> tuple[str, ...]:
    """Return the command that does the set-up first; the command itself where that was done before.

    The mark that it was done lies with the run on the disk and names the machine: a new machine, whose own
    disk is empty, does it again. A set-up that fails ends the attempt with its exit code. `how`: what carries
    it out, such as one that installs out of the disk's packages.
    """
    if setup is None:
        return command
    done = setup_mark(run, setup, machine)
    if done.exists():
        return command
    atomic.make_folder(done.parent)
    return ("/bin/sh", "-c", _SCRIPT, "lastro-setup", setup, shlex.join(how(setup)), str(done), *command)


def setup_mark(run: RunFolder, setup: str, machine: str) -> Path:
    """Return the file that says that a machine has done this set-up for a run."""
    return run.setup / f"{machine}-{hashlib.sha256(setup.encode()).hexdigest()[:12]}"
