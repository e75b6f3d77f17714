"""What can be pinned is what the lock and the requirements say; the rest is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lastro.export.base_image import base_of
from lastro.export.pins import Pins, pins_of, read_requirements
from lastro.preflight.lock import Answer, Lock, Value
from lastro.spec.load import load_campaign
from tests.export.project import CAMPAIGN, project

FACTS: dict[str, dict[str, Value]] = {
    "cpu": {"python": "3.12.1", "package.torch": "2.13.0", "build.torch": "cpu", "os": "Ubuntu 24.04.1 LTS"},
    "gpu": {
        "python": "3.11.7",
        "package.torch": "2.13.0",
        "build.torch": "cu126",
        "package.nvidia-cudnn-cu12": "9.5.1.17",
        "package.somebody's": "not a version",
        "os": "Ubuntu 22.04.5 LTS",
        "gpu.count": 1,
        "gpu.driver": "560.35.05",
        "gpu.cuda": "12.8",
    },
}


def lock(*kinds: str) -> Lock:
    answers = {kind: Answer(at="then", node_id="n1", facts=FACTS[kind]) for kind in kinds}
    return Lock(campaign="sums", answers=answers)


def pins(tmp_path: Path, *kinds: str, campaign: str = CAMPAIGN) -> Pins:
    return pins_of(
        lock(*kinds) if kinds else None, load_campaign(project(tmp_path / "p", campaign)).spec, None
    )


def test_a_campaign_that_needs_cards_is_pinned_by_the_machine_that_has_some(tmp_path: Path) -> None:
    found = pins(tmp_path, "cpu", "gpu", campaign=CAMPAIGN.replace("cpu: 1", "gpu: 1"))

    assert (found.python, found.cuda, found.cudnn) == ("3.11.7", "12.6", "9.5.1.17")
    assert found.packages == {"nvidia-cudnn-cu12": "9.5.1.17", "torch": "2.13.0"}
    assert found.unpinned == ()


def test_one_that_needs_none_is_pinned_by_the_machine_without(tmp_path: Path) -> None:
    found = pins(tmp_path, "cpu", "gpu")

    assert (found.python, found.cuda, found.builds) == ("3.12.1", None, {"torch": "cpu"})
    assert found.unpinned == ()


def test_cards_that_no_locked_machine_had_leave_cuda_open(tmp_path: Path) -> None:
    found = pins(tmp_path, "cpu", campaign=CAMPAIGN.replace("cpu: 1", "gpu: 1"))

    assert found.unpinned == ("CUDA", "cuDNN", "the driver")


def test_without_a_lock_the_wanted_packages_are_open(tmp_path: Path) -> None:
    found = pins(
        tmp_path, campaign=CAMPAIGN + 'want: {python: "3.11.7", torch: "2.13.*", memory: ">=2 GB"}\n'
    )

    assert found.python == "3.11.7"
    assert found.wanted == ("torch==2.13.*",)
    assert found.unpinned == ("the package torch==2.13.*", "what the packages need in turn")


def test_the_image_is_that_of_the_machine_else_the_one_that_plan_b_brings(tmp_path: Path) -> None:
    campaign = CAMPAIGN + f"plan_b: {{run: {{region: elsewhere, image: {IMAGE}}}}}\n"
    spec = load_campaign(project(tmp_path / "p", campaign)).spec
    answer = Answer(at="then", node_id="n1", facts={"image": "another@sha256:" + "b" * 64})

    assert pins_of(None, spec, None).image == IMAGE
    assert pins_of(Lock(campaign="sums", answers={"cpu": answer}), spec, None).image == answer.facts["image"]


@pytest.mark.parametrize(
    ("text", "hashed", "loose"),
    [
        ("numpy==2.4.6\n", False, ()),
        ("# all\nnumpy>=2\ntorch == 2.13.0 ; python_version < '3.13'\n", False, ("numpy",)),
        ("numpy==2.*\n--no-index\n./a.whl\n", False, ("numpy",)),
        ("numpy==2.4.6 \\\n    --hash=sha256:abc\ntorch===2.13.0 --hash=sha256:def\n", True, ()),
        ("numpy==2.4.6 --hash=sha256:abc\ntorch==2.13.0\n", False, ()),
        ("", False, ()),
    ],
)
def test_a_line_of_a_requirements_file_is_exact_or_named(
    text: str, hashed: bool, loose: tuple[str, ...]
) -> None:
    found = read_requirements("requirements.txt", text)

    assert (found.hashed, found.loose) == (hashed, loose)


# --- what an image is built from --------------------------------------------------------------------------

IMAGE = "registry.example.org/mine@sha256:" + "a" * 64
CARDS = {"count": 1, "driver": "560.35.05"}
TORCH = Pins(python="3.11.7", os="Ubuntu 24.04.1 LTS", gpu=CARDS, builds={"torch": "cu126"})
CUDNN = {"nvidia-cudnn-cu12": "9.5.1.17"}


@pytest.mark.parametrize(
    ("known", "image", "libraries"),
    [
        (Pins(image=IMAGE, gpu=CARDS), IMAGE, ()),
        (Pins(image="mine:latest", python="3.11.7"), "python:3.11.7-slim", ()),
        (Pins(python="3.11.7"), "python:3.11.7-slim", ()),
        (Pins(), "python:3-slim", ()),
        (Pins(python="3.11.7", gpu=CARDS), "python:3.11.7-slim", ()),
        (
            replace(TORCH, packages={**CUDNN, "nvidia-cuda-runtime-cu12": "12.6.77"}),
            "nvidia/cuda:12.6.3-base-ubuntu24.04",
            (),
        ),
        (
            replace(TORCH, packages=CUDNN),
            "nvidia/cuda:12.6.3-runtime-ubuntu24.04",
            ("libcudnn9-cuda-12=9.5.1.17-1",),
        ),
        (TORCH, "nvidia/cuda:12.6.3-runtime-ubuntu24.04", ()),
        (
            Pins(python="3.13.0", gpu=CARDS, os="Debian", packages={"nvidia-cuda-runtime": "13.1.80"}),
            "nvidia/cuda:13.1.0-base-ubuntu22.04",
            (),
        ),
    ],
)
def test_an_image_is_built_from_what_was_locked(known: Pins, image: str, libraries: tuple[str, ...]) -> None:
    base = base_of(known)

    assert (base.image, base.libraries) == (image, libraries)
    assert base.has_python == (not image.startswith("nvidia"))
