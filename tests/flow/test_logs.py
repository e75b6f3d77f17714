"""Logs that are larger than memory."""

from __future__ import annotations

from lastro.clock import SystemClock
from lastro.flow.logs import CHUNK_BYTES, read_log
from lastro.flow.session import known_sessions
from lastro.paths import Home
from tests.flow.campaigns import SmallCampaign


def test_a_log_is_read_in_pieces(campaign: SmallCampaign) -> None:
    campaign.lastro("run", "--only", "control")
    (session,) = known_sessions(Home(campaign.home), SystemClock())
    run = next(run for run in session.view().runs if run.attempts)
    log = session.on_disk.run(run.id).attempt(1).log
    with log.open("ab") as file:
        file.truncate(3 * CHUNK_BYTES + 5)

    sizes = [len(piece) for piece in read_log(session, run)]

    assert sizes[1:] == [CHUNK_BYTES, CHUNK_BYTES, CHUNK_BYTES, 5]
    assert sum(sizes[1:]) == log.stat().st_size
