"""The folder that a job runs in: the code that the run was identified by, and nothing else."""

from __future__ import annotations

from pathlib import Path

from lastro import atomic
from lastro.errors import StorageError
from lastro.locale import _
from lastro.paths import RunFolder
from lastro.rules import Order
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
    digest = code_digest(workdir, code_files(workdir, order.code.excludes, order.code.only))
    if digest != order.code.digest:
        raise StorageError(
            _("the code in {folder} has changed since run {run} began ({now}, it was {then})").format(
                folder=workdir, run=order.run, now=digest[:12], then=order.code.digest[:12]
            ),
            hint=_(
                "put it back to go on with this run, or `lastro run` again for a new run with the new code"
            ),
        )
