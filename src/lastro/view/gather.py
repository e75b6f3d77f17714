"""Brings together what a page needs from a campaign's folder: measurements and the heads of its streams."""

from __future__ import annotations

from collections.abc import Mapping

from lastro import strictjson
from lastro.errors import StorageError
from lastro.journal.streams import read_journal
from lastro.journal.views import CampaignView
from lastro.paths import CampaignFolder
from lastro.view.model import page_of, with_uses
from lastro.view.parts import Live, Page, PerAccepted
from lastro.view.series import read_run
from lastro.view.telemetry import Use, read_use


def page_from(
    folder: CampaignFolder,
    campaign: CampaignView,
    *,
    per_accepted: PerAccepted | None = None,
    live: Mapping[str, Live] | None = None,
    curves: bool = True,
) -> Page:
    """Return the page of a campaign whose folder can be read here. Reads, never writes.

    Args:
        folder: the campaign's folder on the disk.
        campaign: what the journal says of it.
        per_accepted: what the closing's account says an accepted unit cost.
        live: what is seen of living attempts, by run id.
        curves: read all measurements; False where only the state is wanted.
    """
    heads = {name: reading.head for name, reading in read_journal(folder.journal).items()}
    page = page_of(
        campaign,
        {run.id: read_run(folder.run(run.id)) for run in campaign.runs} if curves else {},
        per_accepted=per_accepted,
        live=live,
        heads=heads,
        folder=str(folder.root),
        report=str(folder.report_html) if folder.report_html.exists() else None,
        root_digest=_root_digest(folder),
    )
    return with_uses(page, _uses(folder, campaign)) if curves else page


def _root_digest(folder: CampaignFolder) -> str | None:
    try:
        found = strictjson.read(folder.close_manifest).get("root_digest")
    except (OSError, StorageError, AttributeError):
        return None
    return None if found is None else str(found)


def _uses(folder: CampaignFolder, campaign: CampaignView) -> dict[str, Use]:
    found = {run.id: read_use(folder.run(run.id)) for run in campaign.runs}
    return {run: use for run, use in found.items() if use is not None}
