"""Outputs that are almost the same: reported, never merged.

An output is a set of parts: the rows of a table, the tensors of weights, the files of a folder. How much two
sets share is estimated from the smallest hashes of each. Source: A. Z. Broder, On the resemblance and
containment of documents, 1997.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Sequence
from dataclasses import replace

from lastro.closeout.judge import Judgement, Verdict
from lastro.locale import _

#: So many hashes are kept: the estimate is then right to about 6 points of a hundred (1 / sqrt(256)).
_KEPT = 256
#: From this share of common parts on two outputs are told to be near.
NEAR = 0.9


def sketch_of(parts: Sequence[bytes]) -> tuple[int, ...]:
    """Return the smallest hashes of an output's parts (see `identity.content_parts`), sorted."""
    hashes = {int.from_bytes(hashlib.sha256(part).digest()[:8], "big") for part in parts}
    return tuple(heapq.nsmallest(_KEPT, hashes))


def resemblance(one: Sequence[int], other: Sequence[int]) -> float:
    """Return the estimated share of parts that two outputs have in common: 0 to 1."""
    union = heapq.nsmallest(_KEPT, {*one, *other})
    common = {*one} & {*other}
    return sum(part in common for part in union) / len(union) if union else 0.0


def mark_near(judgements: Sequence[Judgement]) -> tuple[Judgement, ...]:
    """Return the judgements with each accepted output that is near to an earlier one saying so. Pure.

    Only outputs of one name are compared: what a run trains and what it predicts are different things.
    """
    marked: list[Judgement] = []
    for one in judgements:
        others = _earlier(one, marked)
        nearest = max(others, key=lambda found: found[0], default=None)
        if nearest is None or nearest[0] < NEAR:
            marked.append(one)
            continue
        share, other = nearest
        text = _("{share:.0%} of it is that of {other}").format(
            share=share, other=f"{other.run}/{other.path}"
        )
        marked.append(replace(one, near=f"{other.run}/{other.path}", warnings=(*one.warnings, text)))
    return tuple(marked)


def _earlier(one: Judgement, before: Sequence[Judgement]) -> list[tuple[float, Judgement]]:
    if one.verdict is not Verdict.ACCEPTED or not one.sketch or one.duplicate_of is not None:
        return []
    return [
        (resemblance(one.sketch, other.sketch), other)
        for other in before
        if other.verdict is Verdict.ACCEPTED and other.name == one.name and other.content != one.content
    ]
