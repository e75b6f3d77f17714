"""What a profile comes to: what was seen, the verdict with its reason, and what to do about it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lastro.locale import _
from lastro.preflight.profile.advice import Step, advice
from lastro.preflight.profile.law import Bound, Judged, judge, predicted
from lastro.preflight.profile.seen import Seen, pace_of, read_seen
from lastro.records import dataclass

#: A prediction that is off by more than this factor is told; the law itself is good to 15 %. Assumed.
DOUBTED = 1.3


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A loop that was looked into, or why it could not be."""

    seen: Seen | None
    judged: Judged
    steps: tuple[Step, ...] = ()

    @property
    def predicted(self) -> float | None:
        """What the law says of the loop as it is, to compare with what was measured; batches a second."""
        seen = self.seen
        if seen is None or seen.paces is None or not seen.loads:
            return None
        return predicted(seen.loads, seen.replayed, workers=seen.workers, prefetch=seen.queue)

    @property
    def doubt(self) -> str | None:
        """Why the figures should not be believed; None: they fit each other."""
        paces, told = self.seen.paces if self.seen is not None else None, self.predicted
        if paces is None or told is None or paces.real / DOUBTED <= told <= paces.real * DOUBTED:
            return None
        return _(
            "the loop makes {real:.3g} batches a second and its halves predict {told:.3g}: either something "
            "else was at work meanwhile, or the two halves disturb each other; profile it on a quiet machine"
        ).format(real=paces.real, told=told)  # fmt: skip

    def as_json(self) -> dict[str, Any]:
        paces = self.seen.paces if self.seen is not None else None
        return {
            "bound": self.judged.bound.value,
            "why": self.judged.why,
            "doubt": self.doubt,
            "batches_per_second": None if paces is None else paces.real,
            "replayed_per_second": None if paces is None else paces.replayed,
            "loader_per_second": None if paces is None else paces.loader,
            "predicted_per_second": self.predicted,
            "wait_share": None if paces is None else paces.wait,
            "gain_with_free_input": None if paces is None else paces.gain,
            "batches": None if paces is None else paces.batches,
            "workers": None if self.seen is None else self.seen.workers,
            "workers_tried": {}
            if self.seen is None
            else {str(k): pace_of(v) for k, v in self.seen.tried.items()},
            "steps": [step.as_json() for step in self.steps],
        }


def profile_of(told: Mapping[str, Any] | None, ended: str | None) -> Profile:
    """Return the profile that a record makes.

    Args:
        told: what the process has written; None: nothing.
        ended: why the job ended before it was looked at, in words; None: it did not.
    """
    if told is None:
        return Profile(seen=None, judged=Judged(bound=Bound.UNKNOWN, why=ended or _unseen()))
    seen = read_seen(told)
    if seen.paces is None:
        return Profile(seen=seen, judged=Judged(bound=Bound.UNKNOWN, why=_short(seen)))
    judged = judge(seen.paces)
    return Profile(seen=seen, judged=judged, steps=advice(seen, judged.bound))


def _unseen() -> str:
    return _(
        "the loop cannot be seen: no PyTorch DataLoader is trained from, and `attempt.steps` is not used; "
        "a job of several processes is not looked into either, so start one of them alone"
    )


def _short(seen: Seen) -> str:
    if seen.unlearned and not seen.waits:
        return _("{count} batches were taken, but nothing was learned from any (no backward)").format(
            count=seen.unlearned
        )
    return _("the job ended before all was measured ({count} batches were seen): give it more epochs").format(
        count=len(seen.waits)
    )
