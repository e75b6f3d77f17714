"""Matrices multiplied again and again: every result equals the first, bit for bit, and the pace holds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

#: What one rounding may change (unit roundoff), by type: IEEE 754 for float16, float32 and float64; 8 bits of
#: bfloat16. Matrices of float32 may be multiplied in TF32, which has the 11 bits of float16.
ROUNDOFF = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-11, "float64": 2.0**-53}
#: Rows that are also computed in float64 on the processor.
_ROWS = 8
_FEWEST = 3


def burn_matmul(
    torch: Any,
    device: str,
    dtype: str,
    size: int,
    seconds: float,
    *,
    multiply: Callable[[Any, Any], Any] | None = None,
) -> dict[str, Any]:
    """Multiply two matrices for `seconds` and compare each result with the first.

    The first itself is compared with float64, in some rows: within (k + 4) roundoffs of |A||B| for float64
    with k columns, and 4 for the others, whose sums are kept in float32 (N. J. Higham, Accuracy and Stability
    of Numerical Algorithms, 2nd ed., section 3.5).

    Args:
        torch: the library.
        device: as torch names it.
        dtype: float16, bfloat16, float32 or float64.
        size: of the square matrices.
        seconds: for so long, three times at least.
        multiply: what multiplies; by itself torch.matmul.

    Returns:
        `times`, `wrong` (results that differ from the first) and the `first` difference, `far` (the largest
        error of the first result, 1: all that is allowed), `flops` a second in the `first_third`, and in the
        `last_third`.
    """
    generator = torch.Generator().manual_seed(20)
    kind = getattr(torch, dtype)
    a, b = (torch.randn(size, size, generator=generator, dtype=torch.float64).to(kind) for _ in range(2))
    on_a, on_b = a.to(device), b.to(device)
    product = multiply if multiply is not None else torch.matmul
    first = product(on_a, on_b)
    found: dict[str, Any] = {"dtype": dtype, "size": size, "times": 0, "wrong": 0, "first": None}
    found["far"] = _far(torch, (a, b), first[:_ROWS].cpu(), dtype)
    took: list[float] = []
    deadline = time.monotonic() + seconds
    while len(took) < _FEWEST or time.monotonic() < deadline:
        began = time.monotonic()
        result = product(on_a, on_b)
        _settle(torch, device)
        took.append(time.monotonic() - began)
        _compare(torch, first, result, len(took), found)
    third, work = len(took) // 3, 2.0 * size**3
    return {
        **found,
        "times": len(took),
        "first_third": third * work / sum(took[:third]),
        "last_third": third * work / sum(took[-third:]),
    }


def _settle(torch: Any, device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)


def _far(torch: Any, pair: tuple[Any, Any], got: Any, dtype: str) -> float:
    a, b = (one.double() for one in pair)
    exact, scale = a[:_ROWS] @ b, a[:_ROWS].abs() @ b.abs()
    allowed = (len(b) + 4 if dtype == "float64" else 4) * ROUNDOFF[dtype]
    error = ((got.double() - exact).abs() / (allowed * scale)).max()
    return float("inf") if bool(torch.isnan(error)) else float(error)


def _compare(torch: Any, first: Any, result: Any, number: int, found: dict[str, Any]) -> None:
    if torch.equal(first, result):
        return
    found["wrong"] += 1
    if found["first"] is None:
        row, column = (int(place) for place in (first != result).nonzero()[0])
        found["first"] = {
            "time": number,
            "row": row,
            "column": column,
            "expected": repr(float(first[row, column])),
            "found": repr(float(result[row, column])),
        }
