"""The folder that a job runs in: the code that the run was identified by, and nothing else."""

from __future__ import annotations

from pathlib import Path

from lastro import atomic
from lastro.errors import StorageError
from lastro.locale import _
from lastro.paths import RunFolder
from lastro.rules import CodeIdentity, Order
from lastro.storage.snapshot import code_digest, code_files, unpack


def prepare(order: Order, folder: RunFolder) -> Path:
    """Return the working folder with exactly the code of the order in it.

    Raises:
        StorageError: the code in the user's own folder is no longer the code of this run.
    """
    workdir = Path(order.workdir)
    if order.code is None:
        return workdir
    if not order.code.unpack:
        _check_in_place(order, workdir)
        return workdir
    if not workdir.exists():
        atomic.make_folder(workdir.parent)
        with atomic.publish_folder(workdir) as aside:
            unpack(folder.code(order.code.digest), aside)
            for relative, target in order.code.links.items():
                link = aside / relative
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(target)
    return workdir


def _check_in_place(order: Order, workdir: Path) -> None:
    assert order.code is not None
    why = changed_in_place(workdir, order.code)
    if why is not None:
        raise StorageError(
            why,
            hint=_(
                "put it back to go on with this run, or `lastro run` again for a new run with the new code"
            ),
        )


def changed_in_place(workdir: Path, code: CodeIdentity) -> str | None:
    """Say that the code in the user's own folder is no longer this one; None while it is."""
    digest = code_digest(workdir, code_files(workdir, code.excludes, code.only))
    if digest == code.digest:
        return None
    return _("the code in {folder} has changed since the run began ({now}, it was {then})").format(
        folder=workdir, now=digest[:12], then=code.digest[:12]
    )
