"""The software and hardware that a run sees: captured in well under a second, compared without judging.

Standard library; GPUs are told by a child that asks their driver (`stack.driver`), because a driver can
hang. torch is never imported: its version is read from its installed metadata. What cannot be told is None,
with the reason where there is one.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import socket
import sys
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from lastro.records import dataclass
from lastro.stack.driver import Driver, ask_driver
from lastro.stack.installed import version_of

#: Packages whose version can change a result or a checkpoint.
PACKAGES = ("lastro", "torch", "numpy", "safetensors", "transformers", "accelerate", "xxhash", "psutil")
_UNLIMITED = 2**60


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """One GPU as its driver names it."""

    name: str
    uuid: str
    memory_bytes: int


@dataclass(frozen=True, kw_only=True)
class Stack:
    """A machine's stack.

    `cpu_count`: CPUs that may be used at once, after affinity and cgroup quota, rounded up. `memory_bytes`:
    what may be used, the smaller of the machine's and the cgroup's. `gpus` None: could not be asked, and
    `gpu_reason` says why; empty: there is none.
    """

    os: str
    kernel: str
    python: str
    implementation: str
    packages: Mapping[str, str | None]
    cpu_model: str | None
    cpu_count: int
    memory_bytes: int | None
    memory_limited: bool
    shared_memory_bytes: int | None
    gpus: tuple[Gpu, ...] | None
    gpu_driver: str | None
    gpu_reason: str | None
    node: str
    node_source: str

    def as_json(self) -> dict[str, Any]:
        value = asdict(self)
        value["gpus"] = None if self.gpus is None else [asdict(gpu) for gpu in self.gpus]
        return value

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Stack:
        """Read what `as_json` wrote. Raises KeyError or TypeError for anything else."""
        gpus = value["gpus"]
        return cls(**{**value, "gpus": None if gpus is None else tuple(Gpu(**gpu) for gpu in gpus)})


@dataclass(frozen=True)
class Difference:
    """One fact that differs between two stacks."""

    what: str
    before: str | None
    now: str | None


def capture(packages: Iterable[str] = (), driver: Driver | None = None) -> Stack:
    """Look at this machine.

    Args:
        packages: names of further packages to look for.
        driver: what its GPUs' driver says; None: it is asked.
    """
    driver = ask_driver() if driver is None else driver
    limit = cgroup_limits()
    total = _memory_total()
    memory = min((size for size in (total, limit.memory_bytes) if size is not None), default=None)
    bare = Stack(
        os=_os_name(),
        kernel=platform.release(),
        python=platform.python_version(),
        implementation=platform.python_implementation(),
        packages={name: version_of(name) for name in dict.fromkeys((*PACKAGES, *packages))},
        cpu_model=_cpu_model(),
        cpu_count=_cpu_count(limit.cpus),
        memory_bytes=memory,
        memory_limited=limit.memory_bytes is not None and memory == limit.memory_bytes,
        shared_memory_bytes=_shared_memory(),
        gpus=None,
        gpu_driver=None,
        gpu_reason=None,
        node="",
        node_source="",
    )
    return with_driver(bare, driver)


def with_driver(stack: Stack, driver: Driver) -> Stack:
    """Return a stack with what a driver says of GPUs, and so with the machine's id."""
    gpus = _gpus(driver)
    node, source = node_id(gpus or ())
    return replace(
        stack,
        gpus=gpus,
        gpu_driver=driver.version,
        gpu_reason=driver.reason,
        node=node,
        node_source=source,
    )


def compare(before: Stack, now: Stack) -> list[Difference]:
    """Return every fact that differs; which of them matter is not decided here."""
    old, new = _flat(before.as_json()), _flat(now.as_json())
    return [
        Difference(name, old.get(name), new.get(name))
        for name in dict.fromkeys((*old, *new))
        if old.get(name) != new.get(name)
    ]


def _flat(value: Mapping[str, Any], prefix: str = "") -> dict[str, str | None]:
    facts: dict[str, str | None] = {}
    for name, item in value.items():
        if isinstance(item, Mapping):
            facts.update(_flat(item, f"{prefix}{name}."))
        elif isinstance(item, (list, tuple)):
            facts.update(_flat({str(index): one for index, one in enumerate(item)}, f"{prefix}{name}."))
        else:
            facts[f"{prefix}{name}"] = None if item is None else str(item)
    return facts


# --- software -----------------------------------------------------------------------------------------


def _os_name() -> str:
    with contextlib.suppress(OSError):
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    return f"{platform.system()} {platform.release()}"


# --- processor and memory -------------------------------------------------------------------------------


def _cpu_model() -> str | None:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            if line.startswith(("model name", "Model")) and ":" in line:
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine() or None


def _cpu_count(quota: float | None) -> int:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return usable if quota is None else max(1, min(usable, -int(-quota // 1)))


def _memory_total() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return None


def _shared_memory() -> int | None:
    try:
        found = os.statvfs("/dev/shm")
    except OSError:
        return None
    return found.f_frsize * found.f_blocks


@dataclass(frozen=True)
class Limits:
    """What cgroups allow this process: CPUs at once, and bytes of memory. None: no limit is set."""

    cpus: float | None = None
    memory_bytes: int | None = None


def cgroup_limits(proc: Path = Path("/proc/self/cgroup"), mounted: Path = Path("/sys/fs/cgroup")) -> Limits:
    """Read the limits of this process's cgroups, version 1 or 2; the tightest of all groups above counts.

    Args:
        proc: the file that names this process's groups.
        mounted: where the groups are mounted.
    """
    try:
        lines = [line.split(":", 2) for line in proc.read_text().splitlines()]
    except OSError:
        return Limits()
    cpus: list[float] = []
    memory: list[int] = []
    for _number, controllers, path in (line for line in lines if len(line) == 3):
        names = controllers.split(",")
        for group in _groups(mounted, names, path):
            if names == [""]:
                cpus += _quota(group / "cpu.max")
                memory += _bytes(group / "memory.max")
            if "cpu" in names:
                cpus += _quota(group / "cpu.cfs_quota_us", group / "cpu.cfs_period_us")
            if "memory" in names:
                memory += _bytes(group / "memory.limit_in_bytes")
    return Limits(cpus=min(cpus, default=None), memory_bytes=min(memory, default=None))


def _groups(mounted: Path, controllers: list[str], path: str) -> list[Path]:
    """Return the folders of a group and of all groups above it; in a container the path may lie outside."""
    roots = (
        [mounted]
        if controllers == [""]
        else [mounted / ",".join(controllers), *(mounted / n for n in controllers)]
    )
    root = next((root for root in roots if root.is_dir()), mounted)
    group = root / path.strip("/")
    inside = [folder for folder in (group, *group.parents) if folder == root or root in folder.parents]
    return [folder for folder in inside if folder.is_dir()]


def _words(*paths: Path) -> list[str]:
    words: list[str] = []
    for path in paths:
        with contextlib.suppress(OSError):
            words += path.read_text().split()
    return words


def _quota(*paths: Path) -> list[float]:
    match _words(*paths):
        case [quota, period] if quota.isdigit() and period.isdigit() and int(period):
            return [int(quota) / int(period)]
    return []


def _bytes(path: Path) -> list[int]:
    match _words(path):
        case [limit] if limit.isdigit() and int(limit) < _UNLIMITED:
            return [int(limit)]
    return []


# --- GPUs and node ------------------------------------------------------------------------------------


def _gpus(driver: Driver) -> tuple[Gpu, ...] | None:
    """Return the GPUs that can be named; None when nothing is known of any."""
    if driver.reason is not None:
        return None
    return tuple(
        Gpu(name=card.name, uuid=card.uuid, memory_bytes=card.memory_bytes)
        for card in driver.cards
        if card.name is not None and card.uuid is not None and card.memory_bytes is not None
    )


def node_id(gpus: Iterable[Gpu] = ()) -> tuple[str, str]:
    """Return an id that survives renaming and reinstalling as far as it can be, and what it is made from.

    The serial numbers of GPUs where there are any, else the machine id, else the network card, else the name.
    """
    serials = sorted(gpu.uuid for gpu in gpus)
    if serials:
        return _short("gpu", *serials), "gpu"
    for path in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        with contextlib.suppress(OSError):
            found = Path(path).read_text().strip()
            if found and found != "uninitialized":
                return _short("machine-id", found), "machine-id"
    card = uuid.getnode()
    if not card >> 40 & 1:  # the bit that marks an address made up by Python
        return _short("network", f"{card:012x}"), "network card"
    return _short("name", socket.gethostname(), sys.platform), "host name"


def _short(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]
