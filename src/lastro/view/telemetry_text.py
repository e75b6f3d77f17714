"""Telemetry in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lastro.locale import _, forms
from lastro.units import show_bytes
from lastro.view.telemetry import Use, values_of


def curve_title(name: str) -> str:
    """Return what a chart of one of `telemetry.CURVES` is called, with its unit."""
    return {
        "cpu": _("processor cores in use"),
        "rss": _("memory of the job, bytes"),
        "gpu_use": _("GPU in use, %"),
        "gpu_memory": _("GPU memory in use, bytes"),
        "gpu_power": _("GPU power, W"),
    }[name]


def gpu_level(code: str | None) -> str:
    """Return why there is nothing to say of GPUs."""
    known = {
        "no_library": _("not asked: nvidia-ml-py is not installed"),
        "no_driver": _("none with an NVIDIA driver"),
        "silent": _("the driver did not answer"),
        "ended": _("could not be asked"),
    }
    return known.get(str(code), _("unknown"))


def held_back(code: str) -> str:
    """Return what lowered a GPU's clocks."""
    known = {
        "application_clocks": _("set clocks"),
        "power_cap": _("power limit"),
        "hardware_slowdown": _("hardware slowdown"),
        "sync_boost": _("kept in step with others"),
        "software_thermal": _("heat"),
        "hardware_thermal": _("too much heat"),
        "power_brake": _("power supply"),
        "display_clocks": _("display"),
    }
    return known.get(code, code)


def held_back_text(use: Use) -> str:
    """Return the reasons for lower clocks with their parts of the time; a dash where there are none."""
    return ", ".join(f"{held_back(code)} {100 * share:.0f} %" for code, share in use.held_back.items()) or "–"


def sample_text(sample: Mapping[str, Any]) -> str:
    """Return one sample in a line."""
    found = values_of(sample)
    parts = []
    if "cpu" in found:
        parts.append(_("{cores} cores").format(cores=forms.decimal(f"{found['cpu']:.1f}")))
    if "rss" in found:
        parts.append(_("{size} of memory").format(size=show_bytes(int(found["rss"]))))
    if "gpu_use" in found:
        parts.append(_("GPU {share}").format(share=f"{100 * found['gpu_use']:.0f} %"))
    if "gpu_memory" in found:
        parts.append(_("{size} of GPU memory").format(size=show_bytes(int(found["gpu_memory"]))))
    if "gpu_power" in found:
        parts.append(_("{power} W").format(power=f"{found['gpu_power']:.0f}"))
    if isinstance(sample.get("free"), int):
        parts.append(_("{size} free on the disk").format(size=show_bytes(sample["free"])))
    return ", ".join(parts) or _("unknown")
