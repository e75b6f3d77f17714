"""Which checkpoints stay: decided as a pure function, carried out in a few lines below it.

Nothing is removed before its successors are durable and have been read again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path

from lastro import atomic, strictjson
from lastro.checkpoint import store
from lastro.clock import from_iso
from lastro.errors import StorageError, UsageError
from lastro.locale import _
from lastro.records import dataclass
from lastro.rules import CheckpointPolicy


@dataclass(frozen=True)
class Candidate:
    """One checkpoint on the disk.

    `verified`: this process has read every byte of it, and all were right. `healthy` is False when its values
    are not finite; None where that is not known, which counts as healthy. `value`: of the metric that says
    which is the best, None where none was measured. `created_at`: seconds since 1970; None: not known.
    `kept_for`: what somebody has asked to keep it for.
    """

    name: str
    step: int
    attempt: int
    verified: bool
    healthy: bool | None = None
    value: float | None = None
    created_at: float | None = None
    kept_for: str | None = None


@dataclass(frozen=True)
class Retention:
    """What stays and what goes: pairs of name and reason, the latest first."""

    kept: tuple[tuple[str, str], ...]
    removed: tuple[tuple[str, str], ...]


def plan_retention(
    found: Sequence[Candidate], policy: CheckpointPolicy, protect: Collection[str] = ()
) -> Retention:
    """Decide which checkpoints stay.

    The `keep` latest verified ones stay, those that somebody or the policy wants besides, and whatever is
    later than those: a checkpoint that was not read again neither counts as kept nor makes an older one
    superfluous. One that is not healthy does so least of all; the latest of these stays to be looked at, the
    others go.

    Args:
        found: in any order.
        policy: how many verified checkpoints to hold, at least 1, and what else.
        protect: names that stay whatever else holds.

    Raises:
        UsageError: keep is below 1, which would leave nothing to resume from.
    """
    keep = policy.keep
    if keep < 1:
        raise UsageError(
            _("keep is {keep}, which would remove every checkpoint").format(keep=keep),
            hint=_("keep at least 1; 2 survive one that is damaged"),
        )
    wanted = {**_wanted(found, policy), **dict.fromkeys(protect, _("protected"))}
    kept: list[tuple[str, str]] = []
    removed: list[tuple[str, str]] = []
    verified = unhealthy = 0
    for item in sorted(found, key=_age, reverse=True):
        superseded = verified >= keep
        is_bad = item.healthy is False
        verified += item.verified and not is_bad
        if item.name in wanted:
            kept.append((item.name, wanted[item.name]))
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


def most(policy: CheckpointPolicy) -> int:
    """Return how many checkpoints may stay at once; milestones, which only add up, are left out."""
    return policy.keep + 2 * (policy.best is not None) + 2 * (policy.older_seconds is not None)


def _age(item: Candidate) -> tuple[int, int]:
    return item.step, item.attempt


def _wanted(found: Sequence[Candidate], policy: CheckpointPolicy) -> dict[str, str]:
    """Return what stays beside the latest, with the reason. What is not healthy is wanted for nothing else.

    One that this process has not read again is never taken for another's successor: where it would be the one
    that is wanted, the first that was read stays as well.
    """
    well = sorted((item for item in found if item.healthy is not False), key=_age)
    reasons = {item.name: item.kept_for for item in found if item.kept_for is not None}
    for wants in (_older, _milestones, _best):
        for some in (well, [item for item in well if item.verified]):
            for name, why in wants(some, policy):
                reasons.setdefault(name, why)
    return reasons


def _best(well: Sequence[Candidate], policy: CheckpointPolicy) -> Iterator[tuple[str, str]]:
    """Yield the best one; of several that are as good, the latest."""
    best = policy.best
    measured = [(item.value, item) for item in well if item.value is not None and isfinite(item.value)]
    if best is None or not measured:
        return
    sign = 1.0 if best.higher else -1.0
    value, item = max(measured, key=lambda each: (sign * each[0], _age(each[1])))
    yield item.name, _("the best: {metric} is {value:g}").format(metric=best.metric, value=value)


def _milestones(well: Sequence[Candidate], policy: CheckpointPolicy) -> Iterator[tuple[str, str]]:
    """Yield the first one of each stretch. Stretches of steps count from 0, those of time by the clock."""
    seen: set[tuple[str, int]] = set()
    steps, seconds = policy.milestone_steps, policy.milestone_seconds
    for item in well:
        stretches = []
        if steps is not None and item.step >= steps:
            stretches.append(("steps", item.step // steps))
        if seconds is not None and item.created_at is not None:
            stretches.append(("seconds", int(item.created_at // seconds)))
        if not seen.issuperset(stretches):
            yield item.name, _("a milestone")
        seen.update(stretches)


def _older(well: Sequence[Candidate], policy: CheckpointPolicy) -> Iterator[tuple[str, str]]:
    """Yield the latest one that is so much older than the last, and the one that will take its place."""
    dated = [(item.created_at, item.name) for item in well if item.created_at is not None]
    if policy.older_seconds is None or not dated:
        return
    limit = max(created for created, _name in dated) - policy.older_seconds
    old = [name for created, name in dated if created <= limit]
    young = [name for created, name in dated if created > limit]
    for name in (*old[-1:], *young[:1]):
        yield name, _("for trouble that shows late")


def apply_retention(
    checkpoints: Path, policy: CheckpointPolicy, verified: Collection[str], protect: Collection[str] = ()
) -> Retention:
    """Remove what `plan_retention` lets go. `verified` names what this process has read again. Returns it."""
    candidates = [_candidate(folder, policy, verified) for folder in store.names(checkpoints)]
    plan = plan_retention(candidates, policy, protect)
    for name, _why in plan.removed:
        atomic.withdraw_folder(checkpoints / name)
    return plan


def _candidate(folder: Path, policy: CheckpointPolicy, verified: Collection[str]) -> Candidate:
    step, attempt = folder.name.split("-a")
    candidate = Candidate(
        folder.name, int(step), int(attempt), folder.name in verified, kept_for=_kept_for(folder)
    )
    manifest = store.committed(folder)
    if isinstance(manifest, str):
        return candidate
    facts = manifest.facts
    try:
        created_at = from_iso(facts.created).timestamp()
    except ValueError:
        created_at = None
    return replace(
        candidate,
        healthy=manifest.health.healthy if manifest.health else None,
        value=facts.measured.get(policy.best.metric) if policy.best else None,
        created_at=created_at,
    )


def keep_for(checkpoints: Path, name: str, why: str) -> None:
    """See that a checkpoint stays, whatever comes after it."""
    folder = atomic.make_folder(checkpoints / store.KEPT)
    atomic.write_text(folder / f"{name}.json", strictjson.pretty({"checkpoint": name, "why": why}))


def _kept_for(folder: Path) -> str | None:
    """Return what a checkpoint was asked to be kept for. A mark that cannot be read is one all the same."""
    mark = folder.parent / store.KEPT / f"{folder.name}.json"
    try:
        return str(strictjson.read(mark)["why"])
    except FileNotFoundError:
        return None
    except (OSError, StorageError, KeyError, TypeError):
        return _("it was asked for")


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


def make_room(checkpoints: Path, policy: CheckpointPolicy, verified: Collection[str]) -> bool:
    """Let go, before the next save, of what that save would let go after it; tell whether anything went.

    So one checkpoint less than `keep` is there until the save is through, and at least one: the latest
    verified, of which every byte is read again first.
    """
    usable = (folder for folder in store.names(checkpoints) if folder.name in verified)
    latest = next((folder for folder in usable if _healthy(folder) is not False), None)
    if policy.keep < 2 or latest is None or store.verify(latest):
        return False
    return bool(apply_retention(checkpoints, replace(policy, keep=policy.keep - 1), verified).removed)


def remove_leftovers(checkpoints: Path) -> None:
    """Remove what attempts that died in the middle of a save left behind."""
    for folder in (checkpoints, checkpoints / store.BASE):
        if folder.is_dir():
            for path in folder.iterdir():
                if path.name.startswith(atomic.TEMPORARY):
                    atomic.remove_tree(path) if path.is_dir() else path.unlink(missing_ok=True)
