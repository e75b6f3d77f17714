"""Begins the probe in a process that was told to have one: torch is hooked as soon as it is imported."""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from lastro.probe.instructions import SAVE, given
from lastro.probe.recorder import Recorder

_recorder: Recorder | None = None


def current() -> Recorder | None:
    """Return the recorder of this process; None when no drill is under way."""
    return _recorder


def begin() -> None:
    """Install what this process was told to have; nothing without instructions or without an attempt."""
    global _recorder  # noqa: PLW0603 - a process has one probe
    told, attempt = given(), os.environ.get("LASTRO_ATTEMPT")
    if told is None or not attempt or _recorder is not None:
        return
    _recorder = Recorder(told, Path(attempt))
    sys.meta_path.insert(0, _AfterTorch(_recorder))
    if _recorder.kill is not None and _recorder.kill.when == SAVE:
        sys.addaudithook(_die_before_the_manifest(_recorder))


class _AfterTorch:
    """Finds `torch` as everyone else does, and hooks into it when it was executed."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute, recorder = spec.loader.exec_module, self._recorder

        def exec_module(module: ModuleType) -> None:
            execute(module)
            from lastro.probe.hooks import install

            install(module, recorder)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _die_before_the_manifest(recorder: Recorder) -> Any:
    """Return a hook that ends the process in a save of lastro's own, with all but its manifest written."""

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event != "open" or not str(args[0]).endswith("manifest.json"):
            return
        if str(args[1] or "").startswith("w") and recorder.at(SAVE):
            os.kill(os.getpid(), signal.SIGKILL)

    return hook
