"""Make .venv-peers: MLflow and trackio by requirements-peers.lock, for the benchmark beside them.

Run by `make bench-peers`, and by nothing else: no test needs it.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / ".venv-peers"


def main() -> None:
    venv.create(PLACE, clear=True, with_pip=False, symlinks=True)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--python",
        str(PLACE / "bin" / "python"),
    ]
    lock = str(ROOT / "requirements-peers.lock")
    # Without dependencies: the lock is whole.
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--requirement", lock], check=True)


if __name__ == "__main__":
    main()
