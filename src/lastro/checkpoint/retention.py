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
    """One checkpoint on the disk.

    `verified`: this process has read every byte of it, and all were right. `healthy` is False when its values
    are not finite; None where that is not known, which counts as healthy.
    """

    name: str
    step: int
    attempt: int
    verified: bool
    healthy: bool | None = None


@dataclass(frozen=True)
class Retention:
    """What stays and what goes: pairs of name and reason, the latest first."""

    kept: tuple[tuple[str, str], ...]
    removed: tuple[tuple[str, str], ...]


def plan_retention(found: Sequence[Candidate], keep: int, protect: Collection[str] = ()) -> Retention:
    """Decide which checkpoints stay.

    The `keep` latest verified ones stay, the protected ones, and whatever is later than those: a
    checkpoint that was not read again neither counts as kept nor makes an older one superfluous. One that
    is not healthy does so least of all; the latest of these stays to be looked at, the others go.

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
    verified = unhealthy = 0
    for item in sorted(found, key=lambda each: (each.step, each.attempt), reverse=True):
        superseded = verified >= keep
        is_bad = item.healthy is False
        verified += item.verified and not is_bad
        if item.name in protect:
            kept.append((item.name, _("protected")))
        elif superseded:
            removed.append((item.name, _("{keep} later ones were read again and verify").format(keep=keep)))
        elif is_bad:
            why = _("its values are not finite")
            (removed if unhealthy else kept).append((item.name, why))
            unhealthy += 1
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
        candidates.append(
            Candidate(folder.name, int(step), int(attempt), folder.name in verified, _healthy(folder))
        )
    plan = plan_retention(candidates, keep, protect)
    for name, _why in plan.removed:
        atomic.withdraw_folder(checkpoints / name)
    return plan


def remove_unused_base(checkpoints: Path) -> None:
    """Remove the files beside the checkpoints that none of them refers to; none while one cannot be asked.

    Only right after a save, by who has made it: the save that comes may need what none refers to yet.
    """
    manifests = [store.committed(folder) for folder in store.names(checkpoints)]
    if any(isinstance(manifest, str) for manifest in manifests):
        return
    used = {name for manifest in manifests if isinstance(manifest, store.Manifest) for name in manifest.base}
    folder = checkpoints / store.BASE
    if folder.is_dir():
        for path in folder.iterdir():
            if path.name not in used:
                path.unlink(missing_ok=True)


def _healthy(folder: Path) -> bool | None:
    manifest = store.committed(folder)
    return None if isinstance(manifest, str) or manifest.health is None else manifest.health.healthy


def make_room(checkpoints: Path, keep: int, verified: Collection[str]) -> bool:
    """Let go, before the next save, of what that save would let go after it; tell whether anything went.

    So one checkpoint less than `keep` is there until the save is through, and at least one: the latest
    verified, of which every byte is read again first.
    """
    usable = (folder for folder in store.names(checkpoints) if folder.name in verified)
    latest = next((folder for folder in usable if _healthy(folder) is not False), None)
    if keep < 2 or latest is None or store.verify(latest):
        return False
    return bool(apply_retention(checkpoints, keep - 1, verified).removed)


def remove_leftovers(checkpoints: Path) -> None:
    """Remove what attempts that died in the middle of a save left behind."""
    for folder in (checkpoints, checkpoints / store.BASE):
        if folder.is_dir():
            for path in folder.iterdir():
                if path.name.startswith(atomic.TEMPORARY):
                    atomic.remove_tree(path) if path.is_dir() else path.unlink(missing_ok=True)
