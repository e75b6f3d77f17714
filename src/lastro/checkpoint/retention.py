"""Which checkpoints stay: decided as a pure function, carried out in a few lines below it.

Nothing is removed before its successors are durable and have been read again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from lastro import atomic
from lastro.checkpoint import store
from lastro.errors import UsageError
from lastro.locale import _


@dataclass(frozen=True)
class Candidate:
    """One checkpoint on the disk. `verified`: this process has read every byte of it, and all were right."""

    name: str
    step: int
    attempt: int
    verified: bool


@dataclass(frozen=True)
class Retention:
    """What stays and what goes: pairs of name and reason, the latest first."""

    kept: tuple[tuple[str, str], ...]
    removed: tuple[tuple[str, str], ...]


def plan_retention(found: Sequence[Candidate], keep: int, protect: Collection[str] = ()) -> Retention:
    """Decide which checkpoints stay.

    The `keep` latest verified ones stay, the protected ones, and whatever is later than those: a
    checkpoint that was not read again neither counts as kept nor makes an older one superfluous.

    Args:
        found: in any order.
        keep: how many verified checkpoints to hold; at least 1.
        protect: names that stay whatever else holds.

    Raises:
        UsageError: keep is below 1, which would leave nothing to resume from.
    """
    if keep < 1:
        raise UsageError(
            _("keep is {keep}, which would remove every checkpoint").format(keep=keep),
            hint=_("keep at least 1; 2 survive one that is damaged"),
        )
    kept: list[tuple[str, str]] = []
    removed: list[tuple[str, str]] = []
    verified = 0
    for item in sorted(found, key=lambda each: (each.step, each.attempt), reverse=True):
        superseded = verified >= keep
        verified += item.verified
        if item.name in protect:
            kept.append((item.name, _("protected")))
        elif superseded:
            removed.append((item.name, _("{keep} later ones were read again and verify").format(keep=keep)))
        elif item.verified:
            why = _("one of the {keep} latest that verify").format(keep=keep)
            kept.append((item.name, why))
        else:
            kept.append((item.name, _("not read again, and too few later ones verify")))
    return Retention(tuple(kept), tuple(removed))


def apply_retention(
    checkpoints: Path, keep: int, verified: Collection[str], protect: Collection[str] = ()
) -> Retention:
    """Remove what `plan_retention` lets go. `verified` names what this process has read again. Returns it."""
    candidates = []
    for folder in store.names(checkpoints):
        step, attempt = folder.name.split("-a")
        candidates.append(Candidate(folder.name, int(step), int(attempt), folder.name in verified))
    plan = plan_retention(candidates, keep, protect)
    for name, _why in plan.removed:
        atomic.withdraw_folder(checkpoints / name)
    return plan


def remove_leftovers(checkpoints: Path) -> None:
    """Remove what attempts that died in the middle of a save left behind."""
    if checkpoints.is_dir():
        for path in checkpoints.iterdir():
            if path.name.startswith(atomic.TEMPORARY):
                atomic.remove_tree(path)
