"""What a profile has seen of a loop, as the process that it looked into has written it down."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from lastro.errors import StorageError
from lastro.locale import _
from lastro.preflight.profile.law import Paces
from lastro.records import dataclass

#: torch.utils.data.DataLoader: what `prefetch_factor` is with workers, unless it is given.
_PREFETCH = 2


@dataclass(frozen=True, kw_only=True)
class Seen:
    """Facts of one profiled process; `paces` None: it ended before all parts were measured.

    Args:
        kind: what gave the batches: DataLoader, attempt.loader, attempt.steps; None: nothing that is known.
        workers, prefetch, pinned, persistent: as the loader was made.
        waits: seconds of the wait for each batch, in order.
        epoch_starts: seconds until the first batch of each later epoch.
        loads: seconds from one batch of the loader alone to the next; empty: it could not be begun anew.
        replayed: seconds of the rest of the loop for one batch, given again and again.
        tried: as `loads`, with other numbers of workers.
        loader_cpu: CPU seconds a batch that the loop's own process spends loading; None with workers.
        autocast: something was computed in mixed precision.
        blocking, free: copies to a device that were waited for, and that were not.
        padding: share of a batch that is padding; None: it does not say.
        gpu_used, gpu_total: bytes; None without a GPU.
        unlearned: batches that were taken without anything being learned from them.
    """

    paces: Paces | None
    kind: str | None
    workers: int
    prefetch: int
    pinned: bool
    persistent: bool
    cpus: int | None
    torch: str | None
    waits: tuple[float, ...] = ()
    epoch_starts: tuple[float, ...] = ()
    loads: tuple[float, ...] = ()
    replayed: tuple[float, ...] = ()
    tried: Mapping[int, tuple[float, ...]]
    loader_cpu: float | None = None
    batch_bytes: int | None = None
    autocast: bool = False
    blocking: int = 0
    free: int = 0
    padding: float | None = None
    gpu_used: int | None = None
    gpu_total: int | None = None
    unlearned: int = 0

    @property
    def on_gpu(self) -> bool:
        return self.gpu_total is not None

    @property
    def queue(self) -> int:
        """Batches that each worker prepares; what PyTorch takes where the loader has no workers yet."""
        return self.prefetch or _PREFETCH


def read_seen(told: Mapping[str, Any]) -> Seen:
    """Read what a `LoopWatch` has written.

    Raises:
        StorageError: it is something else.
    """
    try:
        return _seen(told)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StorageError(
            _("the profile's record cannot be read: {error!r}").format(error=error),
            hint=_("profile it again"),
        ) from error


def _seen(told: Mapping[str, Any]) -> Seen:
    loader, facts = told["loader"], told["facts"]
    alone, workers = told["alone"], int(loader.get("workers") or 0)
    tried = {int(count): loads for count, one in told["tried"].items() if (loads := _loads(one))}
    return Seen(
        paces=_paces(told, workers),
        kind=loader.get("kind"),
        workers=workers,
        prefetch=int(loader.get("prefetch") or 0),
        pinned=bool(loader.get("pinned")),
        persistent=bool(loader.get("persistent")),
        cpus=facts.get("cpus"),
        torch=facts.get("torch"),
        waits=tuple(told["waits"]),
        epoch_starts=tuple(told["epoch_starts"]),
        loads=_loads(alone),
        replayed=tuple(told["replayed"]),
        tried=tried,
        loader_cpu=alone["cpu_seconds"] / len(alone["each"]) if alone and not workers else None,
        batch_bytes=facts.get("batch_bytes"),
        autocast=bool(facts.get("autocast")),
        blocking=int(facts.get("blocking") or 0),
        free=int(facts.get("free") or 0),
        padding=facts.get("padding"),
        gpu_used=facts.get("gpu_used"),
        gpu_total=facts.get("gpu_total"),
        unlearned=int(told["unlearned"]),
    )


def _paces(told: Mapping[str, Any], workers: int) -> Paces | None:
    waits, bodies, replayed = told["waits"], told["bodies"], told["replayed"]
    if not told["complete"] or not waits or not replayed:
        return None
    whole: Sequence[float] = told["free"] or [wait + body for wait, body in zip(waits, bodies, strict=True)]
    return Paces(
        real=1 / statistics.fmean(whole),
        replayed=1 / statistics.fmean(replayed),
        loader=pace_of(_loads(told["alone"])),
        wait=sum(waits) / (sum(waits) + sum(bodies)),
        workers=workers,
        batches=len(waits),
    )


def _loads(alone: Mapping[str, Any] | None) -> tuple[float, ...]:
    """Return the seconds between batches of a loader alone; none where they took no time at all."""
    each = tuple(float(one) for one in alone["each"]) if alone else ()
    return each if sum(each) > 0 else ()


def pace_of(seconds: Sequence[float]) -> float | None:
    """Return batches a second; None where nothing was measured."""
    return 1 / statistics.fmean(seconds) if seconds else None
