"""Does the NVIDIA driver answer, and is it new enough for the CUDA that the job brings?"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from packaging.version import InvalidVersion, Version

from lastro.locale import _
from lastro.preflight.check import Finding, Level, Subject
from lastro.spec.want import parse_version
from lastro.stack.driver import (
    HALF_UPDATED,
    NO_DRIVER,
    SILENT,
    Driver,
)

#: The oldest driver that runs a CUDA of this major version: NVIDIA, CUDA compatibility, minor version table
#: (docs.nvidia.com/deploy/cuda-compatibility, read 2026-11).
MINIMUM = {11: "450", 12: "525", 13: "580"}

_LABEL = re.compile(r"\+cu(\d{2})\d")
_RUNTIME = re.compile(r"nvidia-cuda-runtime(?:-cu(\d+))?")


def check(subject: Subject) -> Iterator[Finding]:
    """Say whether anything here speaks for NVIDIA cards, then compare versions."""
    if subject.cpu_only:
        return
    if not subject.driver.is_covered:
        paid = subject.offered.gpu if subject.offered is not None else None
        yield judge_absence(subject.driver, subject.wants_gpu, other_maker(), paid)
        return
    answer = judge_answer(subject.driver, subject.wants_gpu)
    yield answer
    if answer.level is not Level.PASS or subject.driver.version is None:
        return
    major = cuda_major(subject.versions.installed)
    if major is not None:
        yield judge_minimum(subject.driver.version, major)
    if "driver" in subject.want:
        yield judge_version(subject.driver.version, subject.want["driver"])
    if "cuda" in subject.want:
        yield judge_cuda(subject.driver.cuda, subject.want["cuda"])


def other_maker() -> str | None:
    """Name a maker of GPUs that is here and not covered; None when none is seen."""
    if Path("/dev/kfd").exists():
        return "AMD"
    if platform.system() == "Darwin" and platform.machine() == "arm64":
        return "Apple"
    return None


def judge_absence(driver: Driver, wanted: bool, other: str | None, paid: str | None) -> Finding:
    """Return the finding for a machine on which nothing speaks NVML.

    Args:
        driver: which has not answered.
        wanted: whether the campaign says that it needs a GPU.
        other: a maker whose GPUs are here and not covered.
        paid: the card that the lease names.
    """
    if paid is not None and not wanted:
        return Finding(
            code="gpu",
            level=Level.WARN,
            fact=_("GPU"),
            value=driver.reason or "",
            expected=_("{gpu}, which the lease pays for").format(gpu=paid),
            consequence=_("a card is paid for that nobody can see"),
            next_step=_("start the container with its GPUs, or `pip install 'lastro[telemetry]'`"),
        )
    value = driver.reason or ""
    if other is not None:
        value = _("a GPU of {maker}: not covered, nothing was asked of it").format(maker=other)
    return Finding(
        code="gpu",
        level=Level.FAIL if wanted and other is None else Level.NO_ANSWER,
        fact=_("GPU"),
        value=value,
        expected=_("one that NVIDIA's library tells of, as `want` says") if wanted else None,
        consequence=_("the job finds no GPU, or nobody knows which") if wanted else None,
        next_step=_("install the driver, or `pip install 'lastro[telemetry]'`, or take another machine")
        if wanted
        else None,
        required=wanted,
    )


def judge_answer(driver: Driver, wanted: bool) -> Finding:
    """Return the finding for a driver that is there, whatever it has answered."""
    if driver.reason is None:
        return Finding(
            code="driver",
            level=Level.PASS,
            fact=_("NVIDIA driver"),
            value=_("{version}, answered in {seconds:.1f} s").format(
                version=driver.version, seconds=driver.seconds
            ),
        )
    if driver.state == SILENT:
        return Finding(
            code="driver_silent",
            level=Level.NO_ANSWER,
            fact=_("NVIDIA driver"),
            value=driver.reason,
            expected=_("an answer; healthy drivers give it within a second"),
            consequence=_("whatever asks the card hangs with it, and cannot be killed"),
            next_step=_("restart the machine, or give it back"),
            required=True,
        )
    codes = {HALF_UPDATED: "driver_half_updated", NO_DRIVER: "driver_not_loaded"}
    steps = {
        HALF_UPDATED: _(
            "give the machine back: driver and library are of two versions until it is restarted"
        ),
        NO_DRIVER: _("load the driver, or take a machine that has a GPU"),
    }
    needed = wanted or driver.state == HALF_UPDATED
    return Finding(
        code=codes.get(driver.state, "driver_failed"),
        level=Level.FAIL if needed else Level.NO_ANSWER,
        fact=_("NVIDIA driver"),
        value=driver.reason,
        consequence=_("the job finds no GPU"),
        next_step=steps.get(driver.state, _("look into the kernel's log, or take another machine")),
    )


def cuda_major(packages: Mapping[str, str]) -> int | None:
    """Return the major version of CUDA that the job's PyTorch brings; None when that is not told."""
    label = _LABEL.search(packages.get("torch", ""))
    if label:
        return int(label[1])
    for name, version in packages.items():
        match = _RUNTIME.fullmatch(name)
        if match:
            return int(match[1] or version.split(".")[0])
    return None


def judge_minimum(version: str, major: int) -> Finding:
    """Compare a driver with the oldest that runs a major version of CUDA."""
    least = MINIMUM.get(major)
    old = least is not None and _older(version, least)
    return Finding(
        code="driver_minimum",
        level=Level.FAIL if old else Level.PASS if least else Level.NO_ANSWER,
        fact=_("driver for CUDA {major}").format(major=major),
        value=version,
        expected=_("at least {least}").format(least=least) if least else None,
        consequence=_("the first kernel fails: the driver is too old for the CUDA of PyTorch")
        if old
        else None,
        next_step=_("take a machine with a newer driver, or a PyTorch of an older CUDA") if old else None,
    )


def judge_version(version: str, wanted: str) -> Finding:
    """Compare the driver with `want.driver`."""
    return _wanted("driver_version", _("NVIDIA driver"), version, wanted)


def judge_cuda(cuda: int | None, wanted: str) -> Finding:
    """Compare the newest CUDA that the driver runs with `want.cuda`."""
    shown = None if cuda is None else f"{cuda // 1000}.{cuda % 1000 // 10}"
    return _wanted("driver_cuda", _("newest CUDA of the driver"), shown, wanted)


def _wanted(code: str, fact: str, value: str | None, wanted: str) -> Finding:
    try:
        well = value is not None and parse_version(wanted).contains(Version(value))
    except InvalidVersion:
        value, well = _("{version} (no version that can be compared)").format(version=value), False
    return Finding(
        code=code,
        level=Level.PASS if well else Level.FAIL if value is not None else Level.NO_ANSWER,
        fact=fact,
        value=value or _("not told"),
        expected=wanted,
        consequence=None if well else _("the job was not proven on this version"),
        next_step=None if well else _("take another machine or image, or change `want`"),
        required=True,
    )


def _older(version: str, least: str) -> bool:
    try:
        return Version(version) < Version(least)
    except InvalidVersion:
        return True
