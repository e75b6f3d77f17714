"""Whether a path outlives its machine: proven, declared or unknown, and what stands in the way. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from lastro.disk.conventions import Convention
from lastro.disk.facts import DiskFacts, Sighting
from lastro.disk.mounts import Mount
from lastro.locale import _
from lastro.records import dataclass


class State(str, Enum):
    """How well it is known that a disk outlives its machine."""

    PROVEN = "proven"  # two machines have seen its mark
    DECLARED = "declared"  # somebody has said so, and nothing speaks against it
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One thing that was found out. `source`: measured, declared, or looked up where and when."""

    name: str
    value: str
    means: str
    source: str = "measured"

    def as_json(self) -> dict[str, str]:
        return vars(self)


class Wrong(str, Enum):
    """What is wrong with a path at which a certain disk is expected."""

    UNMOUNTED = "unmounted"
    EMPTY = "empty"
    SWAPPED = "swapped"
    MOVED = "moved"


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """Why a path is not to be written to, and what to do."""

    kind: Wrong
    text: str
    next_step: str

    def as_json(self) -> dict[str, str]:
        return {"kind": self.kind.value, "text": self.text, "next": self.next_step}


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What was at a path when it was proven or used last: the disk's uuid, and the mount that it lay on."""

    uuid: str
    point: str
    source: str
    fs_type: str


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What is there now.

    `mount`: that the path lies on. `facts`: of its mark, None without one. `me`: this machine's sighting.
    `promised`: a mount point around the path that /etc/fstab promises and that is not mounted.
    """

    path: str
    mount: Mount | None
    facts: DiskFacts | None
    me: Sighting
    convention: Convention | None = None
    expected: Expected | None = None
    promised: str | None = None
    is_empty: bool = False


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The state with its reason, the facts it comes from, and what is wrong."""

    state: State
    why: str
    facts: tuple[Fact, ...]
    troubles: tuple[Trouble, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "state": self.state.value,
            "why": self.why,
            "facts": [each.as_json() for each in self.facts],
            "troubles": [each.as_json() for each in self.troubles],
        }


def judge(seen: Seen) -> Verdict:
    """Return what a path is."""
    troubles = tuple(_troubles(seen))
    state, why = _state(seen, troubles)
    return Verdict(state=state, why=why, facts=tuple(_facts(seen)), troubles=troubles)


def _state(seen: Seen, troubles: Sequence[Trouble]) -> tuple[State, str]:
    if troubles:
        return State.UNKNOWN, troubles[0].text
    others = witnesses(seen.facts.sightings if seen.facts else (), seen.me)
    temporary = seen.mount is not None and seen.mount.is_temporary and not seen.me.rehearsal
    if len(others) > 1 and not seen.me.on_root and not temporary:
        names = ", ".join(each.instance or each.node or each.machine_id for each in others[-2:])
        return State.PROVEN, _("{count} machines have seen its mark, the last of them {names}").format(
            count=len(others), names=names
        )
    if temporary and seen.mount is not None:
        return State.UNKNOWN, _("its file system, {type}, is gone with the machine").format(
            type=seen.mount.fs_type
        )
    if seen.convention is not None and not seen.convention.lives:
        return State.UNKNOWN, _("{provider}, {path}: {trap}").format(
            provider=seen.convention.provider, path=seen.convention.path, trap=seen.convention.trap
        )
    declared = seen.facts.declared if seen.facts else None
    if declared is not None:
        return State.DECLARED, _("declared by {who}; only one machine has seen its mark").format(who=declared)
    if seen.convention is not None:
        return State.DECLARED, _("a convention of {provider} ({source}, read {day})").format(
            provider=seen.convention.provider, source=seen.convention.source, day=seen.convention.read
        )
    return State.UNKNOWN, _("nobody has said that it outlives the machine, and one machine cannot prove it")


def witnesses(sightings: Sequence[Sighting], me: Sighting) -> list[Sighting]:
    """Return sightings of machines that are certainly different, oldest first.

    A mark on a machine's own root may have been copied with its image, and a rehearsal's machines prove
    something to each other only.
    """
    found: list[Sighting] = []
    for each in sightings:
        counts = not each.on_root and each.rehearsal == me.rehearsal
        if counts and all(each.is_another_machine(known) for known in found):
            found.append(each)
    return found


def _troubles(seen: Seen) -> list[Trouble]:
    found = []
    if seen.promised is not None:
        found.append(
            Trouble(
                kind=Wrong.UNMOUNTED,
                text=_("{point} is a mount point of /etc/fstab, and nothing is mounted there").format(
                    point=seen.promised
                ),
                next_step=_("mount {point}; what is written now lands on the machine's own disk").format(
                    point=seen.promised
                ),
            )
        )
    if seen.expected is not None:
        found += _against(seen, seen.expected)
    return found


def _against(seen: Seen, expected: Expected) -> list[Trouble]:
    if seen.facts is not None and seen.facts.uuid != expected.uuid:
        return [
            Trouble(
                kind=Wrong.SWAPPED,
                text=_("{path} is disk {found}, and disk {wanted} was here before").format(
                    path=seen.path, found=seen.facts.uuid[:8], wanted=expected.uuid[:8]
                ),
                next_step=_(
                    "attach disk {wanted}, or say with --expect {found} that you mean this one"
                ).format(wanted=expected.uuid[:8], found=seen.facts.uuid),
            )
        ]
    if seen.facts is not None:
        return []
    if seen.mount is None or seen.mount.point != expected.point:
        return [
            Trouble(
                kind=Wrong.UNMOUNTED,
                text=_("{source} was mounted at {point}, and is not now").format(
                    source=expected.source, point=expected.point
                ),
                next_step=_("mount it again; what is written now lands on the machine's own disk"),
            )
        ]
    what = _("is empty") if seen.is_empty else _("has no mark")
    return [
        Trouble(
            kind=Wrong.EMPTY,
            text=_("{path} {what}, and disk {wanted} was here before").format(
                path=seen.path, what=what, wanted=expected.uuid[:8]
            ),
            next_step=_("attach disk {wanted}: another one, or a new one, is mounted here").format(
                wanted=expected.uuid[:8]
            ),
        )
    ]


def _facts(seen: Seen) -> list[Fact]:
    found = []
    if seen.mount is not None:
        found.append(_of_mount(seen.mount, seen.path))
    found.append(
        Fact(
            name=_("device"),
            value=_("the machine's own root") if seen.me.on_root else _("apart from the machine's root"),
            means=_("it goes with the machine, unless the root itself is kept")
            if seen.me.on_root
            else _("nothing yet about how long it lives"),
        )
    )
    if seen.facts is not None:
        count = len(witnesses(seen.facts.sightings, seen.me))
        found.append(
            Fact(
                name=_("mark"),
                value=_("disk {uuid}, seen by {count}").format(uuid=seen.facts.uuid[:8], count=count),
                means=_("it has outlived a machine") if count > 1 else _("it has outlived no machine yet"),
            )
        )
        if seen.facts.declared is not None:
            found.append(
                Fact(
                    name=_("declaration"),
                    value=seen.facts.declared,
                    means=_("somebody says that it outlives the machine"),
                    source="declared",
                )
            )
    if seen.convention is not None:
        found.append(
            Fact(
                name=_("convention"),
                value=f"{seen.convention.provider}, {seen.convention.path}",
                means=seen.convention.trap,
                source=f"looked up: {seen.convention.source}, {seen.convention.read}",
            )
        )
    return found


def _of_mount(mount: Mount, path: str) -> Fact:
    shown = _("{type} from {source} at {point}").format(
        type=mount.fs_type, source=mount.source, point=mount.point
    )
    if mount.root != "/":
        shown += _(", its folder {root}").format(root=mount.root)
    if mount.is_temporary:
        means = _("gone with the machine")
    elif mount.is_remote:
        means = _("another machine holds it, or a bucket behind it; nothing about how long")
    elif mount.point == path:
        means = _("a file system of its own")
    else:
        means = _("a folder of that file system")
    return Fact(name=_("mount"), value=shown, means=means)
