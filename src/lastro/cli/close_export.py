"""What `lastro close` hands on of a closed campaign: a page for a notebook, a research object."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lastro.export.notebook_page import write_page
from lastro.flow.session import Session
from lastro.locale import _
from lastro.units import show_bytes
from lastro.view.parts import Page
from lastro.view.summary import summary_of
from lastro.view.synthesis import synthesis


def hand_on(
    session: Session, page: Page, tell: Callable[[str], None], *, notes: Path | None, crate: Path | None
) -> None:
    """Write what was asked for; neither is a part of the campaign's folder, which is sealed."""
    if notes is not None:
        write_page(synthesis(page, summary_of(session.view(), session.facts.name)), notes)
        tell(_("the page for the notebook: {path}").format(path=notes))
    if crate is not None:
        from lastro.export.crate import write_crate  # late: it hashes and copies

        made = write_crate(session.on_disk, session.view(), crate)
        tell(
            _("RO-Crate: {path}, {files} files, {size}").format(
                path=made.path, files=made.files, size=show_bytes(made.bytes)
            )
        )
