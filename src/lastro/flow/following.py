"""Writes the file of the next campaign from an earlier one: with measured hours, and open doubts."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, MutableMapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from lastro.clock import Clock, from_iso
from lastro.errors import StorageError, UsageError
from lastro.flow.session import find_session
from lastro.journal.projections import project
from lastro.journal.streams import believed, read_journal
from lastro.journal.views import CampaignView
from lastro.locale import _
from lastro.paths import CampaignFolder, Home
from lastro.plan.estimates import Estimate, Observation, estimate
from lastro.plan.parts import Span
from lastro.view.outcome import outcome_of
from lastro.view.outcome_parts import StageRow

_NUMBERED = re.compile(r"(.*)-(\d+)")
_LONG = 4096


def following(earlier: Path, home: Home, clock: Clock) -> str:
    """Return the text of a campaign file that goes on from an earlier campaign.

    Args:
        earlier: its campaign file, of a campaign of this home; or its folder on a disk, of anywhere.
        home: where its journal is looked up.
        clock: for what of it still runs.

    Raises:
        UsageError: it is neither.
        StorageError: its file or its journal cannot be read.
    """
    if earlier.is_dir():
        folder = CampaignFolder(earlier)
        if not folder.journal.is_dir():
            raise UsageError(
                _("{path} is not the folder of a campaign: it has no journal").format(path=earlier),
                hint=_("it is called campaigns/NAME on the disk"),
            )
        streams = {name: believed(one).events for name, one in read_journal(folder.journal).items()}
        view, file = project(streams, clock.now()), folder.frozen_file
    else:
        session = find_session(home, clock, earlier)
        view, file = session.view(), session.on_disk.frozen_file
    if view.forecast is None:
        raise UsageError(_("this campaign has no frozen plan"), hint=_("run it with `lastro run`"))
    try:
        return next_file(file.read_text(), view)
    except OSError as error:
        raise StorageError(
            _("{path} cannot be read: {error}").format(path=file, error=error.strerror),
            hint=_("it is the campaign file as it was frozen; restore it from a copy"),
        ) from error


def next_file(text: str, view: CampaignView) -> str:
    """Return a campaign file with what a campaign has shown in it; what it cannot tell stays as it is.

    Args:
        text: the file of the earlier campaign.
        view: the earlier campaign.
    """
    from ruamel.yaml import YAML  # late: no other command of this family needs to write YAML

    yaml = YAML()
    yaml.width = _LONG
    yaml.preserve_quotes = True
    document = yaml.load(text)
    name = next_name(view.name)
    document["campaign"] = name
    told = [
        _("goes on from {campaign}, plan {digest}").format(
            campaign=view.name, digest=(view.forecast_digest or "")[:12]
        )
    ]
    outcome = outcome_of(view)
    by_stage: dict[str, list[StageRow]] = {}
    for row in outcome.stages if outcome is not None else ():
        by_stage.setdefault(row.stage, []).append(row)
    for stage, rows in by_stage.items():
        if stage in (document.get("stages") or {}):
            told += _put(document["stages"][stage], stage, rows, view)
    told += _carry(document, view)
    out = io.StringIO()
    yaml.dump(document, out)
    head = "".join(f"# {line}\n" for line in told)
    return head + out.getvalue()


def next_name(name: str) -> str:
    """Return the name of the next campaign: `digits-2` after `digits`, `digits-3` after that."""
    numbered = _NUMBERED.fullmatch(name)
    return f"{numbered[1]}-{int(numbered[2]) + 1}" if numbered else f"{name}-2"


def _put(
    stage: MutableMapping[str, Any], name: str, rows: Sequence[StageRow], view: CampaignView
) -> list[str]:
    """Put what was observed into a stage; return what is to be said of it."""
    seen = [row for row in rows if row.observed]
    if not seen:
        return []
    if "person" in stage:
        typed = max(row.observed or 0.0 for row in seen)
        stage["person"] = f"{typed:.4g}h"
        return [_("{stage}: typed, {hours:.4g} h").format(stage=name, hours=typed)]
    hours = stage.get("hours")
    if hours is None:
        return []
    if isinstance(hours, Mapping) and "hours" not in hours:
        return [
            _("{stage}: observed {hours} h; its hours go by card and stay as they are").format(
                stage=name, hours=", ".join(f"{row.observed:.4g}" for row in seen)
            )
        ]
    found = _estimate(seen, view)
    if found.span is None:
        return []
    span = found.span
    stage["hours"] = {
        "hours": [float(f"{one:.4g}") for one in (span.low, span.likely, span.high)],
        "origin": found.origin,
    }
    return [_("{stage}: {origin}; {why}").format(stage=name, origin=found.origin, why=found.why)]


def _estimate(rows: Sequence[StageRow], view: CampaignView) -> Estimate:
    declared = Span(
        low=min(row.low for row in rows),
        likely=max(row.likely for row in rows),
        high=max(row.high for row in rows),
    )
    observations = [
        Observation(hours=row.observed or 0.0, gpu=None, when=_when(row, view), campaign=view.name)
        for row in rows
    ]
    return estimate(observations, gpu=None, declared=declared)


def _when(row: StageRow, view: CampaignView) -> datetime:
    """Return when a stage ended, as far as its run tells; else the end of the campaign so far."""
    lives = [life for run in view.runs if run.name == row.run for life in run.attempts if life.ended_at]
    return from_iso(str(lives[-1].ended_at)) if lives else view.at


def _carry(document: MutableMapping[str, Any], view: CampaignView) -> list[str]:
    """Leave the uncertainties that are open in the file, and say what became of the others."""
    declared = tuple(document.get("uncertainties") or ())
    settled = {doubt.text: doubt.settled for doubt in view.doubts if doubt.settled is not None}
    left = [text for text in declared if text not in settled]
    if declared:
        if left:
            document["uncertainties"] = left
        else:
            del document["uncertainties"]
    return [
        _("settled: {doubt}: {why}").format(doubt=text, why=why)
        for text, why in settled.items()
    ]  # fmt: skip
