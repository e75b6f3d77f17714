"""Which versions an export can pin, from `lastro.lock` and the requirements file; and which it cannot."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from lastro.errors import CampaignInvalid, NotProven
from lastro.locale import _
from lastro.preflight.lock import CPU, GPU, Lock, State, read_lock
from lastro.preflight.machine_facts import BUILD, PACKAGE
from lastro.records import dataclass
from lastro.spec.campaign import Campaign
from lastro.spec.load import LoadedCampaign
from lastro.spec.want import OF_MACHINE, parse_version

#: Beside the campaign file; the first that is there counts.
REQUIREMENTS = ("requirements.lock", "requirements.txt")
#: Packages that hold NVIDIA's libraries, where a framework brings them as packages of its own.
_CUDA = (
    "nvidia-cuda-runtime", "nvidia-cuda-runtime-cu13", "nvidia-cuda-runtime-cu12", "nvidia-cuda-runtime-cu11",
)  # fmt: skip
_CUDNN = ("nvidia-cudnn-cu13", "nvidia-cudnn-cu12", "nvidia-cudnn-cu11")
_EXACT = re.compile(r"[^#;]*===?\s*[^*\s,;#]+\s*(;|#|--hash=|$)")


@dataclass(frozen=True, kw_only=True)
class Requirements:
    """The file beside the campaign file. `loose`: its lines that leave a version open."""

    name: str
    hashed: bool
    loose: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Pins:
    """What is known of the software of a campaign. Empty and None: nobody has said it.

    `packages`: all of the locked machine, by name. `builds`: local labels of them, such as `cu126`. `gpu`:
    facts of its cards, without the prefix. `image`: that of the locked machine, else the one that plan B
    brings. `wanted`: requirements of the campaign's `want`.
    """

    python: str | None = None
    packages: Mapping[str, str] = field(default_factory=dict)
    builds: Mapping[str, str] = field(default_factory=dict)
    gpu: Mapping[str, Any] = field(default_factory=dict)
    os: str | None = None
    image: str | None = None
    requirements: Requirements | None = None
    wanted: tuple[str, ...] = ()
    uses_gpu: bool = False

    @property
    def hashed(self) -> bool:
        """Whether pip holds each file to its digest; it takes no other constraints then."""
        return self.requirements is not None and self.requirements.hashed

    @property
    def cuda(self) -> str | None:
        """CUDA as the framework was built for it, such as `12.6`; never the newest that a driver runs."""
        for name in _CUDA:
            if name in self.packages:
                return ".".join(self.packages[name].split(".")[:2])
        label = re.fullmatch(r"cu([0-9]{2})([0-9]+)", self.builds.get("torch", ""))
        return f"{label[1]}.{label[2]}" if label else None

    @property
    def brings_cuda(self) -> bool:
        """Whether packages hold the libraries of CUDA, so that an image need not."""
        return any(name in self.packages for name in _CUDA)

    @property
    def cudnn(self) -> str | None:
        """CuDNN as the locked packages have it."""
        return next((self.packages[name] for name in _CUDNN if name in self.packages), None)

    @property
    def unpinned(self) -> tuple[str, ...]:
        """What an export leaves to the day and the place on which it is used."""
        found = [] if self.python else ["Python"]
        if not self.packages and not self.hashed:
            loose = self.requirements.loose if self.requirements else self.wanted
            found += [f"the package {name}" for name in loose]
            found.append("what the packages need in turn")
        if self.uses_gpu:
            told = {"CUDA": self.cuda, "cuDNN": self.cudnn, "the driver": self.gpu.get("driver")}
            found += [name for name, version in told.items() if version is None]
        return tuple(found)


def read_pins(loaded: LoadedCampaign, *, strict: bool = False) -> Pins:
    """Read what is known of the software of a campaign.

    Args:
        loaded: the campaign; lock and requirements lie in its folder.
        strict: whatever cannot be pinned is an error.

    Raises:
        CampaignInvalid: the lock is cut, edited, or of another campaign.
        NotProven: strict, and something cannot be pinned.
    """
    spec = loaded.spec
    pins = pins_of(_lock(loaded), spec, _requirements(loaded.folder))
    if strict and pins.unpinned:
        raise NotProven(
            _("not pinned: {names}").format(names=", ".join(pins.unpinned)),
            hint=_("`lastro preflight` on the machine that it was proven on writes lastro.lock; commit it"),
        )
    return pins


def pins_of(lock: Lock | None, spec: Campaign, requirements: Requirements | None) -> Pins:
    """Return what a lock says, of a machine with GPUs where the campaign needs them. Pure."""
    uses_gpu = any(stage.gpu for stage in spec.stages.values()) or "gpu" in spec.want
    answers = lock.answers if lock else {}
    order = (GPU, CPU) if uses_gpu else (CPU, GPU)
    facts: Mapping[str, Any] = next((answers[kind].facts for kind in order if kind in answers), {})
    wanted = [
        f"{name}{parse_version(version)}"
        for name, version in spec.want.items()
        if name not in OF_MACHINE and name != "python"
    ]
    return Pins(
        python=_text(facts.get("python")) or _exact_python(spec),
        packages={name: version for name, version in _below(facts, PACKAGE).items() if _is_version(version)},
        builds=_below(facts, BUILD),
        gpu={name.removeprefix("gpu."): value for name, value in facts.items() if name.startswith("gpu.")},
        os=_text(facts.get("os")),
        image=_text(facts.get("image"))
        or next(filter(None, (one.image for one in spec.plan_b.values())), None),
        requirements=requirements,
        wanted=tuple(wanted),
        uses_gpu=uses_gpu,
    )


def read_requirements(name: str, text: str) -> Requirements:
    """Return what a requirements file is good for. Pure; options and addresses in it are left to pip."""
    joined = re.sub(r"\\\r?\n", " ", text)
    lines = [line.strip() for line in joined.splitlines()]
    named = [
        line for line in lines if line and not line.startswith(("#", "-", ".", "/")) and "://" not in line
    ]
    return Requirements(
        name=name,
        hashed=bool(named) and all("--hash=" in line for line in named),
        loose=tuple(re.split(r"[^A-Za-z0-9._-]", line)[0] for line in named if not _EXACT.match(line)),
    )


def _lock(loaded: LoadedCampaign) -> Lock | None:
    reading = read_lock(loaded.folder, loaded.spec.campaign)
    if reading.state is State.ABSENT:
        return None
    if reading.state is State.READ:
        return reading.lock
    why = {
        State.EDITED: _("it says something else than what its digest was made of"),
        State.FOREIGN: _("it is of another campaign"),
    }.get(reading.state, reading.why or _("it is no lock"))
    raise CampaignInvalid(
        _("nothing can be pinned by it: {why}").format(why=why),
        file="lastro.lock",
        hint=_("take it back from its repository, or `lastro preflight --relock --why REASON`"),
    )


def _requirements(folder: Path) -> Requirements | None:
    for name in REQUIREMENTS:
        path = folder / name
        if path.is_file():
            return read_requirements(name, path.read_text(encoding="utf-8", errors="replace"))
    return None


def _below(facts: Mapping[str, Any], prefix: str) -> dict[str, str]:
    found = {name.removeprefix(prefix): value for name, value in facts.items() if name.startswith(prefix)}
    return {name: value for name, value in sorted(found.items()) if isinstance(value, str)}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True


def _exact_python(spec: Campaign) -> str | None:
    """Return the version of `want: {python: ...}` where it names one and no other."""
    wanted = spec.want.get("python", "").strip().removeprefix("==")
    return wanted if re.fullmatch(r"3\.[0-9]+\.[0-9]+", wanted) else None
