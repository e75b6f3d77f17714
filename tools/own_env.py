"""An environment of its own, for other people's programs: what is tested or measured beside lastro."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def make_environment(place: Path, lock: str, *, more: Sequence[str] = (), lends: bool = False) -> None:
    """Make an environment anew.

    Args:
        place: its folder; what is there goes.
        lock: the file of the root that names all that is installed; it is whole.
        more: requirements beside it, which no resolver takes together with the lock.
        lends: whether it sees what .venv has, and lastro: a .pth file lends both, and none is fetched twice.
    """
    venv.create(place, clear=True, with_pip=False, symlinks=True)
    if lends:
        theirs = Path(sysconfig.get_path("purelib", vars={"base": str(place), "platbase": str(place)}))
        (theirs / "lent.pth").write_text(f"{sysconfig.get_path('purelib')}\n{ROOT / 'src'}\n")
    python = str(place / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]
    wanted = ["--requirement", str(ROOT / lock), *more]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", *wanted], check=True)
