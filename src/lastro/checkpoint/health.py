"""Whether a checkpoint is worth going on from: its bytes may be right and its values lost all the same.

*Verified* says that the bytes are those that were written. *Healthy* says that the tensors written were
numbers: weights that have become NaN are saved faithfully, and a run that goes on from them is paid for
nothing. Tensors that were not finite before the first step (a mask of minus infinity) are normal for a run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from lastro.locale import _
from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Health:
    """What was found when a checkpoint was written.

    `first_bad`: the first tensor, by name, that holds NaN or an infinity and did not at the start of the run;
    None: healthy. `from_start`: tensors that were not finite before the first step.
    """

    first_bad: str | None = None
    from_start: tuple[str, ...] = ()

    @property
    def healthy(self) -> bool:
        return self.first_bad is None

    @property
    def why_not(self) -> str:
        """Why this checkpoint is passed over."""
        return _("it is not healthy: {name} holds values that are not finite").format(name=self.first_bad)

    def as_json(self) -> dict[str, Any]:
        """Return the keys that a manifest holds of it."""
        value: dict[str, Any] = {"healthy": self.healthy}
        if self.first_bad is not None:
            value["first_not_finite"] = self.first_bad
        if self.from_start:
            value["not_finite_from_start"] = list(self.from_start)
        return value

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Health | None:
        """Read it from a manifest; None where the manifest does not say.

        Raises KeyError or TypeError for what `as_json` does not write.
        """
        bad = "first_not_finite" in value or value.get("healthy") is False
        if not bad and "healthy" not in value:
            return None
        return cls(
            first_bad=str(value["first_not_finite"]) if bad else None,
            from_start=tuple(str(name) for name in value.get("not_finite_from_start", ())),
        )


def judge(not_finite: Sequence[str] | None, from_start: Collection[str]) -> Health | None:
    """Return the health of a checkpoint; None where nothing could be looked at.

    Args:
        not_finite: names of the tensors that hold NaN or an infinity now, in the order of the state; None
            when this job has no tensors.
        from_start: names of those that did before the first step.
    """
    if not_finite is None:
        return None
    first_bad = next((name for name in not_finite if name not in from_start), None)
    return Health(first_bad=first_bad, from_start=tuple(sorted(from_start)))
