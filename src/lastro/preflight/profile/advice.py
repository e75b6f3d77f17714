"""What to do about a loop: each step with what was measured for it and what it would gain. Pure.

In the order in which they are tried: what costs a word in the script before what costs work.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

from lastro.locale import _
from lastro.preflight.profile.law import Bound, Paces, predicted
from lastro.preflight.profile.seen import Seen
from lastro.records import dataclass
from lastro.units import show_bytes

#: What gains less than this is within what two profiles of the same loop differ by.
WORTH = 1.05
#: A prefetch queue is too short when waits come in bursts: the longest are so many times the middle one.
BURSTS = 5.0
#: A GPU that has so much memory left may take larger batches. Assumed.
ROOM = 0.5
#: From so much padding on, packing is worth its work. Assumed.
PADDED = 0.2


@dataclass(frozen=True, kw_only=True)
class Step:
    """One thing to do. `pace`: batches a second with it, by measure and law; None: nobody has measured it."""

    code: str
    what: str
    why: str
    pace: float | None = None

    def as_json(self) -> dict[str, Any]:
        return {"code": self.code, "text": self.what, "why": self.why, "batches_per_second": self.pace}


def advice(seen: Seen, bound: Bound) -> tuple[Step, ...]:
    """Return what to try, the first first; empty where nothing was measured that speaks for anything."""
    if seen.paces is None or bound is Bound.UNKNOWN:
        return ()
    steps: list[Step] = []
    if bound in (Bound.INPUT, Bound.MIXED):
        steps += _of_input(seen, seen.paces)
    if bound in (Bound.COMPUTE, Bound.MIXED):
        steps += _of_compute(seen)
    return tuple(steps)


def _of_input(seen: Seen, paces: Paces) -> Iterator[Step]:
    best = _workers(seen, paces)
    if best is not None:
        yield best
    yield from _queue(seen)
    yield from _between_epochs(seen)
    yield from _copies(seen)
    reached = best.pace if best is not None and best.pace is not None else paces.real
    if reached * WORTH < paces.replayed:
        yield Step(
            code="less_work",
            what=_("prepare the data once and keep it prepared, or do the preparing on the GPU"),
            why=_(
                "no number of workers that was tried keeps up: {best:.3g} of {most:.3g} batches a second"
            ).format(best=reached, most=paces.replayed),
            pace=paces.replayed,
        )


def _workers(seen: Seen, paces: Paces) -> Step | None:
    """Return the fewest workers that are within a little of the best that was tried; None: none is better."""
    reached = {
        count: predicted(loads, seen.replayed, workers=count, prefetch=seen.queue)
        for count, loads in sorted(seen.tried.items())
    }
    now = paces.real
    if seen.loads:  # measured in turns with the others, so under the same disturbances
        now = max(now, predicted(seen.loads, seen.replayed, workers=seen.workers, prefetch=seen.queue))
    most = max(reached.values(), default=0.0)
    if most < now * WORTH:
        return None
    count = min(count for count, pace in reached.items() if pace * WORTH >= most)
    return Step(
        code="workers",
        what=_("num_workers={count} instead of {now}").format(count=count, now=seen.workers),
        why=_(
            "the loader alone gave {alone:.3g} batches a second with them, and the rest of the loop takes "
            "{compute:.3g}: {gain:.2f} times as fast"
        ).format(
            alone=1 / statistics.fmean(seen.tried[count]), compute=paces.replayed, gain=reached[count] / now
        ),
        pace=reached[count],
    )  # fmt: skip


def _queue(seen: Seen) -> Iterator[Step]:
    paces = seen.paces
    if not seen.workers or len(seen.waits) < 10 or paces is None or paces.loader is None:
        return
    middle = max(statistics.median(seen.waits), 1e-4)
    if paces.loader > paces.replayed and max(seen.waits) > BURSTS * middle:
        yield Step(
            code="prefetch",
            what=_("prefetch_factor={count} instead of {now}").format(
                count=2 * max(seen.prefetch, 2), now=seen.prefetch
            ),
            why=_(
                "the loader is fast enough on the whole, but waits come in bursts: {most:.0f} ms after "
                "{middle:.0f} ms"
            ).format(most=max(seen.waits) * 1e3, middle=middle * 1e3),
            pace=paces.replayed,
        )


def _between_epochs(seen: Seen) -> Iterator[Step]:
    if seen.workers and not seen.persistent and seen.epoch_starts:
        yield Step(
            code="persistent_workers",
            what=_("persistent_workers=True"),
            why=_("workers are started again for each epoch, which takes {seconds:.2g} s each time").format(
                seconds=statistics.median(seen.epoch_starts)
            ),
        )


def _copies(seen: Seen) -> Iterator[Step]:
    if not seen.on_gpu:
        return
    size = show_bytes(seen.batch_bytes) if seen.batch_bytes is not None else _("unknown")
    if not seen.pinned:
        yield Step(
            code="pinned",
            what=_("pin_memory=True"),
            why=_("a batch of {size} goes to the GPU out of memory that can be swapped").format(size=size),
        )
    if seen.blocking and not seen.free:
        yield Step(
            code="overlapped",
            what=_("batch.to(device, non_blocking=True), from pinned memory"),
            why=_("all of the {count} copies to the GPU that were seen were waited for").format(
                count=seen.blocking
            ),
        )


def _of_compute(seen: Seen) -> Iterator[Step]:
    if seen.padding is not None and seen.padding >= PADDED:
        yield Step(
            code="packing",
            what=_("pack several short sequences into one row, or sort them by length"),
            why=_("{share:.0%} of the batch is padding, which is computed for nothing").format(
                share=seen.padding
            ),
        )
    if not seen.on_gpu:
        return
    assert seen.gpu_total is not None
    if seen.gpu_used is not None and seen.gpu_used < (1 - ROOM) * seen.gpu_total:
        yield Step(
            code="batch_size",
            what=_("a larger batch, and the learning rate that belongs to it: that is another run"),
            why=_("{used} of {total} of the GPU's memory were used").format(
                used=show_bytes(seen.gpu_used), total=show_bytes(seen.gpu_total)
            ),
        )
    if not seen.autocast:
        yield Step(
            code="mixed_precision",
            what=_("torch.autocast in bfloat16, where the card computes it: that is another run"),
            why=_("nothing was computed in mixed precision"),
        )
