"""The guard before a machine goes: nobody deletes what lies nowhere else.

A person who types `lastro stop --release` or `lastro close` is refused until it is rescued or let go. Where
nobody is there to ask, at the end of a `lastro run`, everything of value is copied to the disk first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from lastro.clock import Clock, from_iso
from lastro.disk.guard.decisions import let_go_of
from lastro.disk.guard.find import Found, Item, find, spelled
from lastro.disk.guard.rescue import Rescued, rescue
from lastro.errors import GuardRefused, LastroError
from lastro.flow.session import Session
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
from lastro.locale import _
from lastro.paths import Disk, Home
from lastro.providers.own_storage import scope_of
from lastro.units import show_bytes

_NAMED = 3
_RECORDED = 20


class Guarding(str, Enum):
    """What is done when something of value would be lost. RESCUE: copied; REFUSE: a person decides."""

    RESCUE = "rescue"
    REFUSE = "refuse"


def look(machine: str, home: Home, disk: Disk | None) -> Found | None:
    """Return what of value lies on a machine's own storage; None where deleting it wipes nothing."""
    scope = scope_of(machine, home, disk)
    return None if scope is None else find(scope, let_go_of(home, machine))


def refuse(found: Found) -> GuardRefused:
    """Return the error that names the most valuable of what would be lost."""
    return GuardRefused(
        _("{files} files of value ({bytes}) lie on {machine} only: {names}").format(
            files=len(found.items),
            bytes=show_bytes(found.bytes),
            machine=found.machine,
            names=named(found.items),
        ),
        hint=_(
            "`lastro disk guard --machine {machine}` lists them; add --rescue to copy them to the disk, or "
            "--let-go all --why REASON"
        ).format(machine=found.machine),
    )


def named(items: Sequence[Item]) -> str:
    """Return the first of some items as people read them."""
    told = [f"{spelled(item.path)} ({item.kind.text}, {show_bytes(item.size)})" for item in items[:_NAMED]]
    more = len(items) - len(told)
    return ", ".join(told) + (_(" and {count} more").format(count=more) if more > 0 else "")


def before_deletion(
    session: Session,
    writer: StreamWriter,
    machine: str,
    guarding: Guarding,
    clock: Clock,
    tell: Callable[[str], None],
) -> None:
    """See to it that nothing of value is lost with a machine that is about to be deleted.

    Raises:
        GuardRefused: something would be, and a person has to decide, or it could not be rescued.
    """
    if session.link is not None:
        _rescue_there(session, writer, machine, clock, tell)
        return
    disk = _disk_there(session)
    found = look(machine, session.home, disk)
    if found is None or not found.items:
        return
    if guarding is Guarding.REFUSE or disk is None:
        raise refuse(found)
    left = _rescue(found, disk, writer, clock, tell)
    if left:
        raise GuardRefused(
            _("{count} files of value on {machine} could not be rescued: {what}").format(
                count=len(left), machine=machine, what=_problems(left)
            ),
            hint=_("make room on the disk, or `lastro disk guard --machine {machine} --let-go all`").format(
                machine=machine
            ),
        )


def _rescue_there(
    session: Session, writer: StreamWriter, machine: str, clock: Clock, tell: Callable[[str], None]
) -> None:
    """Have what lies beside the disk of a machine elsewhere copied to it; what fails is told.

    Nothing is wiped there by lastro, so nothing is refused either.
    """
    assert session.link is not None
    born = next((one.created_at for one in session.view().machines if one.id == machine), None)
    age = (clock.now() - from_iso(born)).total_seconds() if born is not None else 0.0
    try:
        told = session.link.rescue(machine, max(0.0, age))
    except LastroError as error:
        tell(_("what lies on {machine} could not be looked at: {error}").format(machine=machine, error=error))
        return
    if not told["files"] and not told["left"]:
        return
    writer.append(
        EventType.GUARD_RESCUED,
        machine=machine,
        **{name: told[name] for name in ("files", "bytes", "folder", "left", "what")},
    )
    if told["files"]:
        tell(
            _(
                "{count} files of value lay beside the disk of {machine}; they are in {folder} there now"
            ).format(count=told["files"], machine=machine, folder=told["folder"])
        )
    for one in told["left"]:
        tell(_("{path} could not be rescued: {problem}").format(path=one["path"], problem=one["problem"]))


def rescue_what_can_be(
    session: Session, writer: StreamWriter, machine: str, clock: Clock, tell: Callable[[str], None]
) -> None:
    """Rescue from a machine that goes in any case, as one that is silent does; what fails is told."""
    disk = _disk_there(session)
    try:
        found = look(machine, session.home, disk)
        if found is not None and found.items and disk is not None:
            _rescue(found, disk, writer, clock, tell)
    except (OSError, LastroError) as error:
        tell(_("what lies on {machine} could not be looked at: {error}").format(machine=machine, error=error))


def _disk_there(session: Session) -> Disk | None:
    """Return the disk of the campaign; None when it is not at its place now."""
    try:
        session.require_disk()
    except LastroError:
        return None
    return session.disk


def _rescue(
    found: Found, disk: Disk, writer: StreamWriter, clock: Clock, tell: Callable[[str], None]
) -> list[Rescued]:
    done = rescue(found.items, disk, found.machine, clock)
    safe = [one for one in done if one.safe]
    left = [one for one in done if not one.safe]
    folder = disk.rescued(found.machine)
    writer.append(
        EventType.GUARD_RESCUED,
        machine=found.machine,
        files=len(safe),
        bytes=sum(one.item.size for one in safe),
        folder=str(folder),
        left=[{"path": spelled(one.item.path), "problem": one.problem} for one in left],
        what=[spelled(one.item.path) for one in safe[:_RECORDED]],
    )
    if safe:
        tell(
            _("{count} files of value lay on {machine} only; they are in {folder} now: {names}").format(
                count=len(safe),
                machine=found.machine,
                folder=folder,
                names=named([one.item for one in safe]),
            )
        )
    for one in left:
        tell(
            _("{path} could not be rescued: {problem}").format(
                path=spelled(one.item.path), problem=one.problem
            )
        )
    return left


def _problems(left: Sequence[Rescued]) -> str:
    told = [f"{spelled(one.item.path)}: {one.problem}" for one in left[:_NAMED]]
    return "; ".join(told)
