"""Which steps a burn-in has: for a machine's devices, the plan's types of numbers, and the time. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lastro.preflight.burn.matmul import ROUNDOFF

#: Sizes for a GPU, and for a processor, where they show that the path works.
GPU_MATRIX, CPU_MATRIX = 8192, 256
GPU_COPY, CPU_COPY = 256 * 2**20, 16 * 2**20
GPU_SUM, CPU_SUM = 256 * 2**20, 4 * 2**20
CPU_MEMORY = 128 * 2**20
#: Processes that add up where there is no GPU.
CPU_WORLD = 2
#: Parts of the time: memory, matrices (all types together), copies, sums.
_SHARES = {"memory": 0.35, "matmul": 0.45, "transfer": 0.1, "reduce": 0.1}


def burn_steps(gpus: int, dtypes: Sequence[str], seconds: float) -> tuple[dict[str, Any], ...]:
    """Return the steps, in the order in which they are done.

    Args:
        gpus: how many there are; 0: the same on the processor, small.
        dtypes: of the plan; a type of which there are no matrices of numbers is left out.
        seconds: for all steps together; each device gets its equal part.
    """
    devices = [f"cuda:{number}" for number in range(gpus)] or ["cpu"]
    kinds = [dtype for dtype in dict.fromkeys(dtypes) if dtype in ROUNDOFF] or ["float32"]
    part = {kernel: share * seconds / len(devices) for kernel, share in _SHARES.items()}
    steps: list[dict[str, Any]] = []
    for device in devices:
        steps.append(_step("memory", device, part["memory"], bytes=None if gpus else CPU_MEMORY))
        size = GPU_MATRIX if gpus else CPU_MATRIX
        steps += [
            _step("matmul", device, part["matmul"] / len(kinds), dtype=dtype, size=size) for dtype in kinds
        ]
        steps.append(_step("transfer", device, part["transfer"], bytes=GPU_COPY if gpus else CPU_COPY))
    if gpus != 1:
        world, backend = (gpus, "nccl") if gpus else (CPU_WORLD, "gloo")
        size = GPU_SUM if gpus else CPU_SUM
        steps.append(
            _step("reduce", "all", _SHARES["reduce"] * seconds, world=world, backend=backend, bytes=size)
        )
    return tuple(steps)


def _step(kernel: str, device: str, seconds: float, **more: Any) -> dict[str, Any]:
    return {"kernel": kernel, "device": device, "seconds": seconds, **more}
