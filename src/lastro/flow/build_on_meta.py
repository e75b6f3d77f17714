"""Run as a program in the user's own Python: builds model and optimizer without memory, and sums their bytes.

It imports nothing of lastro, which need not be installed there. Arguments: `module:function`, and a JSON list
of configurations. It prints one JSON object as its last line.
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any


def main(target: str, configs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return `sizes`, one for each configuration, or `missing` or `failed` with a sentence of the library."""
    try:
        import torch
    except ImportError as error:
        return {"missing": str(error)}
    module, _colon, name = target.partition(":")
    try:
        build = getattr(importlib.import_module(module), name)
        takes_one = bool(inspect.signature(build).parameters)
        sizes = []
        for config in configs if takes_one else configs[:1]:
            with torch.device("meta"):
                built = build(config) if takes_one else build()
            model, optimizer = built if isinstance(built, tuple) else (built, None)
            sizes.append(_sizes(model, optimizer))
        return {"sizes": sizes}
    except BaseException as error:  # noqa: BLE001 - a module that ends the program is an answer too
        return {"failed": f"{type(error).__name__}: {error}"[:500]}


def _sizes(model: Any, optimizer: Any) -> dict[str, int]:
    """Return bytes by what they are of; `saved` and `kept`: buffers that a checkpoint holds, and others."""
    import torch

    parameters = list(model.parameters())
    trained = [one for one in parameters if one.requires_grad]
    frozen = [one for one in parameters if not one.requires_grad]
    if optimizer is not None:
        held = {id(one) for group in optimizer.param_groups for one in group["params"]}
        for one in trained:
            if id(one) in held:
                one.grad = torch.zeros_like(one)
        optimizer.step()
    seen: set[tuple[Any, ...]] = set()
    return {
        "frozen": _bytes(frozen, seen),
        "trained": _bytes(trained, seen),
        "saved": _bytes(_tensors(model.state_dict()), seen),
        "kept": _bytes(model.buffers(), seen),
        "optimizer": _bytes(_tensors(optimizer.state_dict()), seen) if optimizer is not None else 0,
        "gradients": sum(
            one.grad.numel() * one.grad.element_size() for one in trained if one.grad is not None
        ),
    }


def _tensors(tree: Any) -> Iterator[Any]:
    import torch

    if isinstance(tree, torch.Tensor):
        yield tree
    elif isinstance(tree, Mapping):
        for item in tree.values():
            yield from _tensors(item)
    elif isinstance(tree, (list, tuple)):
        for item in tree:
            yield from _tensors(item)


def _bytes(tensors: Any, seen: set[tuple[Any, ...]]) -> int:
    """Return the bytes of tensors that were not counted before: tied weights are one."""
    total = 0
    for one in tensors:
        memory = (
            one.untyped_storage()._cdata,
            one.storage_offset(),
            tuple(one.shape),
            one.stride(),
            one.dtype,
        )
        if memory not in seen:
            seen.add(memory)
            total += one.numel() * one.element_size()
    return total


if __name__ == "__main__":
    sys.stdout.write("\n" + json.dumps(main(sys.argv[1], json.loads(sys.argv[2]))) + "\n")
