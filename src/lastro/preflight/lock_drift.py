"""How far a machine is from the one that a campaign was proven on. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum

from lastro.locale import _
from lastro.preflight.check import Finding, Level
from lastro.preflight.lock import Answer, Reading, State, Value
from lastro.preflight.machine_facts import BUILD, PACKAGE


class Rule(Enum):
    """How a fact is compared with the locked one."""

    EXACT = "exactly"
    NEAR = "within 1 %"
    LEAST = "no less"
    NOTE = "told, not judged"


#: By the name of the fact; packages and their builds are compared exactly.
RULES: Mapping[str, Rule] = {
    "python": Rule.EXACT,
    "python.implementation": Rule.EXACT,
    "architecture": Rule.EXACT,
    "os": Rule.NOTE,
    "kernel": Rule.NOTE,
    "cpu": Rule.NOTE,
    "cores": Rule.NOTE,
    "memory_bytes": Rule.NOTE,
    "image": Rule.EXACT,
    "gpu.driver": Rule.EXACT,
    "gpu.cuda": Rule.NOTE,
    "gpu.count": Rule.EXACT,
    "gpu.name": Rule.EXACT,
    "gpu.pci": Rule.EXACT,
    "gpu.capability": Rule.EXACT,
    "gpu.memory_bytes": Rule.NEAR,
    "gpu.ecc": Rule.EXACT,
    "gpu.mig": Rule.EXACT,
    "gpu.persistence": Rule.NOTE,
    "gpu.compute_mode": Rule.EXACT,
    "gpu.power_limit_mw": Rule.NEAR,
    "gpu.vbios": Rule.NOTE,
}
_NEAR = 0.01
#: What the job computes with differs: results and checkpoints may. Or the machine is another one.
_SOFTWARE = ("python", PACKAGE, BUILD, "image", "architecture")


def rule_of(name: str) -> Rule:
    """Return how a fact is compared."""
    return RULES.get(name, Rule.EXACT)


def judge_reading(reading: Reading, *, kind: str) -> Iterator[Finding]:
    """Return what is wrong with a lock itself, or that there is none yet."""
    fact = _("lock")
    relock = _("`lastro preflight --relock --why REASON` makes it anew")
    if reading.state is State.ABSENT or (reading.lock is not None and kind not in reading.lock.answers):
        value = (
            _("none yet")
            if reading.state is State.ABSENT
            else _("none yet of a machine with GPUs")
            if kind == "gpu"
            else _("none yet of a machine without GPUs")
        )
        yield Finding(code="lock_missing", level=Level.PASS, fact=fact, value=value)
    if reading.state is State.CUT:
        yield _broken(
            "lock_cut",
            reading.why or "",
            _("take it back from its repository or from the copy on the disk, or {relock}").format(
                relock=relock
            ),
        )
    elif reading.state is State.EDITED:
        yield _broken(
            "lock_edited",
            _("it was changed by something else than lastro: its digest is of other facts"),
            _(
                "take it back from its repository; what is really to change is changed by a person: {relock}"
            ).format(relock=relock),
        )
    elif reading.state is State.FOREIGN and reading.lock is not None:
        yield _broken(
            "lock_campaign",
            _("it is of the campaign {name}").format(name=reading.lock.campaign),
            _("take the lock of this campaign, or {relock}").format(relock=relock),
        )


def _broken(code: str, value: str, next_step: str) -> Finding:
    return Finding(
        code=code,
        level=Level.FAIL,
        fact=_("lock"),
        value=value,
        expected=_("the lock that lastro wrote for this campaign"),
        consequence=_("nobody can say whether this machine is the one that was proven"),
        next_step=next_step,
    )


def judge_drift(locked: Answer, now: Mapping[str, Value], want: Mapping[str, str]) -> Iterator[Finding]:
    """Compare each locked fact with the one of this machine; one finding when all are the same.

    A driver that `want` allows is told only: whoever rents a machine cannot change it. What one side does not
    tell is not compared, and packages that came in addition are told.
    """
    found = []
    for name, before in locked.facts.items():
        rule = rule_of(name)
        after = now.get(name)
        if (
            before is None
            or (after is None and not name.startswith((PACKAGE, BUILD)))
            or _same(rule, before, after)
        ):
            continue
        allowed = rule is Rule.NOTE or (name == "gpu.driver" and "driver" in want)
        found.append(_drift(name, before, after, Level.PASS if allowed else Level.FAIL))
    added = sorted(name for name in now if name.startswith(PACKAGE) and name not in locked.facts)
    if added:
        found.append(_added(added))
    yield from found
    if not any(finding.level is not Level.PASS for finding in found):
        yield Finding(
            code="lock",
            level=Level.PASS,
            fact=_("lock"),
            value=_("{count} facts are those of {node}, {day}").format(
                count=len(locked.facts) - len(found), node=locked.node_id, day=locked.at[:10]
            ),
        )


def _same(rule: Rule, before: Value, after: Value) -> bool:
    if rule is Rule.NEAR:
        try:
            one, other = float(str(before)), float(str(after))
        except ValueError:
            return before == after
        return abs(one - other) <= _NEAR * abs(one)
    return before == after


def _drift(name: str, before: Value, after: Value, level: Level) -> Finding:
    well = level is Level.PASS
    software = name.startswith(_SOFTWARE)
    return Finding(
        code=f"lock.{name}",
        level=level,
        fact=_("locked {name}").format(name=name),
        value=_("not there") if after is None else str(after),
        expected=_("{value}, as locked").format(value=before),
        consequence=None
        if well
        else _("results and checkpoints of other versions may differ")
        if software
        else _("speed, memory and results are not those that were proven"),
        next_step=None
        if well
        else _("install what is locked, or relock with a reason: `lastro preflight --relock --why REASON`")
        if software
        else _("take a machine like the one that was proven, or `lastro preflight --relock --why REASON`"),
    )


def _added(names: list[str]) -> Finding:
    shown = ", ".join(name.removeprefix(PACKAGE) for name in names[:5])
    return Finding(
        code="lock.packages_added",
        level=Level.WARN,
        fact=_("packages that are not locked"),
        value=shown
        if len(names) <= 5
        else _("{names} and {count} more").format(names=shown, count=len(names) - 5),
        expected=_("none beside the locked ones"),
        consequence=_("an import may find something else than on the machine that was proven"),
        next_step=_("remove them, or `lastro preflight --relock --why REASON`"),
    )
