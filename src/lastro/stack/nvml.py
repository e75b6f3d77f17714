"""`python -m lastro.stack.nvml`: asks the NVIDIA driver once, in a process of its own: a driver can hang.

Each line of its output is strict JSON. `{"asking": name}` stands before each call, so that whoever gives up
knows at which one; the last line is `{"answer": {...}}` or `{"problem": name, "why": ..., "code": number}`.
With `watch` it keeps its session, tells each critical Xid event and, once a second, the cards as they are
then, until its standard input ends. It uses the standard library and nvidia-ml-py only.
"""

from __future__ import annotations

import json
import select
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_SAMPLE_EVERY = 1.0
_EVENT_MS = 200


def main(arguments: list[str]) -> int:
    """Ask, or watch."""
    _end_with_parent()
    try:
        import pynvml as nvml
    except ImportError as error:
        return _problem("no_python_library", str(error), None)
    say_asking("nvmlInit")
    try:
        nvml.nvmlInit()
        if arguments == ["watch"]:
            return _watch(nvml)
        _say({"answer": _machine(nvml)})
    except nvml.NVMLError as error:
        kinds = {
            nvml.NVML_ERROR_LIBRARY_NOT_FOUND: "no_library",
            nvml.NVML_ERROR_DRIVER_NOT_LOADED: "no_driver",
            nvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: "half_updated",
        }
        return _problem(kinds.get(error.value, "failed"), str(error), int(error.value))
    return 0


def _end_with_parent() -> None:
    """Let the kernel kill this process when its parent dies; Linux only, as all that is asked here."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass


def _say(value: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def say_asking(name: str) -> None:
    """Say which call comes next."""
    _say({"asking": name})


def _problem(name: str, why: str, code: int | None) -> int:
    _say({"problem": name, "why": why, "code": code})
    return 0


def _machine(nvml: Any) -> dict[str, Any]:
    """Return driver and cards. A card that cannot even be opened is there with what it said."""
    say_asking("nvmlSystemGetDriverVersion")
    version = nvml.nvmlSystemGetDriverVersion()
    say_asking("nvmlSystemGetCudaDriverVersion")
    cuda, _code = _asked(nvml, nvml.nvmlSystemGetCudaDriverVersion)
    say_asking("nvmlDeviceGetCount")
    cards = [_card(nvml, index) for index in range(nvml.nvmlDeviceGetCount())]
    return {"version": _text(version), "cuda": cuda, "cards": cards}


def _card(nvml: Any, index: int) -> dict[str, Any]:
    say_asking("nvmlDeviceGetHandleByIndex")
    handle, code = _asked(nvml, nvml.nvmlDeviceGetHandleByIndex, index)
    if handle is None:
        return {"index": index, "errors": {"handle": code}}
    facts: dict[str, Any] = {"index": index}
    errors: dict[str, int | None] = {}
    for name, ask in _questions(nvml, handle).items():
        say_asking(name)
        value, code = _asked(nvml, ask)
        facts[name] = value
        if code is not None:
            errors[name] = code
    return {**facts, "errors": errors}


def _questions(nvml: Any, handle: Any) -> dict[str, Callable[[], Any]]:
    """Return what is asked of one card, by the name of the fact."""
    uncorrected = nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED
    return {
        "name": lambda: _text(nvml.nvmlDeviceGetName(handle)),
        "uuid": lambda: _text(nvml.nvmlDeviceGetUUID(handle)),
        "serial": lambda: _text(nvml.nvmlDeviceGetSerial(handle)),
        "vbios": lambda: _text(nvml.nvmlDeviceGetVbiosVersion(handle)),
        "pci": lambda: f"{nvml.nvmlDeviceGetPciInfo(handle).pciDeviceId:08x}",
        "capability": lambda: "{}.{}".format(*nvml.nvmlDeviceGetCudaComputeCapability(handle)),
        "memory_bytes": lambda: int(nvml.nvmlDeviceGetMemoryInfo(handle).total),
        "used_bytes": lambda: int(nvml.nvmlDeviceGetMemoryInfo(handle).used),
        "ecc": lambda: bool(nvml.nvmlDeviceGetEccMode(handle)[0]),
        "ecc_volatile": lambda: int(
            nvml.nvmlDeviceGetTotalEccErrors(handle, uncorrected, nvml.NVML_VOLATILE_ECC)
        ),
        "ecc_aggregate": lambda: int(
            nvml.nvmlDeviceGetTotalEccErrors(handle, uncorrected, nvml.NVML_AGGREGATE_ECC)
        ),
        "rows": lambda: [int(value) for value in nvml.nvmlDeviceGetRemappedRows(handle)],
        "mig": lambda: bool(nvml.nvmlDeviceGetMigMode(handle)[0]),
        "compute_mode": lambda: int(nvml.nvmlDeviceGetComputeMode(handle)),
        "persistence": lambda: bool(nvml.nvmlDeviceGetPersistenceMode(handle)),
        "power_default_mw": lambda: int(nvml.nvmlDeviceGetPowerManagementDefaultLimit(handle)),
        "processes": lambda: sorted(
            int(each.pid)
            for ask in (nvml.nvmlDeviceGetComputeRunningProcesses, nvml.nvmlDeviceGetGraphicsRunningProcesses)
            for each in ask(handle)
        ),
        "replays": lambda: int(nvml.nvmlDeviceGetPcieReplayCounter(handle)),
        "link_gen_max": lambda: int(nvml.nvmlDeviceGetMaxPcieLinkGeneration(handle)),
        "link_width_max": lambda: int(nvml.nvmlDeviceGetMaxPcieLinkWidth(handle)),
        "clock_max": lambda: int(nvml.nvmlDeviceGetMaxClockInfo(handle, nvml.NVML_CLOCK_SM)),
        "slowdown_at": lambda: int(
            nvml.nvmlDeviceGetTemperatureThreshold(handle, nvml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN)
        ),
        **_moving(nvml, handle),
    }


def _moving(nvml: Any, handle: Any) -> dict[str, Callable[[], Any]]:
    """Return what changes with the load, and is asked again while there is some."""
    return {
        "use": lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu / 100,
        "temperature": lambda: int(nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU)),
        "throttle": lambda: int(nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)),
        "power_limit_mw": lambda: int(nvml.nvmlDeviceGetEnforcedPowerLimit(handle)),
        "clock": lambda: int(nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM)),
        "link_gen": lambda: int(nvml.nvmlDeviceGetCurrPcieLinkGeneration(handle)),
        "link_width": lambda: int(nvml.nvmlDeviceGetCurrPcieLinkWidth(handle)),
    }


def _asked(nvml: Any, ask: Callable[..., Any], *arguments: Any) -> tuple[Any, int | None]:
    """Return the answer, or None with the number of the error. What an old library lacks is "not found"."""
    try:
        return ask(*arguments), None
    except nvml.NVMLError as error:
        return None, int(error.value)
    except AttributeError:
        return None, int(nvml.NVML_ERROR_FUNCTION_NOT_FOUND)


def _text(value: str | bytes) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


# --- watching -----------------------------------------------------------------------------------------


def _watch(nvml: Any) -> int:
    """Register for critical Xid events before there is any load, and look until standard input ends."""
    handles = {at: nvml.nvmlDeviceGetHandleByIndex(at) for at in range(nvml.nvmlDeviceGetCount())}
    events = nvml.nvmlEventSetCreate()
    deaf = []
    for index, handle in handles.items():
        _none, code = _asked(
            nvml, nvml.nvmlDeviceRegisterEvents, handle, nvml.nvmlEventTypeXidCriticalError, events
        )
        if code is not None:
            deaf.append(index)
    _say({"watching": sorted(set(handles) - set(deaf)), "deaf": deaf})
    sampled = 0.0
    while not select.select([sys.stdin], [], [], 0)[0]:
        try:
            event = nvml.nvmlEventSetWait(events, _EVENT_MS)
            card, _code = _asked(nvml, nvml.nvmlDeviceGetIndex, event.device)
            _say({"xid": int(event.eventData), "card": card})
        except nvml.NVMLError as error:
            if error.value != nvml.NVML_ERROR_TIMEOUT:
                _say({"lost": str(error)})
                time.sleep(_EVENT_MS / 1000)
        if time.monotonic() - sampled >= _SAMPLE_EVERY:
            sampled = time.monotonic()
            for at, handle in handles.items():
                asked = {name: _asked(nvml, ask) for name, ask in _moving(nvml, handle).items()}
                codes = {name: code for name, (_value, code) in asked.items() if code is not None}
                _say(
                    {
                        "sample": {
                            "index": at,
                            **{name: one[0] for name, one in asked.items()},
                            "errors": codes,
                        }
                    }
                )
    _say({"end": True})
    return 0


def _sample(nvml: Any, index: int, handle: Any) -> dict[str, Any]:
    """Return one card as it is now."""
    asked = {name: _asked(nvml, ask) for name, ask in _moving(nvml, handle).items()}
    codes = {name: code for name, (_value, code) in asked.items() if code is not None}
    return {"index": index, **{name: value for name, (value, _code) in asked.items()}, "errors": codes}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
