"""What refuses an output before anything is loaded. Pure: an inventory in, refusals out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from lastro.closeout.inventory import Inventory
from lastro.closeout.promise import Deliverable
from lastro.closeout.tables import Table, TableDamaged
from lastro.locale import _

#: How many ids a sentence names before it only counts.
_NAMED = 3


@dataclass(frozen=True)
class Refusal:
    """Why an output is refused: a code for programs, a sentence for people."""

    code: str
    text: str


def refusals(
    promised: Deliverable, found: Inventory, expected_ids: Collection[str] | None = None
) -> tuple[Refusal, ...]:
    """Return every reason to refuse a file without loading it; none when it may be loaded.

    Args:
        promised: what the plan says of it.
        found: what lies there.
        expected_ids: the ids that it has to hold, when they are known from the truth.
    """
    path = found.path
    if not found.exists:
        return (Refusal("missing", _("{path} was promised and is not there").format(path=path)),)
    if found.leads_out is not None:
        text = _("{path} is a link that leaves the outputs: it leads to {target}").format(
            path=path, target=found.leads_out
        )
        return (Refusal("link", text),)
    if found.bytes == 0:
        return (Refusal("empty", _("{path} is empty (0 bytes)").format(path=path)),)
    reasons = []
    if found.foreign is not None:
        text = _("{path} holds the path {value}, which other machines do not have").format(
            path=path, value=found.foreign
        )
        reasons.append(Refusal("foreign_path", text))
    if found.damage is not None:
        text = _("{path} cannot be read: {why}").format(path=path, why=found.damage)
        reasons.append(Refusal("damaged", text))
    if found.table is not None:
        reasons.extend(_of_table(promised, path, found.table, expected_ids))
    return tuple(reasons)


def _of_table(
    promised: Deliverable, path: str, table: Table, expected_ids: Collection[str] | None
) -> list[Refusal]:
    reasons = []
    if promised.rows is not None and len(table.rows) != promised.rows:
        text = _("{path} has {count} rows, {expected} were promised").format(
            path=path, count=len(table.rows), expected=promised.rows
        )
        reasons.append(Refusal("rows", text))
    if promised.key is None:
        return reasons
    try:
        ids = table.by_id(promised.key).keys()
    except TableDamaged as error:
        reasons.append(Refusal("ids", _("{path}: {why}").format(path=path, why=error)))
        return reasons
    if expected_ids is not None:
        reasons.extend(_of_ids(path, ids, expected_ids))
    return reasons


def _of_ids(path: str, ids: Collection[str], expected: Collection[str]) -> list[Refusal]:
    reasons = []
    missing = [one for one in expected if one not in ids]
    if missing:
        text = _("{path} lacks {count} of {expected} ids: {ids}").format(
            path=path, count=len(missing), expected=len(expected), ids=_some(missing)
        )
        reasons.append(Refusal("missing_ids", text))
    wanted = set(expected)
    other = [one for one in ids if one not in wanted]
    if other:
        text = _("{path} has {count} ids that nobody asked for: {ids}").format(
            path=path, count=len(other), ids=_some(other)
        )
        reasons.append(Refusal("other_ids", text))
    return reasons


def _some(ids: list[str]) -> str:
    shown = ", ".join(ids[:_NAMED])
    return shown if len(ids) <= _NAMED else f"{shown}, ..."
