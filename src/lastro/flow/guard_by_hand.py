"""The guard at a person's request: list, rescue, let go."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lastro.clock import Clock
from lastro.disk.guard.decisions import let_go, let_go_of
from lastro.disk.guard.find import Found, Item, Scope, find
from lastro.disk.guard.mounted import machine_began_ns, this_machine
from lastro.disk.guard.rescue import Rescued, rescue
from lastro.errors import UsageError
from lastro.flow.session import known_sessions
from lastro.locale import _
from lastro.paths import Disk, Home
from lastro.providers.own_storage import scope_of, scope_within
from lastro.providers.who import who_of_environment
from lastro.records import dataclass
from lastro.units import parse_duration

_ALL = "all"


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What was asked for. `machine` None: this one. `disk` None: of the campaign that was used last."""

    machine: str | None = None
    disk: Path | None = None
    since: str | None = None
    rescue: bool = False
    let_go: tuple[str, ...] = ()
    why: str | None = None


@dataclass(frozen=True, kw_only=True)
class Guarded:
    """What was found, and what became of it. `left`: what would still be lost."""

    found: Found
    rescued: tuple[Rescued, ...]
    let_go: tuple[Item, ...]
    left: tuple[Item, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            **self.found.as_json(),
            "rescued": [one.as_json() for one in self.rescued],
            "let_go": [item.as_json() for item in self.let_go],
            "left": [item.id for item in self.left],
        }


def guard_by_hand(wish: Wish, home: Home, clock: Clock, environment: Mapping[str, str]) -> Guarded:
    """Look, and do what was asked for with what was found.

    Raises:
        UsageError: no reason, no such item, no such machine, or no disk to rescue to.
        StorageError: the disk is not there, or not to be written.
    """
    if wish.let_go and not (wish.why or "").strip():
        raise UsageError(_("--let-go needs a reason: what is let go may be lost"), hint=_("add --why REASON"))
    disk = _disk(wish, home, clock)
    scope = _scope(wish, home, disk, environment)
    found = find(scope, let_go_of(home, scope.machine))
    gone = _chosen(found.items, wish.let_go)
    if gone:
        let_go(home, scope.machine, gone, str(wish.why), clock)
    left = tuple(item for item in found.items if item not in gone)
    done: Sequence[Rescued] = ()
    if wish.rescue and left:
        if disk is None:
            raise UsageError(_("there is no disk to rescue to"), hint=_("name it with --disk"))
        done = rescue(left, disk, scope.machine, clock)
        safe = {one.item.id for one in done if one.safe}
        left = tuple(item for item in left if item.id not in safe)
    return Guarded(found=found, rescued=tuple(done), let_go=gone, left=left)


def _disk(wish: Wish, home: Home, clock: Clock) -> Disk | None:
    if wish.disk is not None:
        return Disk(wish.disk.absolute())
    sessions = known_sessions(home, clock)
    found = sessions[-1].disk if sessions else None
    return found if found is not None and found.facts.exists() else None


def _scope(wish: Wish, home: Home, disk: Disk | None, environment: Mapping[str, str]) -> Scope:
    if wish.machine is not None:
        scope = scope_of(wish.machine, home, disk)
        if scope is None:
            raise UsageError(
                _("{machine} has no storage that lastro would delete").format(machine=wish.machine),
                hint=_("it is gone, or not one of lastro's; `lastro status` names them"),
            )
        return scope
    within = scope_within(environment, disk)
    if within is not None:
        return within
    who = who_of_environment(environment)
    return this_machine(who.instance or who.node, _since(wish.since), disk)


def _since(text: str | None) -> int:
    if text is None:
        return machine_began_ns()
    try:
        return time.time_ns() - int(parse_duration(text).total_seconds() * 1e9)
    except ValueError as error:
        raise UsageError(str(error), hint=_("such as --since 2h")) from error


def _chosen(items: Sequence[Item], named: Sequence[str]) -> tuple[Item, ...]:
    if _ALL in named:
        return tuple(items)
    by_id = {item.id: item for item in items}
    missing = [name for name in named if name not in by_id]
    if missing:
        raise UsageError(
            _("nothing of value has the id {id}").format(id=missing[0]),
            hint=_("`lastro disk guard` lists them; a file that changes gets another id"),
        )
    return tuple(by_id[name] for name in named)
