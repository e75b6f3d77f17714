from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest

from lastro import strictjson
from lastro.stack import Difference, Gpu, Limits, Stack, capture, cgroup_limits, compare, node_id
from lastro.stack.driver import ANSWERED, FAILED, Driver
from lastro.stack.smi import ask_smi


def test_this_machine_s_stack_is_told_as_json() -> None:
    stack = capture(["pytest", "no-such-package"])

    assert stack.packages["pytest"] == metadata.version("pytest")
    assert stack.packages["no-such-package"] is None
    assert 1 <= stack.cpu_count <= (os.cpu_count() or 1)
    assert stack.memory_bytes is None or stack.memory_bytes > 2**20
    assert strictjson.loads(strictjson.dumps(stack.as_json()))["python"] == stack.python


def test_a_stack_that_was_told_is_the_one_that_was_captured() -> None:
    card = Gpu(name="NVIDIA A100", uuid="GPU-1", memory_bytes=80 * 10**9)
    stack = replace(capture(), gpus=(card,))

    assert Stack.from_json(strictjson.loads(strictjson.dumps(stack.as_json()))) == stack


def asked_smi(folder: Path, script: str) -> Driver | None:
    """What a driver is told to be by a program that stands for nvidia-smi."""
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return ask_smi(("env", f"PATH={folder}:/usr/bin:/bin"), cwd=folder, environment=os.environ)


#: The fields in the order in which they are asked for, as `nvidia-smi --help-query-gpu` names them.
_LINE = "{at}, NVIDIA A100-SXM4-80GB, GPU-{at}, 580.65.06, 92.00, 81920, 4, 35, 400.00, 400.00"
_MORE = "0x20B210DE, 8.0, 7, Enabled, Disabled, 0, 5, 4, 4, 8, 16"


def test_the_cards_are_told_by_nvidia_smi_where_nothing_else_can_be_asked(tmp_path: Path) -> None:
    """81920 MiB are 85899345920 bytes; 400.00 W are 400000 mW; 7 % is 0.07."""
    lines = " ".join(f"'{_LINE.format(at=at)}, {_MORE}'" for at in (0, 1))
    found = asked_smi(tmp_path, f"echo Welcome; printf '%s\\n' {lines}")

    assert found is not None and (found.state, found.version, found.cuda) == (ANSWERED, "580.65.06", None)
    first, second = found.cards
    assert (first.name, first.uuid, second.index) == ("NVIDIA A100-SXM4-80GB", "GPU-0", 1)
    assert (first.memory_bytes, first.power_limit_mw, first.use) == (85899345920, 400_000, 0.07)
    assert (first.pci, first.capability, first.ecc, first.mig) == ("20b210de", "8.0", True, False)
    assert (first.ecc_aggregate, first.link_width, first.link_width_max) == (5, 8, 16)
    assert (first.rows, first.processes, first.throttle) == (None, None, None), "it was not told"


def test_an_old_nvidia_smi_tells_less_and_a_number_that_it_has_not_is_unknown(tmp_path: Path) -> None:
    line = _LINE.format(at=0).replace("400.00, 400.00", "[N/A], [Not Supported]")
    found = asked_smi(
        tmp_path, f'case "$1" in *compute_cap*) echo "no such field"; exit 2;; esac; echo "{line}"'
    )

    assert found is not None and found.state == ANSWERED
    (card,) = found.cards
    assert (card.memory_bytes, card.capability, card.power_limit_mw) == (85899345920, None, None)


def test_an_nvidia_smi_that_fails_says_why_and_one_that_is_not_there_is_none(tmp_path: Path) -> None:
    failed = asked_smi(tmp_path, "echo Driver/library version mismatch; exit 18")
    (tmp_path / "nvidia-smi").unlink()

    assert failed is not None
    assert (failed.state, failed.why, failed.code) == (FAILED, "Driver/library version mismatch", 18)
    assert ask_smi(("env", "PATH=/nowhere"), cwd=tmp_path, environment=os.environ) is None


def test_without_an_nvidia_library_the_gpus_are_unknown_and_not_none() -> None:
    stack = capture()

    assert (stack.gpus is None) == (stack.gpu_reason is not None)


def test_the_stack_loads_neither_torch_nor_a_parser() -> None:
    script = (
        "import sys, lastro.stack; lastro.stack.capture(); heavy = ('torch', 'numpy', 'pydantic', 'click'); "
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)

    assert done.stdout.strip() == "[]"


def test_a_stack_compared_with_itself_has_no_difference() -> None:
    stack = capture()

    assert compare(stack, stack) == []


def test_differences_are_named_down_to_the_package() -> None:
    before = capture()
    gpu = Gpu(name="RTX 4090", uuid="GPU-1", memory_bytes=24)
    now = replace(before, packages={**before.packages, "torch": "0.1"}, gpus=(gpu,), gpu_reason=None)

    found = {difference.what: difference for difference in compare(before, now)}

    assert found["packages.torch"] == Difference("packages.torch", before.packages["torch"], "0.1")
    assert found["gpus.0.name"].now == "RTX 4090"


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.mark.parametrize(
    ("groups", "files", "limits"),
    [
        (
            "0::/box/job\n",
            {"box/job/cpu.max": "max 100000", "box/cpu.max": "150000 100000", "box/job/memory.max": "2000"},
            Limits(cpus=1.5, memory_bytes=2000),
        ),
        ("0::/../outside\n", {"cpu.max": "50000 100000", "memory.max": "max"}, Limits(cpus=0.5)),
        (
            "4:memory:/d\n3:cpu,cpuacct:/d\n0::/\n",
            {
                "cpu,cpuacct/d/cpu.cfs_quota_us": "200000",
                "cpu,cpuacct/d/cpu.cfs_period_us": "100000",
                "memory/d/memory.limit_in_bytes": "5000",
            },
            Limits(cpus=2.0, memory_bytes=5000),
        ),
        (
            "4:memory:/\n3:cpu:/\n",
            {
                "cpu/cpu.cfs_quota_us": "-1",
                "cpu/cpu.cfs_period_us": "100000",
                "memory/memory.limit_in_bytes": "9223372036854771712",
            },
            Limits(),
        ),
        ("", {}, Limits()),
        ("nonsense\n0::/x\n", {"x/cpu.max": "", "x/memory.max": "lots"}, Limits()),
    ],
)
def test_cgroup_limits_of_both_versions(
    tmp_path: Path, groups: str, files: dict[str, str], limits: Limits
) -> None:
    proc = write(tmp_path, {"cgroup": groups}) / "cgroup"

    assert cgroup_limits(proc, write(tmp_path / "sys", files)) == limits


def test_a_machine_without_cgroups_has_no_limits(tmp_path: Path) -> None:
    assert cgroup_limits(tmp_path / "none", tmp_path) == Limits()


def test_a_node_is_known_by_its_gpus_in_any_order() -> None:
    one, two = (Gpu(name="a", uuid=f"GPU-{n}", memory_bytes=1) for n in (1, 2))

    assert node_id([one, two]) == node_id([two, one])
    assert node_id([one]) != node_id([two])
    assert node_id()[0] == node_id()[0]
