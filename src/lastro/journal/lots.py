"""Which machines one lot pays together: a lot of several machines is one price. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from lastro.billing import Lease, LeaseKind
from lastro.clock import Stamp, elapsed
from lastro.journal.views import MachineView


def shared_lots(machines: Sequence[MachineView]) -> tuple[tuple[MachineView, ...], ...]:
    """Return machines by what pays them, in the order of the first of each.

    A machine joins the lot of an earlier one when both were taken under the same terms, the lot has carried
    fewer machines than it includes, and its term had not ended. A place in it is used up by a machine that
    went away, as the whole lot is where it includes one machine. Everything else stands alone.
    """
    groups: list[list[MachineView]] = []
    for machine in machines:
        group = next((one for one in groups if _joins(machine.lease, machine.born, one)), None)
        if group is None:
            groups.append([machine])
        else:
            group.append(machine)
    return tuple(map(tuple, groups))


def has_room(machines: Sequence[MachineView], lease: Lease | None, at: Stamp) -> bool:
    """Say whether a machine that is taken now would be paid by a lot that is paid already."""
    created = [machine for machine in machines if machine.created_at is not None]
    return any(_joins(lease, at, list(group)) for group in shared_lots(created))


def _joins(lease: Lease | None, born: Stamp | None, group: Sequence[MachineView]) -> bool:
    first = group[0]
    if lease is None or lease != first.lease or lease.kind is not LeaseKind.LOT or lease.order is not None:
        return False
    if len(group) >= lease.machines:
        return False
    if lease.term_seconds is None or born is None or first.born is None:
        return True
    age = elapsed(first.born, born)
    return age is None or age < lease.term_seconds
