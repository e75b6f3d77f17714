"""What `torch.save` has written: tensors, loaded with `weights_only`, which executes nothing."""

from __future__ import annotations

from pathlib import Path

from lastro.closeout.pickles import scan
from lastro.closeout.reload.apart import Loaded, Request
from lastro.closeout.reload.values import fault_of

_SUFFIXES = frozenset({".pt", ".pth", ".ckpt", ".bin"})


class TorchLoader:
    """Opens .pt, .pth, .ckpt and .bin that hold tensors only. There is no second try in another way."""

    name = "torch"
    packages: tuple[str, ...] = ("torch",)
    only_jailed = False

    def reads(self, path: Path) -> bool:
        if path.suffix.lower() not in _SUFFIXES or not path.is_file():
            return False
        found = scan(path)
        return found is not None and found.only_tensors

    def load(self, request: Request) -> Loaded:
        import torch

        value = torch.load(request.path, map_location="cpu", weights_only=True)
        return Loaded(problem=fault_of(value))
