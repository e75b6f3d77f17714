"""`python -m lastro.run.nvml`: asks the NVIDIA library, in a process of its own: a driver can hang for good.

For each line on standard input it answers with one line of JSON: `{"gpus": [...]}`, the first time with
`devices` too; `{"level": ...}` and an end when there is nothing to ask. It ends with its standard input, and
with its parent even in the middle of a call that does not return.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable
from typing import Any

_PR_SET_PDEATHSIG = 1  # linux/prctl.h

#: Names of the bits of nvmlClocksEventReasons in nvml.h; an idle GPU (bit 0) is not held back.
_HELD_BACK = {
    0x2: "application_clocks", 0x4: "power_cap", 0x8: "hardware_slowdown", 0x10: "sync_boost",
    0x20: "software_thermal", 0x40: "hardware_thermal", 0x80: "power_brake", 0x100: "display_clocks",
}  # fmt: skip


def main() -> int:
    """Answer until standard input ends."""
    _end_with_parent()
    try:
        import pynvml as nvml
    except ImportError:
        return _give_up("no_library", "pynvml")
    try:
        nvml.nvmlInit()
        handles = [nvml.nvmlDeviceGetHandleByIndex(at) for at in range(nvml.nvmlDeviceGetCount())]
        devices = [_device(nvml, handle) for handle in handles]
    except nvml.NVMLError as error:
        return _give_up("no_driver", str(error))
    told: dict[str, Any] = {"devices": devices}
    for _line in sys.stdin:
        _say({**told, "gpus": [_sample(nvml, handle) for handle in handles]})
        told = {}
    return 0


def _end_with_parent() -> None:
    """Let the kernel kill this process when its parent dies; Linux only, like the supervisor itself."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass


def _say(value: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def _give_up(level: str, why: str) -> int:
    _say({"level": level, "why": why})
    return 0


def _device(nvml: Any, handle: Any) -> dict[str, Any]:
    limit = _asked(nvml, nvml.nvmlDeviceGetEnforcedPowerLimit, handle)
    memory = _asked(nvml, nvml.nvmlDeviceGetMemoryInfo, handle)
    return {
        "name": _asked(nvml, nvml.nvmlDeviceGetName, handle),
        "uuid": _asked(nvml, nvml.nvmlDeviceGetUUID, handle),
        "memory": memory.total if memory is not None else None,
        "power_limit": limit / 1000 if limit is not None else None,
    }


def _sample(nvml: Any, handle: Any) -> dict[str, Any]:
    """Return one GPU now: use as a part of 1, bytes, watts, degrees Celsius, what holds its clocks back.

    What a card does not tell, or a lost card, is null.
    """
    use = _asked(nvml, nvml.nvmlDeviceGetUtilizationRates, handle)
    memory = _asked(nvml, nvml.nvmlDeviceGetMemoryInfo, handle)
    power = _asked(nvml, nvml.nvmlDeviceGetPowerUsage, handle)
    reasons = _asked(nvml, nvml.nvmlDeviceGetCurrentClocksThrottleReasons, handle)
    return {
        "use": use.gpu / 100 if use is not None else None,
        "memory": memory.used if memory is not None else None,
        "power": power / 1000 if power is not None else None,
        "temperature": _asked(nvml, nvml.nvmlDeviceGetTemperature, handle, nvml.NVML_TEMPERATURE_GPU),
        "held_back": None if reasons is None else [name for bit, name in _HELD_BACK.items() if reasons & bit],
    }


def _asked(nvml: Any, ask: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return ask(*arguments)
    except nvml.NVMLError:
        return None


if __name__ == "__main__":
    sys.exit(main())
