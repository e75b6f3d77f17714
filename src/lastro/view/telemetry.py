"""What a run has used of its machines, from the samples of its attempts: sums, and curves over time.

Pure but for the reading at the end. A sample stands for the time since the one before, so means are right
although the pace of the samples changes.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from lastro import strictjson
from lastro.paths import RunFolder
from lastro.records import dataclass
from lastro.view.series import Points, Series, compose

#: Curves of a run, in the order in which they are shown. Over several GPUs `gpu_use` is their mean, the other
#: two are sums.
CURVES = ("cpu", "rss", "gpu_use", "gpu_memory", "gpu_power")
_TAIL_BYTES = 1 << 14
_LONGEST_SECONDS = 1e10


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Mean over time and peak of one value."""

    mean: float
    peak: float


@dataclass(frozen=True, kw_only=True)
class Use:
    """What one run has used over all its attempts. Empty, None: not known; bytes, seconds, watts, Celsius.

    `spreads`: by the names of `CURVES`. `memory_share`: the highest part of what may be used that was in use,
    by everything there. `free`: the least that was left on the disk. `held_back`: the part of the time for
    which something lowered the clocks of a GPU, by reason. `gpu_level`: how GPUs were asked last. `curves`:
    over seconds of running time; `gpu_use` in per cent.
    """

    seconds: float = 0.0
    samples: int = 0
    spreads: Mapping[str, Spread] = field(default_factory=dict)
    memory_share: float | None = None
    read: int | None = None
    written: int | None = None
    free: int | None = None
    temperature: float | None = None
    held_back: Mapping[str, float] = field(default_factory=dict)
    devices: tuple[str, ...] = ()
    gpu_level: str | None = None
    curves: Mapping[str, Series] = field(default_factory=dict)


def parse_samples(data: bytes) -> list[dict[str, Any]]:
    """Return the lines of a telemetry file that can be read; a torn or foreign one is left out."""
    found = []
    for line in data.splitlines():
        with contextlib.suppress(ValueError, TypeError, RecursionError):
            value = strictjson.loads(line)
            t = _number(value.get("t")) if isinstance(value, dict) else None
            if t is not None and 0 <= t < _LONGEST_SECONDS:
                found.append(value)
    return found


def values_of(sample: Mapping[str, Any]) -> dict[str, float]:
    """Return what one sample says of each of `CURVES`."""
    gpus = [gpu for gpu in _gpus(sample) if isinstance(gpu, Mapping)]
    use = [number for gpu in gpus if (number := _number(gpu.get("use"))) is not None]
    found = {
        "cpu": _number(sample.get("cpu")),
        "rss": _number(sample.get("rss")),
        "gpu_use": sum(use) / len(use) if use else None,
        "gpu_memory": _sum(gpu.get("memory") for gpu in gpus),
        "gpu_power": _sum(gpu.get("power") for gpu in gpus),
    }
    return {name: value for name, value in found.items() if value is not None}


def use_of(attempts: Sequence[Sequence[Mapping[str, Any]]]) -> Use | None:
    """Return what a run has used, from the lines of each of its attempts, oldest first; None without any."""
    ledger = _Ledger()
    for lines in attempts:
        ledger.add(lines)
    return ledger.use() if ledger.samples else None


class _Ledger:
    """Sums over the samples of one run."""

    def __init__(self) -> None:
        self.samples = 0
        self._offset = 0.0
        self._points: dict[str, Points] = {}
        self._weighted: dict[str, list[tuple[float, float]]] = {}
        self._held: dict[str, float] = {}
        self._asked_gpus = 0.0
        self._moved: dict[str, int] = {}
        self._peaks: dict[str, float] = {}
        self._free: int | None = None
        self._devices: tuple[str, ...] = ()
        self._level: str | None = None

    def add(self, lines: Sequence[Mapping[str, Any]]) -> None:
        before = 0.0
        moved: dict[str, int] = {}
        for line in lines:
            if "rss" not in line:
                self._note(line)
                continue
            t = float(line["t"])
            self._sample(line, t, max(0.0, t - before))
            for name in ("read", "written"):
                if (count := _number(line.get(name))) is not None:
                    moved[name] = int(count)
            before = max(before, t)
        self._offset += before
        for name, count in moved.items():
            self._moved[name] = self._moved.get(name, 0) + count

    def _note(self, line: Mapping[str, Any]) -> None:
        self._level = line.get("gpu_level", self._level)
        devices = line.get("devices")
        if isinstance(devices, list):
            self._devices = tuple(str(device.get("name")) for device in devices if isinstance(device, dict))

    def _sample(self, line: Mapping[str, Any], t: float, weight: float) -> None:
        self.samples += 1
        for name, value in values_of(line).items():
            shown = 100 * value if name == "gpu_use" else value
            self._points.setdefault(name, Points()).add(round(self._offset + t), shown)
            self._weighted.setdefault(name, []).append((value, weight))
        used, limit = _number(line.get("memory")), _number(line.get("limit"))
        if used is not None and limit:
            self._peak("memory_share", used / limit)
        free = _number(line.get("free"))
        if free is not None:
            self._free = int(free) if self._free is None else min(self._free, int(free))
        gpus = [gpu for gpu in _gpus(line) if isinstance(gpu, Mapping)]
        if gpus:
            self._asked_gpus += weight
            for reason in {str(reason) for gpu in gpus for reason in gpu.get("held_back") or ()}:
                self._held[reason] = self._held.get(reason, 0.0) + weight
        for gpu in gpus:
            if (degrees := _number(gpu.get("temperature"))) is not None:
                self._peak("temperature", degrees)

    def _peak(self, name: str, value: float) -> None:
        self._peaks[name] = max(self._peaks.get(name, value), value)

    def use(self) -> Use:
        return Use(
            seconds=self._offset,
            samples=self.samples,
            spreads={name: _spread(self._weighted[name]) for name in CURVES if name in self._weighted},
            memory_share=self._peaks.get("memory_share"),
            read=self._moved.get("read"),
            written=self._moved.get("written"),
            free=self._free,
            temperature=self._peaks.get("temperature"),
            held_back={reason: seconds / self._asked_gpus for reason, seconds in sorted(self._held.items())}
            if self._asked_gpus
            else {},
            devices=self._devices,
            gpu_level=self._level,
            curves=compose([self._points]),
        )


def _spread(weighted: Sequence[tuple[float, float]]) -> Spread:
    total = math.fsum(weight for _value, weight in weighted)
    values = [value for value, _weight in weighted]
    mean = (
        math.fsum(value * weight for value, weight in weighted) / total
        if total > 0
        else math.fsum(values) / len(values)
    )
    return Spread(mean=mean, peak=max(values))


def _gpus(sample: Mapping[str, Any]) -> Sequence[Any]:
    gpus = sample.get("gpus")
    return gpus if isinstance(gpus, list) else ()


def _number(value: Any) -> float | None:
    """Return a finite number; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return value


def _sum(values: Iterable[Any]) -> float | None:
    known = [number for value in values if (number := _number(value)) is not None]
    return math.fsum(known) if known else None


# --- reading --------------------------------------------------------------------------------------------


def read_use(folder: RunFolder) -> Use | None:
    """Return what a run has used; None where nothing was sampled."""
    numbers = sorted(int(path.name) for path in _folders(folder.attempts) if path.name.isdigit())
    return use_of([parse_samples(_bytes(folder.attempt(number).telemetry)) for number in numbers])


def last_sample(folder: RunFolder, number: int) -> Mapping[str, Any] | None:
    """Return the latest sample of one attempt; None before the first."""
    with contextlib.suppress(OSError), folder.attempt(number).telemetry.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL_BYTES))
        samples = [line for line in parse_samples(file.read()) if "rss" in line]
        return samples[-1] if samples else None
    return None


def _bytes(path: Path) -> bytes:
    with contextlib.suppress(OSError):
        return path.read_bytes()
    return b""


def _folders(root: Path) -> list[Path]:
    return [path for path in root.iterdir() if path.is_dir()] if root.is_dir() else []
