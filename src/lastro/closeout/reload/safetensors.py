"""Weights: the header is whole, its places cover the file, every value is finite."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from lastro.closeout.reload.loader import Opened
from lastro.closeout.reload.tensors import HeaderDamaged, Tensor, read_header, tensor_bytes
from lastro.locale import _

#: Bits of the exponent: all set means infinity or NaN.
_BF16_EXPONENT = 0x7F80
_FLOATS = ("F64", "F32", "F16", "BF16")


class SafetensorsLoader:
    """Opens safetensors. Values are looked at when numpy is there; else that is named as not checked."""

    name = "safetensors"

    def reads(self, path: Path) -> bool:
        return path.suffix.lower() == ".safetensors" and path.is_file()

    def open(self, path: Path) -> Opened:
        try:
            with path.open("rb") as file:
                return self._open(file)
        except HeaderDamaged as error:
            return Opened(loader=self.name, problem=str(error))

    def _open(self, file: BinaryIO) -> Opened:
        tensors = read_header(file).tensors
        if not tensors:
            return Opened(loader=self.name, problem=_("it holds no tensor"))
        is_finite = _finite_check()
        unchecked = []
        for tensor in tensors:
            if not tensor.dtype.startswith(("F", "BF", "C")):
                continue
            if is_finite is None or tensor.dtype not in _FLOATS:
                unchecked.append(tensor.name)
            elif not all(is_finite(tensor, block) for block in tensor_bytes(file, tensor)):
                problem = _("tensor '{name}' holds NaN or infinity").format(name=tensor.name)
                return Opened(loader=self.name, problem=problem)
        return Opened(loader=self.name, unchecked=tuple(unchecked))


def _finite_check() -> Callable[[Tensor, bytes], bool] | None:
    try:
        import numpy as np
    except ImportError:
        return None
    kinds: dict[str, Any] = {"F64": "<f8", "F32": "<f4", "F16": "<f2"}

    def is_finite(tensor: Tensor, block: bytes) -> bool:
        if tensor.dtype == "BF16":
            bits = np.frombuffer(block, "<u2")
            return not bool(np.any((bits & _BF16_EXPONENT) == _BF16_EXPONENT))
        return bool(np.isfinite(np.frombuffer(block, kinds[tensor.dtype])).all())

    return is_finite
