"""The groups of a run's state: collected, written, read and put back, each under its tracked name."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from lastro import strictjson
from lastro.checkpoint import health, state, store
from lastro.checkpoint.adapters.base import TENSORS, Bridge, Exchange, Staged, Stateful
from lastro.checkpoint.arena import Arena
from lastro.checkpoint.base import Base, Part
from lastro.checkpoint.divided import Divided, file_of, rank_of
from lastro.errors import CheckpointDamaged
from lastro.locale import _
from lastro.records import dataclass

STATE = "state.json"
VERSION = 1
#: Of a state whose tensors are divided among several files: who does not know that must not read it.
VERSION_DIVIDED = 2

#: Groups that lastro itself fills; no object can be tracked under these names.
RANDOM = "random"
POSITION = "position"
RESERVED = (RANDOM, POSITION)
#: In the group of random states, where several processes have trained: those of each, by rank.
RANKS = "ranks"


@dataclass(frozen=True)
class Snapshot:
    """The state of a run at one moment, copied: what happens to the objects afterwards changes nothing of it.

    `state`: the bytes of `STATE`; none at a process that writes only its part. `tensors`: in the arena that
    it was taken with; None without any. `base`: what is fixed, and written once. `rank`: of the process,
    where several write one checkpoint; None: this one writes it alone. `wholes`: by the names of parts of
    tensors, those of the tensors.
    """

    state: bytes
    tensors: Staged | None
    base: Part | None = None
    rank: int | None = None
    wholes: Mapping[str, str] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Bytes of the checkpoint's own files."""
        return len(self.state) + (len(self.tensors.memory) if self.tensors else 0)

    @property
    def to_write(self) -> int:
        """Bytes that `write` writes: those of the fixed part as well, where they are not on the disk yet."""
        return self.size + (self.base.size if self.base else 0)

    def not_finite(self) -> tuple[str, ...] | None:
        """Return which tensors, the fixed ones left out, hold NaN or an infinity; None without any."""
        return self._named(self.tensors.not_finite()) if self.tensors else None

    def _named(self, tensors: Collection[str]) -> tuple[str, ...]:
        """Return the names of whole tensors."""
        return tuple(dict.fromkeys(self.wholes.get(name, name) for name in tensors))

    def write_part(self, draft: store.Draft) -> tuple[str, ...] | None:
        """Write what one of several processes writes: its tensors, and what of the fixed ones it holds.

        Returns which tensors are not finite; None without any tensor.
        """
        assert self.rank is not None
        fixed = self._named(self.base.write(draft)) if self.base else ()
        if self.tensors is not None:
            draft.write_memory(file_of(self.rank), self.tensors.memory)
        moving = self.not_finite()
        return moving if moving is None else (*moving, *fixed)

    def write(self, draft: store.Draft, from_start: Collection[str] = ()) -> None:
        """Write the files of a checkpoint, and the health that was found.

        Args:
            draft: takes them.
            from_start: names of tensors that were not finite before the first step.
        """
        fixed = self.base.write(draft) if self.base else ()
        if self.tensors is not None:
            draft.write_memory(TENSORS, self.tensors.memory)
        draft.write(STATE, [self.state])
        moving = self.not_finite()
        draft.health = health.judge(moving if moving is None else (*moving, *fixed), from_start)


def take(
    objects: Mapping[str, Stateful],
    position: Any,
    bridge: Bridge,
    arena: Arena,
    base: Base | None = None,
    *,
    look_again: bool = False,
    random: Sequence[Any] | None = None,
    together: Exchange | None = None,
) -> Snapshot:
    """Copy the state of every tracked object, the random states and the position.

    What is copied is what this process is to write: everything, or its part where `together` is given; then
    all the processes call this.

    Args:
        objects: by the names that they are tracked under.
        position: a tree of plain values.
        bridge: a fresh one.
        arena: its memory holds the tensors until the next snapshot is taken with it.
        base: knows what is written once; None: everything is part of this snapshot.
        look_again: see whether that has really not changed; see `Base.divide`.
        random: the random states of each process that trains, by rank; None: this one is alone.
        together: the processes among which tensors are divided; None: no tensor is.

    Raises:
        CheckpointDamaged: a value cannot be put back exactly; it is named.
    """
    if base is not None:
        bridge.hold_back(objects)
    groups: dict[str, Any] = {name: item.state_dict() for name, item in objects.items()}
    groups[RANDOM] = bridge.random_state() if random is None else {RANKS: list(random)}
    groups[POSITION] = position
    encoded = {name: state.encode(tree, name, bridge.take) for name, tree in groups.items()}
    whole = {"version": VERSION, "groups": encoded, "devices": bridge.devices()}
    if together is not None:
        layout = bridge.divide(together)
        told = {name: divided.as_json() for name, divided in (layout or {}).items()}
        whole |= {"version": VERSION_DIVIDED, "divided": told}
    fixed = base.divide(bridge, look_again=look_again) if base else None
    tensors = bridge.stage(arena)
    if together is None:
        return Snapshot(state.text(whole).encode(), tensors, fixed)
    text = state.text(whole).encode() if together.first else b""
    return Snapshot(text, tensors, fixed, together.rank, bridge.wholes())


def not_finite(objects: Mapping[str, Stateful], bridge: Bridge, arena: Arena) -> frozenset[str]:
    """Return the names of tensors that hold NaN or an infinity now: before the first step this is normal.

    Of a tensor that is divided among processes, what this one holds is looked at. A state that cannot be
    saved is not told here: the first save does it, by name.
    """
    with contextlib.suppress(CheckpointDamaged):
        for name, item in objects.items():
            state.encode(item.state_dict(), name, bridge.take)
        bridge.keep_own()
        staged = bridge.stage(arena)
        return frozenset(staged.not_finite() if staged else ())
    return frozenset()


@dataclass(frozen=True)
class Loaded:
    """The files of a checkpoint in memory, every byte verified. `refused`: why its tensors are none."""

    name: str
    state: bytes
    tensors: Mapping[str, Any]
    refused: CheckpointDamaged | None


def load(
    folder: Path,
    manifest: store.Manifest,
    bridge: Bridge,
    objects: Mapping[str, Stateful] | None = None,
    *,
    every_file: bool = True,
) -> Loaded:
    """Read the files of a checkpoint once, and verify the very bytes that were read.

    Args:
        folder: of the checkpoint.
        manifest: its own.
        bridge: a fresh one.
        objects: the tracked ones: tensors are divided as theirs are; None: every tensor is put together.
        every_file: also those that hold nothing for this process.

    Raises:
        store.Unverified: they are not those of the manifest.
        CheckpointDamaged: the files are not those that are written here, or parts are missing.
    """
    tensor_files = [name for name in manifest.files if name == TENSORS or rank_of(name) is not None]
    if STATE not in manifest.files or len(tensor_files) != len(manifest.files) - 1:
        raise CheckpointDamaged(
            _("checkpoint {name} has the files {files}, not those that are written here").format(
                name=folder.name, files=", ".join(sorted(manifest.files))
            )
        )
    with store.read_file(folder, manifest, STATE) as file:
        whole = file.bytes(file.size)
    try:
        parts = bridge.parts(_layout(whole), objects or {})
        tensors: dict[str, Any] = {}
        for name in (*manifest.base, *tensor_files):
            rank = rank_of(name)
            # The first one's file also holds what is not divided.
            if every_file or not rank or parts.needs_file_of(rank):
                with store.read_file(folder, manifest, name) as file:
                    tensors.update(bridge.read_tensors(file, parts.skipped))
        tensors = parts.fill(tensors)
    except CheckpointDamaged as error:  # a flipped bit in a header, or really another kind of file?
        store.require_verified(folder, manifest)
        return Loaded(folder.name, whole, {}, error)
    return Loaded(folder.name, whole, tensors, None)


def _layout(whole: bytes) -> dict[str, Divided]:
    """Return how the tensors of a state are divided; nothing where the state is not known here."""
    try:
        told = strictjson.loads(whole)
        if told["version"] != VERSION_DIVIDED:
            return {}
        return {name: Divided.from_json(one) for name, one in told["divided"].items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CheckpointDamaged(
            _("{file} does not say how its tensors are divided: {error}").format(file=STATE, error=error)
        ) from error


def decode(loaded: Loaded) -> dict[str, Any]:
    """Return the groups of a checkpoint.

    Raises:
        CheckpointDamaged: the files are not those that `write` makes, or a tensor belongs to nothing.
    """
    whole = strictjson.loads(loaded.state)
    if whole.get("version") not in (VERSION, VERSION_DIVIDED):
        raise CheckpointDamaged(
            _("the state of checkpoint {name} has version {version}, not {known}").format(
                name=loaded.name, version=whole.get("version"), known=VERSION_DIVIDED
            ),
            hint=_("resume with the lastro that saved it"),
        )
    if loaded.refused is not None:
        raise loaded.refused
    used: set[str] = set()
    groups = {name: state.decode(tree, name, loaded.tensors, used) for name, tree in whole["groups"].items()}
    for name in loaded.tensors.keys() - used:
        raise CheckpointDamaged(_("the tensor {name} belongs to nothing in the state").format(name=name))
    return groups


def moved(loaded: Loaded, objects: Mapping[str, Stateful], bridge: Bridge) -> dict[str, tuple[str, str]]:
    """Return the groups whose tensors lie on other kinds of devices now: (when saved, here), by group."""
    before: Mapping[str, list[str]] = strictjson.loads(loaded.state).get("devices", {})
    for name, item in objects.items():
        state.encode(item.state_dict(), name, bridge.take)
    here = bridge.devices()
    return {
        name: (", ".join(before[name]), ", ".join(here[name]))
        for name in objects
        if name in before and name in here and before[name] != here[name]
    }


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
    groups: Mapping[str, Any],
    objects: Mapping[str, Stateful],
    bridge: Bridge,
    leave_out: Collection[str],
    *,
    rank: int = 0,
) -> bool:
    """Put every object back, read each back again and compare it bit by bit; random states come last.

    Returns:
        False when there are no random states for this rank: fewer processes have saved.

    Raises:
        CheckpointDamaged: something does not fit or did not take its state; the first places are named.
    """
    for name, item in objects.items():
        if name not in leave_out:
            _put_back(name, groups[name], item, bridge)
    if RANDOM in leave_out:
        return True
    saved = groups[RANDOM].get(RANKS, [groups[RANDOM]])
    if rank < len(saved):
        bridge.set_random_state(saved[rank])
    return rank < len(saved)


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
