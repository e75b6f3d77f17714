"""Runs a module of lastro in the Python of a job, which may have no lastro: it is lent what it needs."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]

_BOOT = """
import importlib, importlib.util, sys, types
if importlib.util.find_spec("lastro") is None:
    module = types.ModuleType("lastro")
    module.__path__ = [sys.argv[1]]
    sys.modules["lastro"] = module
importlib.import_module(sys.argv[2]).main()
"""


def lent_command(python: str, module: str) -> list[str]:
    """Return the words that run `main()` of a module of lastro in another Python.

    Args:
        python: its path.
        module: a module that imports the standard library, and what else that Python has.
    """
    return [python, "-c", _BOOT, str(_PACKAGE), module]
