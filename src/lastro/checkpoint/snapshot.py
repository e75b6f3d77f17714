"""The groups of a run's state: collected, written, read and put back, each under its tracked name."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from lastro import strictjson
from lastro.checkpoint import health, state, store
from lastro.checkpoint.adapters.base import TENSORS, Bridge, Stateful
from lastro.errors import CheckpointDamaged
from lastro.locale import _

STATE = "state.json"
VERSION = 1

#: Groups that lastro itself fills; no object can be tracked under these names.
RANDOM = "random"
POSITION = "position"
RESERVED = (RANDOM, POSITION)


def write(
    draft: store.Draft,
    objects: Mapping[str, Stateful],
    position: Any,
    bridge: Bridge,
    from_start: Collection[str] = (),
) -> None:
    """Write the state of every tracked object, the random states and the position into a draft.

    Args:
        draft: takes the files, and the health that was found.
        objects: by the names that they are tracked under.
        position: a tree of plain values.
        bridge: a fresh one.
        from_start: names of tensors that were not finite before the first step.

    Raises:
        CheckpointDamaged: a value cannot be put back exactly; it is named.
    """
    groups: dict[str, Any] = {name: item.state_dict() for name, item in objects.items()}
    groups[RANDOM] = bridge.random_state()
    groups[POSITION] = position
    encoded = {name: state.encode(tree, name, bridge.take) for name, tree in groups.items()}
    draft.health = health.judge(bridge.not_finite(), from_start)
    bridge.write_taken(draft)
    draft.write(STATE, [strictjson.dumps({"version": VERSION, "groups": encoded}).encode()])


def not_finite(objects: Mapping[str, Stateful], bridge: Bridge) -> frozenset[str]:
    """Return the names of tensors that hold NaN or an infinity now: before the first step this is normal.

    A state that cannot be saved is not told here: the first save does it, by name.
    """
    with contextlib.suppress(CheckpointDamaged):
        for name, item in objects.items():
            state.encode(item.state_dict(), name, bridge.take)
    return frozenset(bridge.not_finite() or ())


def read(folder: Path, manifest: store.Manifest, bridge: Bridge) -> dict[str, Any]:
    """Return the groups of a checkpoint that was just verified.

    Raises:
        CheckpointDamaged: the files are not those that `write` makes, or a tensor belongs to nothing.
    """
    if STATE not in manifest.files or not set(manifest.files) <= {STATE, TENSORS}:
        raise CheckpointDamaged(
            _("checkpoint {name} has the files {files}, not those that are written here").format(
                name=folder.name, files=", ".join(sorted(manifest.files))
            )
        )
    whole = strictjson.loads(store.read_file(folder, manifest, STATE))
    if whole.get("version") != VERSION:
        raise CheckpointDamaged(
            _("the state has version {version}, not {known}").format(
                version=whole.get("version"), known=VERSION
            ),
            hint=_("resume with the lastro that saved it"),
        )
    tensors = bridge.read_tensors(folder / TENSORS) if TENSORS in manifest.files else {}
    used: set[str] = set()
    groups = {name: state.decode(tree, name, tensors, used) for name, tree in whole["groups"].items()}
    for name in tensors.keys() - used:
        raise CheckpointDamaged(_("the tensor {name} belongs to nothing in the state").format(name=name))
    return groups


def check_groups(saved: Collection[str], tracked: Collection[str], leave_out: Collection[str]) -> None:
    """See that the checkpoint and the script speak of the same groups.

    Raises:
        CheckpointDamaged: a group is on one side only, or one that is to be left out is on neither.
    """
    here = {*tracked, *RESERVED}
    for name in saved:
        if name not in here:
            raise CheckpointDamaged(
                _("the checkpoint holds {name}, which the script does not track").format(name=name),
                hint=_("track it under that name, or begin a new run"),
            )
    for name in here:
        if name not in saved:
            raise CheckpointDamaged(
                _("the script tracks {name}, which is not in the checkpoint").format(name=name),
                hint=_("track what was tracked when it was saved, or begin a new run"),
            )
    for name in leave_out:
        if name not in here:
            raise CheckpointDamaged(
                _("{name} is to be left out of the restore, but there is no such group").format(name=name)
            )


def apply(
    groups: Mapping[str, Any], objects: Mapping[str, Stateful], bridge: Bridge, leave_out: Collection[str]
) -> None:
    """Put every object back, read each back again and compare it bit by bit; random states come last.

    Raises:
        CheckpointDamaged: something does not fit or did not take its state; the first places are named.
    """
    for name, item in objects.items():
        if name not in leave_out:
            _put_back(name, groups[name], item, bridge)
    if RANDOM not in leave_out:
        bridge.set_random_state(groups[RANDOM])


def _put_back(name: str, saved: Any, item: Stateful, bridge: Bridge) -> None:
    try:
        item.load_state_dict(bridge.prepare(state.copied(saved), item.state_dict()))
    except Exception as error:  # whatever a foreign object raises, it did not fit
        shapes = state.differences(saved, item.state_dict(), name, bridge.compare_shapes)
        told = "; ".join(str(each) for each in itertools.islice((one for one in shapes if one.tensor), 3))
        raise _unfit(name, told or f"{type(error).__name__}: {error}") from error
    left = list(itertools.islice(state.differences(saved, item.state_dict(), name, bridge.compare), 3))
    if left:
        raise _unfit(name, "; ".join(map(str, left)))


def _unfit(name: str, told: str) -> CheckpointDamaged:
    return CheckpointDamaged(
        _("the checkpoint does not fit {name}: {told}").format(name=name, told=told),
        hint=_("build the same {name} as when it was saved, or begin a new run").format(name=name),
    )
