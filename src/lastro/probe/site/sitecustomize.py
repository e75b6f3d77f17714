"""First on the PYTHONPATH of a job that is looked into: begins that, then the user's own of this name."""

import importlib
import importlib.util
import os
import sys
import types
from pathlib import Path

_HERE = Path(__file__).resolve().parent


def _begin(entry: str) -> None:
    if "lastro" not in sys.modules and importlib.util.find_spec("lastro") is None:
        # This Python has no lastro: the probe's own modules are found, and nothing is installed.
        module = types.ModuleType("lastro")
        module.__path__ = [str(_HERE.parent.parent)]
        sys.modules["lastro"] = module
    importlib.import_module(entry).begin()


def _next_one() -> None:
    for folder in map(Path, sys.path):
        path = folder / "sitecustomize.py"
        if folder.resolve() == _HERE or not path.exists():
            continue
        spec = importlib.util.spec_from_file_location("sitecustomize", path)
        if spec is not None and spec.loader is not None:
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
        return


for _variable, _entry in (
    ("LASTRO_PROBE", "lastro.probe.entry"),
    ("LASTRO_PROFILE", "lastro.probe.profiling"),
):
    if not os.environ.get(_variable):
        continue
    try:
        _begin(_entry)
    except Exception as error:  # noqa: BLE001 - it is told, and no reason not to run the job
        sys.stderr.write(f"lastro: the probe could not begin: {error!r}\n")
_next_one()
