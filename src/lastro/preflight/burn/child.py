"""Carries out the steps of a burn-in, in a process of the job's Python: a line of JSON for each, as it ends.

So a step that hangs takes nothing from those before it: whoever reads has their lines.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

from lastro.preflight.burn.matmul import burn_matmul
from lastro.preflight.burn.memory import check_memory
from lastro.preflight.burn.reduce import check_reduce
from lastro.preflight.burn.transfer import check_transfer

#: Of the memory that is free; the rest is for the library's own and for what compares.
FREE_SHARE = 0.95


def carry_out(torch: Any, step: Mapping[str, Any]) -> dict[str, Any]:
    """Return what one step has shown. Raises whatever torch raises."""
    kernel, device, seconds = step["kernel"], step["device"], float(step["seconds"])
    if kernel == "memory":
        return check_memory(torch, device, step["bytes"] or _free(torch, device), seconds)
    if kernel == "matmul":
        return burn_matmul(torch, device, step["dtype"], step["size"], seconds)
    if kernel == "transfer":
        return check_transfer(torch, device, step["bytes"], seconds)
    if "rank" in step:
        return check_reduce(
            torch, step["rank"], step["world"], step["backend"], step["place"], step["bytes"], seconds
        )
    return _together(step)


def _free(torch: Any, device: str) -> int:
    """Return as many bytes as a device can spare."""
    free, _total = torch.cuda.mem_get_info(device)
    return int(free * FREE_SHARE)


def _together(step: Mapping[str, Any]) -> dict[str, Any]:
    """Start a process like this one for each device; return what they say together."""
    with tempfile.TemporaryDirectory() as folder:
        place = os.path.join(folder, "meet")  # noqa: PTH118 - torch wants a text
        processes = []
        for rank in range(step["world"]):
            process = subprocess.Popen(
                sys.orig_argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            assert process.stdin is not None
            process.stdin.write(json.dumps({"steps": [{**step, "rank": rank, "place": place}]}))
            process.stdin.close()
            processes.append(process)
        said = [process.stdout.read() if process.stdout is not None else "" for process in processes]
        for process in processes:
            process.wait()
    found = [json.loads(line) for one in said for line in one.splitlines()[:1]]
    failed = [one["error"] for one in found if "error" in one]
    if failed or len(found) < step["world"]:
        raise RuntimeError(failed[0] if failed else "a process ended without a word")
    return {
        **found[0],
        "wrong": sum(one["wrong"] for one in found),
        "pace": min(one["pace"] for one in found),
    }


def main() -> None:
    """Read the steps from standard input; tell of each on standard output."""
    steps = json.load(sys.stdin)["steps"]
    try:
        import torch
    except Exception as error:  # noqa: BLE001 - a library that cannot be loaded is what there is to tell
        _tell({"error": f"{type(error).__name__}: {error}", "missing": True})
        return
    for step in steps:
        try:
            _tell({**step, **carry_out(torch, step)})
        except Exception as error:  # noqa: BLE001 - the next step may work
            _tell({**step, "error": f"{type(error).__name__}: {error}"})


def _tell(value: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()
