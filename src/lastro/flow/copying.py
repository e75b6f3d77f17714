"""The second copy of a closed campaign: made, and every byte of it read again, before it counts."""

from __future__ import annotations

import shutil
from pathlib import Path

from lastro import atomic
from lastro.closeout.last_manifest import check_close_manifest
from lastro.errors import StorageError, UsageError
from lastro.flow.noting import noting
from lastro.flow.session import Session
from lastro.journal.events import EventType
from lastro.journal.views import CampaignView
from lastro.locale import _
from lastro.paths import CampaignFolder
from lastro.records import dataclass
from lastro.storage.digest import files_below

#: The provider whose machines are processes of this box: what is copied there is copied for practice.
_REHEARSAL = "local"


@dataclass(frozen=True, kw_only=True)
class Copied:
    """A second copy. `apart`: on another file system than the first, as the kernel numbers them."""

    where: Path
    files: int
    bytes: int
    apart: bool
    rehearsal: bool


def copy_to(session: Session, target: Path) -> Copied:
    """Copy a closed campaign to `target`/<campaign>, read it again, and keep that this was done.

    Raises:
        UsageError: it is not closed, or something is there already.
        StorageError: the copy is not what was closed.
    """
    source = session.on_disk
    place = target.absolute() / source.root.name
    with noting(session) as writer:
        view = session.view()
        root = _closed_root(view)
        if place.exists():
            raise UsageError(
                _("{path} is there already; nothing was changed").format(path=place),
                hint=_("name another folder, or remove it first"),
            )
        atomic.make_folder(target)
        names = sorted(files_below(source.root))
        for name in names:
            atomic.make_folder((place / name).parent)
            shutil.copyfile(source.root / name, place / name)
        wrong = check_close_manifest(CampaignFolder(place))
        if wrong:
            raise StorageError(
                _("the copy at {path} is not what was closed: {why}").format(
                    path=place, why="; ".join(wrong)
                ),
                hint=_("check both disks; `lastro close --audit` says which of the two is whole"),
            )
        apart = place.stat().st_dev != source.root.stat().st_dev
        size = sum((place / name).stat().st_size for name in names)
        rehearsal = (view.plan or {}).get("provider") == _REHEARSAL
        writer.append(
            EventType.COPY_VERIFIED,
            where=str(place),
            root_digest=root,
            files=len(names),
            bytes=size,
            apart=apart,
            rehearsal=rehearsal,
        )
    return Copied(where=place, files=len(names), bytes=size, apart=apart, rehearsal=rehearsal)


def do_without(session: Session, why: str) -> None:
    """Keep that a person does without a second copy, and why. Raises UsageError: it is not closed."""
    with noting(session) as writer:
        _closed_root(session.view())
        writer.append(EventType.COPY_WAIVED, why=why)


def _closed_root(view: CampaignView) -> str:
    if view.closed is None:
        raise UsageError(_("this campaign is not closed"), hint=_("close it first: `lastro close`"))
    return str(view.closed["root_digest"])
