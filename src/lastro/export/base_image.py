"""What an image is built from: the locked image itself, CUDA as it was locked, or a plain Python. Pure."""

from __future__ import annotations

import re

from lastro.export.pins import Pins
from lastro.records import dataclass

#: The last release of each CUDA that NVIDIA builds images of: https://hub.docker.com/r/nvidia/cuda/tags.
#: Of others the first one is named, which each of them has had.
_RELEASES = {
    "11.8": "11.8.0", "12.0": "12.0.1", "12.1": "12.1.1", "12.2": "12.2.2", "12.3": "12.3.2",
    "12.4": "12.4.1", "12.5": "12.5.1", "12.6": "12.6.3", "12.8": "12.8.1", "12.9": "12.9.1",
}  # fmt: skip
#: Of Ubuntu there are images of CUDA for these; the older one has them for every release of CUDA.
_UBUNTU = {"22.04": "ubuntu22.04", "24.04": "ubuntu24.04"}
_DIGEST = re.compile(r"[^\s@]+@sha256:[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True)
class Base:
    """The image that a container file begins with.

    `has_python`: it brings the Python; else the one that was locked is put in. `has_packages`: those of the
    lock too. `libraries`: packages of the system that are installed into it, each with its version. `why`:
    why this one, in a sentence.
    """

    image: str
    has_python: bool
    has_packages: bool = False
    libraries: tuple[str, ...] = ()
    why: str


def base_of(pins: Pins) -> Base:
    """Return what to build from.

    An image that was locked by its digest is what the campaign was proven in. Else CUDA of the locked
    framework, with its libraries where no package brings them. A machine without GPU needs a Python only.
    """
    if pins.image is not None and _DIGEST.fullmatch(pins.image):
        why = "the image that the campaign names, by its digest; Python and packages are in it"
        return Base(image=pins.image, has_python=True, has_packages=True, why=why)
    if not pins.gpu:
        return _plain(pins)
    if pins.cuda is None:
        plain = _plain(pins)
        why = f"{plain.why}; lastro.lock names cards, but no CUDA that a framework was built for"
        return Base(image=plain.image, has_python=True, why=why)
    release = _RELEASES.get(pins.cuda, f"{pins.cuda}.0")
    system = _UBUNTU.get(_ubuntu(pins.os), _UBUNTU["22.04"])
    if pins.brings_cuda:
        why = f"CUDA {pins.cuda} of lastro.lock; its libraries and cuDNN are packages, pinned with the others"
        return Base(image=f"nvidia/cuda:{release}-base-{system}", has_python=False, why=why)
    image = f"nvidia/cuda:{release}-runtime-{system}"
    if pins.cudnn is None:
        why = f"CUDA {pins.cuda} of lastro.lock, which names no cuDNN"
        return Base(image=image, has_python=False, why=why)
    why = f"CUDA {pins.cuda} and cuDNN {pins.cudnn} of lastro.lock"
    package = f"libcudnn{pins.cudnn.split('.')[0]}-cuda-{pins.cuda.split('.')[0]}={pins.cudnn}-1"
    return Base(image=image, has_python=False, libraries=(package,), why=why)


def _plain(pins: Pins) -> Base:
    if pins.python is None:
        return Base(
            image="python:3-slim", has_python=True, why="no version of Python is known, so the newest"
        )
    where = "of the locked machine" if pins.packages else "that the campaign wants"
    return Base(image=f"python:{pins.python}-slim", has_python=True, why=f"the Python {where}, without CUDA")


def _ubuntu(os: str | None) -> str:
    found = re.match(r"Ubuntu ([0-9]+\.[0-9]+)", os or "")
    return found[1] if found else ""
