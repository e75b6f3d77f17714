"""A campaign in a notebook: its report as it is now, in a frame of its own, without any script.

from lastro.flow.notebook import campaign
campaign("campaign.yaml")
"""

from __future__ import annotations

import io
from html import escape
from pathlib import Path

from rich.console import Console

from lastro.clock import SystemClock
from lastro.flow.session import Session, find_session
from lastro.paths import Home, home_root
from lastro.view.gather import page_from
from lastro.view.html import render
from lastro.view.parts import Page
from lastro.view.terminal import summary


class Face:
    """A page that shows itself: HTML where there is a browser, the words of the terminal elsewhere."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def _repr_html_(self) -> str:
        # A frame keeps its styles from the notebook's and the notebook's from it; `sandbox` forbids scripts.
        return (
            f'<iframe title="{escape(self.page.headline.text)}" sandbox srcdoc="{escape(render(self.page))}"'
            ' style="width:100%;height:760px;border:1px solid #8886;border-radius:8px"></iframe>'
        )

    def __repr__(self) -> str:
        shown = io.StringIO()
        Console(file=shown, width=80, highlight=False).print(summary(self.page), crop=False)
        return shown.getvalue()


def campaign(campaign_file: str | Path = "campaign.yaml") -> Face:
    """Return a campaign of this home as it is now.

    Args:
        campaign_file: without one there, the campaign that was used last.

    Raises:
        UsageError: this home knows no such campaign.
        JournalDamaged: its journal cannot be believed.
    """
    return Face(page_now(find_session(Home(home_root()), SystemClock(), Path(campaign_file))))


def page_now(session: Session) -> Page:
    """Return everything that is to be said of a campaign at this moment, curves included."""
    return page_from(session.on_disk, session.view())
