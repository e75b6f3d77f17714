"""The second copy of a closed campaign: made, and every byte of it read again, before it counts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from lastro import atomic
from lastro.closeout.copy_choice import Between, why_not_copied
from lastro.closeout.last_manifest import check_close_manifest
from lastro.disk.mounts import FUSE, mount_of, read_mounts
from lastro.errors import LastroError, StorageError, UsageError
from lastro.flow.noting import noting
from lastro.flow.session import Session
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
from lastro.journal.views import CampaignView
from lastro.locale import _
from lastro.paths import CampaignFolder
from lastro.records import dataclass
from lastro.storage.digest import files_below
from lastro.storage.manifest import Manifest
from lastro.units import show_bytes

Tell = Callable[[str], None]

#: The provider whose machines are processes of this box: what is copied there is copied for practice.
_REHEARSAL = "local"


@dataclass(frozen=True, kw_only=True)
class Copied:
    """A second copy. `apart`: on another file system than the first, as the kernel numbers them."""

    where: str
    files: int
    bytes: int
    apart: bool
    rehearsal: bool


# --- by itself ------------------------------------------------------------------------------------------


def copy_by_itself(session: Session, writer: StreamWriter, tell: Tell) -> None:
    """See to the second copy of a campaign that is only sealed, and say what was done, or why it was not.

    Where the disk lies on another computer home has what was closed already: then the files there are read
    again, on that computer. Else home gets a copy, when `why_not_copied` has nothing against it. What goes
    wrong here takes nothing from the closing: it stays sealed.
    """
    if session.view().closing_state != "sealed":
        return
    try:
        if session.link is not None:
            _compare_there(session, writer, tell)
        else:
            _copy_home(session, writer, tell)
    except (LastroError, OSError) as error:
        why = error.message if isinstance(error, LastroError) else str(error)
        tell(_("there is no second copy yet: {why}").format(why=why))


def _copy_home(session: Session, writer: StreamWriter, tell: Tell) -> None:
    source, home = session.on_disk.root, session.at_home
    size = sum((source / name).stat().st_size for name in files_below(source))
    mount = mount_of(os.path.realpath(source), read_mounts())
    bucket = mount.fs_type if mount is not None and mount.fs_type.startswith(FUSE) else None
    why_not = why_not_copied(
        Between(
            apart=source.stat().st_dev != home.root.stat().st_dev,
            bytes=size,
            free=shutil.disk_usage(home.root).free,
            bucket=bucket,
        )
    )
    if why_not is not None:
        tell(_("there is no second copy yet: {why}").format(why=why_not))
        return
    tell(_("copying {size} to {path}, the second copy").format(size=show_bytes(size), path=home.second_copy))
    tell_copied(_copied(session, writer, home.second_copy), tell)


def _compare_there(session: Session, writer: StreamWriter, tell: Tell) -> None:
    """Have each file that was closed read again on the computer that the campaign ran on."""
    assert session.link is not None
    entries = Manifest.read(session.on_disk.close_manifest).entries
    why_not = session.link.unlike(
        [(session.on_disk.root / entry.path, entry.bytes, entry.sha256) for entry in entries]
    )
    if why_not is not None:
        tell(_("there is no second copy yet: {why}").format(why=why_not))
        return
    where = session.link.place(session.on_disk.root)
    found = Copied(
        where=where,
        files=len(entries),
        bytes=sum(entry.bytes for entry in entries),
        apart=True,
        rehearsal=False,
    )
    _keep(session, writer, found)
    tell(
        _("{files} files were read again at {where}: home has the second copy").format(
            files=found.files, where=where
        )
    )


# --- at a person's request ------------------------------------------------------------------------------


def copy_to(session: Session, target: Path) -> Copied:
    """Copy a closed campaign to `target`/<campaign>, read it again, and keep that this was done.

    Raises:
        UsageError: it is not closed, or something is there already.
        StorageError: the copy is not what was closed.
    """
    with noting(session) as writer:
        return _copied(session, writer, target)


def tell_copied(made: Copied, tell: Tell) -> None:
    """Say what was copied, and whether it counts."""
    tell(_("copied {files} files to {path}, and read them again").format(files=made.files, path=made.where))
    if not made.apart:
        tell(_("it is on the same file system: it does not count as a second copy"))
    elif made.rehearsal:
        tell(_("the machines were of this box: this was a rehearsal of it"))


def do_without(session: Session, why: str) -> None:
    """Keep that a person does without a second copy, and why. Raises UsageError: it is not closed."""
    with noting(session) as writer:
        _closed_root(session.view())
        writer.append(EventType.COPY_WAIVED, why=why)


def _copied(session: Session, writer: StreamWriter, target: Path) -> Copied:
    source = session.on_disk
    place = target.absolute() / source.root.name
    view = session.view()
    _closed_root(view)
    if place.exists():
        raise UsageError(
            _("{path} is there already; nothing was changed").format(path=place),
            hint=_("name another folder, or remove it first"),
        )
    atomic.make_folder(target)
    names = sorted(files_below(source.root))
    # Published when it was read again: a kill leaves no half of a copy that looks like one.
    with atomic.publish_folder(place) as aside:
        for name in names:
            atomic.make_folder((aside / name).parent)
            shutil.copyfile(source.root / name, aside / name)
        wrong = check_close_manifest(CampaignFolder(aside))
        if wrong:
            raise StorageError(
                _("the copy at {path} is not what was closed: {why}").format(
                    path=place, why="; ".join(wrong)
                ),
                hint=_("it was not kept; check both disks, and the first copy by `lastro close --audit`"),
            )
    made = Copied(
        where=str(place),
        files=len(names),
        bytes=sum((place / name).stat().st_size for name in names),
        apart=place.stat().st_dev != source.root.stat().st_dev,
        rehearsal=(view.plan or {}).get("provider") == _REHEARSAL,
    )
    _keep(session, writer, made)
    return made


def _keep(session: Session, writer: StreamWriter, made: Copied) -> None:
    writer.append(
        EventType.COPY_VERIFIED,
        where=made.where,
        root_digest=_closed_root(session.view()),
        files=made.files,
        bytes=made.bytes,
        apart=made.apart,
        rehearsal=made.rehearsal,
    )
    session.mirror()


def _closed_root(view: CampaignView) -> str:
    if view.closed is None:
        raise UsageError(_("this campaign is not closed"), hint=_("close it first: `lastro close`"))
    return str(view.closed["root_digest"])
