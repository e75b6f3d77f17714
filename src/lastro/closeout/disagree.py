"""Where a variant and the control say different things: with what an error analysis begins. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lastro.closeout.metric import Example

#: How many rows of each direction are told; the counts are of all.
SHOWN = 10


def disagreement(
    control: Mapping[str, Example], variant: Mapping[str, Example], better: str
) -> dict[str, Any]:
    """Return in how many examples the variant is better, worse or the same, and the first of both.

    Rows are those with the largest difference first, then by id: of an accuracy, where one of the two is
    right and the other is not.

    Args:
        control: what the control said of each example, by id.
        variant: the same of the variant.
        better: higher or lower, of the metric.
    """
    sign = 1 if better == "higher" else -1
    gains = [
        (name, sign * (variant[name].score - control[name].score)) for name in control if name in variant
    ]
    won = sorted((one for one in gains if one[1] > 0), key=lambda one: (-one[1], one[0]))
    lost = sorted((one for one in gains if one[1] < 0), key=lambda one: (one[1], one[0]))
    return {
        "better": len(won),
        "worse": len(lost),
        "same": len(gains) - len(won) - len(lost),
        "rows_better": _rows(won, control, variant),
        "rows_worse": _rows(lost, control, variant),
    }


def _rows(
    found: Sequence[tuple[str, float]], control: Mapping[str, Example], variant: Mapping[str, Example]
) -> list[dict[str, str]]:
    return [
        {
            "id": name,
            "label": control[name].label,
            "control": control[name].prediction,
            "variant": variant[name].prediction,
        }
        for name, _gain in found[:SHOWN]
    ]
