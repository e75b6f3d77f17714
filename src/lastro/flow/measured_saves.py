"""How large checkpoints of earlier runs were, as the journals of this home say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lastro.checkpoint.store import BASE
from lastro.flow.earlier import Earlier
from lastro.flow.session import Session
from lastro.journal.views import CampaignView
from lastro.locale import _
from lastro.plan.state import State
from lastro.rules import ExpectedSave
from lastro.units import show_bytes


def measured_saves(earlier: Earlier, campaign_file: Path, code_digest: str | None) -> State | None:
    """Return the largest checkpoint that was made, with the number of those that were looked at.

    Saves with the same code count, of this campaign and of others. Where there is none, saves of this
    campaign file with other code do, and that is said.

    Args:
        earlier: what this home has done before.
        campaign_file: absolute; tells which campaign is this one.
        code_digest: of the code as it is now; None: only this campaign counts.
    """
    same: list[tuple[int, int]] = []
    older: list[tuple[int, int]] = []
    for session, view in earlier.campaigns:
        digest = view.plan["code_digest"] if view.plan else None
        if digest is not None and digest == code_digest:
            same += _saves(session, view, superseded=False)
            older += _saves(session, view, superseded=True) if _is(session, campaign_file) else ()
        elif _is(session, campaign_file):
            older += [*_saves(session, view, False), *_saves(session, view, True)]
    if same:
        return _largest(
            same, _("measured: the largest of {count} saves with this code, {smallest} to {largest}")
        )
    if older:
        return _largest(
            older, _("measured: the largest of {count} saves with older code, {smallest} to {largest}")
        )
    return None


def expected_save(session: Session, view: CampaignView) -> ExpectedSave | None:
    """Return the largest checkpoint that runs of this campaign have made with its code of now; None: none."""
    saves = list(_saves(session, view, superseded=False))
    if not saves:
        return None
    state = _largest(saves, _("the largest of {count} saves of this campaign, {smallest} to {largest}"))
    return ExpectedSave(bytes=state.saved, once=state.once, why=state.why)


def _is(session: Session, campaign_file: Path) -> bool:
    return session.facts.campaign_file == str(campaign_file)


def _saves(session: Session, view: CampaignView, superseded: bool) -> Iterator[tuple[int, int]]:
    """Yield the bytes of each save, and of what its run has written once beside it."""
    for run in view.runs:
        if (run.superseded_by is not None or run.status == "superseded") != superseded:
            continue
        once = _written_once(session.on_disk.run(run.id).checkpoints / BASE)
        for attempt in run.attempts:
            for save in attempt.checkpoints:
                yield save.bytes, once


def _written_once(folder: Path) -> int:
    """Return the bytes of what does not change; none where the disk is not here any more."""
    try:
        return max((file.stat().st_size for file in folder.iterdir()), default=0)
    except OSError:
        return 0


def _largest(saves: list[tuple[int, int]], text: str) -> State:
    sizes = [size for size, _once in saves]
    return State(
        saved=max(sizes),
        once=max(once for _size, once in saves),
        memory=None,
        why=text.format(count=len(sizes), smallest=show_bytes(min(sizes)), largest=show_bytes(max(sizes))),
    )
