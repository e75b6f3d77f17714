"""What refuses an output before anything is loaded. Pure: an inventory in, refusals out."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

from lastro.closeout.inventory import FileFacts, Inventory
from lastro.closeout.pickles import PickleFacts
from lastro.closeout.promise import Deliverable
from lastro.closeout.tables import Table, TableDamaged
from lastro.locale import _
from lastro.records import dataclass

#: How many ids a sentence names before it only counts.
_NAMED = 3
#: Empty by habit: a package's mark, and one that only keeps a folder in a repository.
_MAY_BE_EMPTY = frozenset({"__init__.py", ".gitkeep", ".nojekyll"})
#: What transformers' Trainer writes beside a model.
_BYSTANDERS = ("training_args.bin", "optimizer.*", "scheduler.pt", "scaler.pt", "rng_state*.pth")


@dataclass(frozen=True)
class Refusal:
    """Why an output is refused: a code for programs, a sentence for people."""

    code: str
    text: str


def refusals(
    promised: Deliverable, found: Inventory, expected_ids: Collection[str] | None = None
) -> tuple[Refusal, ...]:
    """Return every reason to refuse an output without loading it; none when it may be loaded.

    Args:
        promised: what the plan says of it.
        found: what lies there.
        expected_ids: the ids that it has to hold, when they are known from the truth.
    """
    path = found.path
    if not found.exists:
        return (Refusal("missing", _("{path} was promised and is not there").format(path=path)),)
    if path in found.links_out:
        return (_link(path, found.links_out[path]),)
    if not found.files:
        return (Refusal("empty", _("{path} is a folder without a file").format(path=path)),)
    if not found.is_folder and found.bytes == 0:
        return (_empty(path),)
    reasons = [_link(name, target) for name, target in found.links_out.items()]
    for file in found.files:
        reasons.extend(_of_file(promised, file, in_folder=found.is_folder))
    reasons.extend(Refusal("shards", text) for text in found.shards)
    if found.damage is not None:
        text = _("{path} cannot be read: {why}").format(path=path, why=found.damage)
        reasons.append(Refusal("damaged", text))
    if found.table is not None:
        reasons.extend(_of_table(promised, path, found.table, expected_ids))
    reasons.extend(_of_base(promised, found))
    return tuple(reasons)


def _link(name: str, target: str) -> Refusal:
    text = _("{path} is a link that leaves the outputs: it leads to {target}")
    return Refusal("link", text.format(path=name, target=target))


def _empty(name: str) -> Refusal:
    return Refusal("empty", _("{path} is empty (0 bytes)").format(path=name))


def _of_file(promised: Deliverable, file: FileFacts, *, in_folder: bool) -> Iterator[Refusal]:
    if in_folder and file.bytes == 0 and PurePosixPath(file.name).name not in _MAY_BE_EMPTY:
        yield _empty(file.name)
    if file.foreign is not None:
        text = _("{path} holds the path {value}, which other machines do not have")
        yield Refusal("foreign_path", text.format(path=file.name, value=file.foreign))
    if file.host is not None:
        text = _("{path} names the machine {value}, which is not known elsewhere")
        yield Refusal("host", text.format(path=file.name, value=file.host))
    if file.secret is not None:
        what, line = file.secret
        text = _("{path} holds what looks like {what}, in line {line}; remove it, and make it invalid")
        yield Refusal("secret", text.format(path=file.name, what=what, line=line))
    if file.pickle is not None:
        refused = _of_pickle(promised, file, file.pickle, in_folder=in_folder)
        if refused is not None:
            yield Refusal("pickle", refused)


def _of_pickle(promised: Deliverable, file: FileFacts, found: PickleFacts, *, in_folder: bool) -> str | None:
    """Return why a pickle is refused; None for tensors, for one that may be loaded, and for a bystander."""
    if found.problem is not None:
        return _("{path} is a pickle that cannot be looked through: {why}").format(
            path=file.name, why=found.problem
        )
    if found.dangerous:
        return _("{path} calls {what} when it is loaded; it was not loaded").format(
            path=file.name, what=", ".join(found.dangerous)
        )
    if found.only_tensors or promised.may_unpickle or (in_folder and is_bystander(file.name)):
        return None
    return _(
        "{path} is a pickle, which can run anything when it is loaded (it calls {what}): save tensors with "
        "safetensors.torch.save_file and other values as JSON, or allow it in a jail with pickle: jailed"
    ).format(path=file.name, what=", ".join(found.calls[:_NAMED]) or _("nothing"))


def is_bystander(name: str) -> bool:
    """Say whether a file only serves to go on with a training; whoever uses the model does not load it."""
    return any(fnmatch.fnmatch(PurePosixPath(name).name, pattern) for pattern in _BYSTANDERS)


def _of_base(promised: Deliverable, found: Inventory) -> Iterator[Refusal]:
    named, base = found.named_base, promised.base
    if named is None:
        return
    if base is None and not named.is_commit:
        text = _(
            "{path} was made from {base}, and nothing says which bytes these are: give its deliverable a "
            "base: with revision or sha256, or save the adapter with the commit as its revision"
        )
        yield Refusal("base_unpinned", text.format(path=found.path, base=named.name or _("an unnamed base")))
    if base is not None and base.hub is not None and named.name != base.hub:
        text = _("{path} was made from {named}, the plan says {base}")
        yield Refusal("other_base", text.format(path=found.path, named=named.name, base=base.hub))
    if base is not None and base.revision and named.is_commit and named.revision != base.revision:
        text = _("{path} was made from revision {named} of its base, the plan says {promised}")
        yield Refusal(
            "other_base",
            text.format(path=found.path, named=str(named.revision)[:12], promised=str(base.revision)[:12]),
        )


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
