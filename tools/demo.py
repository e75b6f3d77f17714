"""Run the digits example, with its scripted faults, to its report. What `make demo` does after set-up.

Works in ./demo, with a home of its own there: nothing outside that folder is written. A folder of an
earlier demo is removed first, after its machines were ended. Ctrl-C saves, ends what was started, and
leaves the folder; the exit code is that of `lastro run`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from lastro.clock import SystemClock
from lastro.flow.session import known_sessions
from lastro.paths import Home
from lastro.providers.base import MachineState
from lastro.providers.registry import provider_for

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "digits"
INTERRUPTED = 130


def lastro(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a command of lastro in the copy of the example, as in an activated environment."""
    programs = Path(sys.executable).parent
    environment = {
        **os.environ,
        "LASTRO_HOME": str(folder / "home"),
        "VIRTUAL_ENV": str(programs.parent),
        "PATH": os.pathsep.join([str(programs), os.environ.get("PATH", os.defpath)]),
    }
    command = [sys.executable, "-m", "lastro.cli", *arguments]
    return subprocess.Popen(command, cwd=folder / "digits", env=environment)


def end_machines(home: Home) -> None:
    """End every machine that this home has; nothing of them stays alive."""
    provider = provider_for("local", home, SystemClock())
    for machine in provider.machines():
        if machine.state is not MachineState.GONE:
            provider.delete(machine.id)


def require_idle(home: Home) -> None:
    """Refuse to take the folder away from a demo that is running."""
    for session in known_sessions(home, SystemClock()):
        with session.owned() as writer:
            if writer is None:
                raise SystemExit("error: another demo is running\n  next: wait for it, or end it by Ctrl-C")


def prepare(folder: Path) -> None:
    """Make a fresh copy of the example."""
    home = Home(folder / "home")
    if folder.exists():
        require_idle(home)
        end_machines(home)
        shutil.rmtree(folder)
    leave_out = shutil.ignore_patterns("disk", "lastro-*", "__pycache__")
    shutil.copytree(EXAMPLE, folder / "digits", ignore=leave_out)


def main(folder: Path) -> int:
    """Run the demo in this folder and return the exit code."""
    prepare(folder)
    running = lastro(folder, "run", "campaign.yaml", "--faults", "faults.yaml")
    try:
        return running.wait()
    except KeyboardInterrupt:
        running.wait()
        print("ending what the demo has started", flush=True)
        lastro(folder, "stop", "--why", "the demo was interrupted").wait()
        end_machines(Home(folder / "home"))
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main(ROOT / "demo"))
