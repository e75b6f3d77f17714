"""What is missing on this machine, and what that costs: before a campaign, and without one."""

from __future__ import annotations

import importlib.util
import os
import platform
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timezone
from enum import Enum
from pathlib import Path
from typing import Any

from lastro import atomic
from lastro.errors import StorageError
from lastro.locale import _
from lastro.preflight.disk_space import existing
from lastro.preflight.shared_memory import DOCKER_DEFAULT
from lastro.records import dataclass
from lastro.stack import Stack, capture
from lastro.units import show_bytes

#: The oldest Python whose syntax lastro is written in.
PYTHON = (3, 10)
_SECONDS_TO_ANSWER = 10.0
_CLONE_NEWUSER = 0x10000000  # linux/sched.h


class Health(str, Enum):
    """OK; WEAKER: it works, less well; MISSING: something does not work at all."""

    OK = "ok"
    WEAKER = "weaker"
    MISSING = "missing"


@dataclass(frozen=True, kw_only=True)
class Ailment:
    """One thing that was looked at. `needed`: without it nothing can be run here.

    `cost` says what is weaker or does not work then, `cure` how to get it; None when it is well.
    """

    code: str
    health: Health
    fact: str
    value: str
    cost: str | None = None
    cure: str | None = None
    needed: bool = False

    def as_json(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "level": self.health.value,
            "fact": self.fact,
            "value": self.value,
            "cost": self.cost,
            "next": self.cure,
            "needed": self.needed,
        }


def examine(home: Path, disk: Path) -> tuple[Ailment, ...]:
    """Look at everything. Writes a probe into home and beside the disk, which is removed again."""
    stack = capture()
    return (
        _python(sys.version_info[:3]),
        _system(platform.system(), Path("/proc/self/stat").exists()),
        _storage("home", _("home {path}").format(path=home), home, needed=True),
        _storage("disk", _("disk {path}").format(path=disk), disk, needed=False),
        *_packages(lambda name: importlib.util.find_spec(name) is not None),
        *_programs(shutil.which),
        _shared_memory(stack),
        _gpus(stack),
        _namespaces(_may_unshare()),
        _cgroups(_own_cgroup()),
        _clock(datetime.now(timezone.utc), _installed_at()),
    )


def can_run(found: tuple[Ailment, ...]) -> bool:
    """Say whether anything can be run here at all."""
    return not any(item.needed and item.health is Health.MISSING for item in found)


def _well(code: str, fact: str, value: str) -> Ailment:
    return Ailment(code=code, health=Health.OK, fact=fact, value=value)


def _python(version: tuple[int, ...]) -> Ailment:
    shown = ".".join(map(str, version))
    if version[:2] >= PYTHON:
        return _well("python", _("Python"), shown)
    return Ailment(
        code="python",
        health=Health.MISSING,
        fact=_("Python"),
        value=shown,
        cost=_("lastro does not start"),
        cure=_("install Python {version} or newer").format(version=".".join(map(str, PYTHON))),
        needed=True,
    )


def _system(name: str, proc: bool) -> Ailment:
    if name == "Linux" and proc:
        return _well("system", _("system"), name)
    return Ailment(
        code="system",
        health=Health.MISSING,
        fact=_("system"),
        value=name if name != "Linux" else _("Linux without /proc"),
        cost=_("no machine can be taken here, neither 'here' nor 'local'"),
        cure=_("run lastro on the rented machine itself, or in a Linux container with /proc"),
        needed=True,
    )


def _storage(code: str, fact: str, folder: Path, *, needed: bool) -> Ailment:
    """Publish, claim and sync in a folder, or in the first one above it that is there."""
    place = existing(folder)
    probe = place / f"{atomic.TEMPORARY}doctor-{secrets.token_hex(6)}"
    try:
        probe.mkdir()
        try:
            atomic.write_bytes(probe / "published", b"x")
            claims = (atomic.claim(probe / "claim", b"1"), atomic.claim(probe / "claim", b"2"))
        finally:
            atomic.remove_tree(probe)
    except (OSError, StorageError) as error:
        why = error.message if isinstance(error, StorageError) else error.strerror or str(error)
        return _unwritable(code, fact, why, needed)
    if claims != (True, False):
        return _unwritable(code, fact, _("two claims of one name succeeded"), needed)
    return _well(
        code,
        fact,
        _("can be written, synced and claimed; {free} free").format(
            free=show_bytes(shutil.disk_usage(place).free)
        ),
    )


def _unwritable(code: str, fact: str, why: str, needed: bool) -> Ailment:
    return Ailment(
        code=code,
        health=Health.MISSING,
        fact=fact,
        value=why,
        cost=_("no campaign can be recorded") if needed else _("nothing can be saved there"),
        cure=_("set LASTRO_HOME to a folder of a local file system that you may write to")
        if needed
        else _("check permissions and mount options, or name another disk with --disk"),
        needed=needed,
    )


#: Module, package to install, and what is weaker or does not work without it.
_PACKAGES: tuple[tuple[str, str, Health, Callable[[], str]], ...] = (
    (
        "torch",
        "lastro[torch]",
        Health.MISSING,
        lambda: _("jobs that train with PyTorch through lastro's API"),
    ),
    (
        "safetensors",
        "lastro[torch]",
        Health.MISSING,
        lambda: _("checkpoints of tensors, and their reloading"),
    ),
    ("numpy", "numpy", Health.MISSING, lambda: _("checkpoints of tensors, and their reloading")),
    ("xxhash", "xxhash", Health.WEAKER, lambda: _("digests of checkpoints are SHA-256: right, but slower")),
    ("psutil", "psutil", Health.WEAKER, lambda: _("less is told of how busy the machine is")),
    ("pynvml", "nvidia-ml-py", Health.WEAKER, lambda: _("nothing is told of GPUs: name, memory, use, power")),
)
_PROGRAMS: tuple[tuple[str, str, Callable[[], str]], ...] = (
    ("git", "git", lambda: _("the commit of the code is not recorded; its digest is")),
    ("bwrap", "bubblewrap", lambda: _("outputs are reloaded in a fresh process without a jail")),
    ("ssh", "openssh-client", lambda: _("machines cannot be reached from here; this version reaches none")),
    ("rsync", "rsync", lambda: _("files cannot be copied to machines; this version copies none")),
)


def _packages(there: Callable[[str], bool]) -> Iterator[Ailment]:
    for module, package, health, cost in _PACKAGES:
        fact = _("package {name}").format(name=module)
        if there(module):
            yield _well(f"package.{module}", fact, _("installed"))
            continue
        what = cost()
        yield Ailment(
            code=f"package.{module}",
            health=health,
            fact=fact,
            value=_("not installed"),
            cost=_("without it do not work: {what}").format(what=what) if health is Health.MISSING else what,
            cure=_("pip install {package}").format(package=package),
        )


def _programs(which: Callable[[str], str | None]) -> Iterator[Ailment]:
    for program, package, cost in _PROGRAMS:
        fact, path = _("program {name}").format(name=program), which(program)
        if path is not None:
            yield _well(f"program.{program}", fact, path)
            continue
        yield Ailment(
            code=f"program.{program}",
            health=Health.WEAKER,
            fact=fact,
            value=_("not found"),
            cost=cost(),
            cure=_("install {package} with the system's package manager").format(package=package),
        )


def _shared_memory(stack: Stack) -> Ailment:
    fact, size = _("shared memory"), stack.shared_memory_bytes
    if size is not None and size > DOCKER_DEFAULT:
        return _well("shared_memory", fact, show_bytes(size))
    return Ailment(
        code="shared_memory",
        health=Health.WEAKER,
        fact=fact,
        value=_("there is no /dev/shm") if size is None else show_bytes(size),
        cost=_("loader workers may end with a bus error"),
        cure=_("start the container with --shm-size or --ipc=host, or use no workers"),
    )


def _gpus(stack: Stack) -> Ailment:
    if stack.gpus:
        return _well("gpus", _("GPUs"), ", ".join(gpu.name for gpu in stack.gpus))
    return Ailment(
        code="gpus",
        health=Health.WEAKER,
        fact=_("GPUs"),
        value=stack.gpu_reason or _("none"),
        cost=_("training here runs on processors"),
        cure=_("rent a machine with one; rehearsals and smoke runs need none"),
    )


def _namespaces(allowed: bool) -> Ailment:
    if allowed:
        return _well("namespaces", _("user namespaces"), _("allowed"))
    return Ailment(
        code="namespaces",
        health=Health.WEAKER,
        fact=_("user namespaces"),
        value=_("refused"),
        cost=_("no jail, and what a job leaves behind is found by descent and environment only"),
        cure=_(
            "allow them (sysctl kernel.unprivileged_userns_clone, or the container's profile), or go without"
        ),
    )


def _cgroups(writable: Path | None) -> Ailment:
    if writable is not None:
        return _well("cgroups", _("control groups"), _("{path} can be written").format(path=writable))
    return Ailment(
        code="cgroups",
        health=Health.WEAKER,
        fact=_("control groups"),
        value=_("none that may be written"),
        cost=_("processes of a job are ended one by one, and memory limits are only read"),
        cure=_("none is needed; as root of a machine of your own they are there"),
    )


def _clock(now: datetime, installed: datetime | None) -> Ailment:
    if installed is None or now >= installed:
        return _well("clock", _("clock"), f"{now:%Y-%m-%d %H:%M} UTC")
    return Ailment(
        code="clock",
        health=Health.WEAKER,
        fact=_("clock"),
        value=_("{now} UTC, before lastro was installed ({installed})").format(
            now=f"{now:%Y-%m-%d %H:%M}", installed=f"{installed:%Y-%m-%d %H:%M}"
        ),
        cost=_("lease ends, deadlines and the times in the journal are wrong"),
        cure=_("set the clock (timedatectl set-ntp true), or ask who rents the machine out"),
    )


def _installed_at() -> datetime | None:
    try:
        return datetime.fromtimestamp(Path(__file__).stat().st_mtime, timezone.utc)
    except OSError:
        return None


def _may_unshare() -> bool:
    """Try in a child, which alone would be changed by it."""
    script = (
        "import ctypes, sys; "
        f"sys.exit(0 if ctypes.CDLL(None, use_errno=True).unshare({_CLONE_NEWUSER}) == 0 else 1)"
    )
    try:
        child = subprocess.run(
            [sys.executable, "-I", "-S", "-c", script],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS_TO_ANSWER,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return child.returncode == 0


def _own_cgroup(
    proc: Path = Path("/proc/self/cgroup"), mounted: Path = Path("/sys/fs/cgroup")
) -> Path | None:
    """Return the folder of this process's group when it may be written; version 2 only."""
    try:
        lines: Mapping[str, str] = dict(
            line.split("::", 1) for line in proc.read_text().splitlines() if line.startswith("0::")
        )
    except OSError:
        return None
    path = next(iter(lines.values()), None)
    folder = mounted / path.lstrip("/") if path is not None else None
    return folder if folder is not None and os.access(folder / "cgroup.procs", os.W_OK) else None
