"""Sizes of checkpoints as the journals of a home tell them: real journals, written by their one writer."""

from __future__ import annotations

from pathlib import Path

import pytest

from lastro.clock import SystemClock
from lastro.flow.earlier import Earlier
from lastro.flow.freeze import draw_up, freeze, open_session
from lastro.flow.measured_saves import measured_saves
from lastro.flow.session import Session
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
from lastro.paths import Home, stream_of_attempt

CODE = "print('training')\n"


def _campaign(folder: Path, home: Home, sizes: list[int], *, code: str = CODE) -> tuple[Path, str]:
    """Freeze a campaign whose control has saved so many bytes each time; return its file and code digest."""
    folder.mkdir(exist_ok=True)
    file = folder / "campaign.yaml"
    file.write_text("campaign: tiny\ncommand: python train.py\ncontrol: {width: 64}\ndisk: ./disk\n")
    (folder / "train.py").write_text(code)
    draft = draw_up(file, SystemClock())
    session = open_session(draft, home, SystemClock())
    with session.owned() as writer:
        assert writer is not None
        plan = freeze(draft, session, writer, None)
    _save(session, plan.runs[0].id, sizes)
    return file, plan.code_digest


def _save(session: Session, run: str, sizes: list[int]) -> None:
    writer = StreamWriter(session.on_disk.stream(stream_of_attempt(run, 1)), SystemClock(), {})
    writer.append(
        EventType.ATTEMPT_STARTED, run=run, name="control", attempt=1, machine="m", node="n", token="t",
        job={}, committed_step=None,
    )  # fmt: skip
    for step, size in enumerate(sizes):
        writer.append(
            EventType.CHECKPOINT_COMMITTED, step=step, folder=f"{step}-a1", bytes=size, seconds=0.1,
            why="due", healthy=True,
        )  # fmt: skip
    writer.close()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def test_a_home_that_has_seen_nothing_knows_nothing(home: Home, tmp_path: Path) -> None:
    assert measured_saves(Earlier(home, SystemClock()), tmp_path / "campaign.yaml", "c" * 64) is None


def test_the_largest_save_counts_with_the_number_of_all(home: Home, tmp_path: Path) -> None:
    file, digest = _campaign(tmp_path / "a", home, [5000, 7000, 6000])

    state = measured_saves(Earlier(home, SystemClock()), file, digest)

    assert state is not None
    assert (state.saved, state.once, state.memory) == (7000, 0, None)
    assert state.why == "measured: the largest of 3 saves with this code, 5 kB to 7 kB"


def test_what_was_written_once_beside_the_saves_is_measured_on_the_disk(home: Home, tmp_path: Path) -> None:
    file, digest = _campaign(tmp_path / "a", home, [5000])
    (checkpoints,) = (tmp_path / "a" / "disk" / "campaigns" / "tiny" / "runs").iterdir()
    base = checkpoints / "checkpoints" / "base"
    base.mkdir(parents=True)
    (base / "fixed.safetensors").write_bytes(bytes(900))

    state = measured_saves(Earlier(home, SystemClock()), file, digest)

    assert state is not None
    assert state.once == 900


def test_another_campaign_counts_when_its_code_is_the_same(home: Home, tmp_path: Path) -> None:
    _file, digest = _campaign(tmp_path / "a", home, [5000])
    _campaign(tmp_path / "b", home, [90_000], code="print('something else')\n")

    state = measured_saves(Earlier(home, SystemClock()), tmp_path / "new" / "campaign.yaml", digest)

    assert state is not None
    assert state.saved == 5000


def test_saves_of_older_code_stand_in_and_are_called_so(home: Home, tmp_path: Path) -> None:
    file, _digest = _campaign(tmp_path / "a", home, [5000])

    state = measured_saves(Earlier(home, SystemClock()), file, "d" * 64)

    assert state is not None
    assert "with older code" in state.why
    assert measured_saves(Earlier(home, SystemClock()), tmp_path / "other.yaml", "d" * 64) is None


def test_a_journal_that_cannot_be_believed_says_nothing(home: Home, tmp_path: Path) -> None:
    file, digest = _campaign(tmp_path / "a", home, [5000, 6000])
    (stream,) = (tmp_path / "a" / "disk").rglob("journal/*-1.jsonl")
    stream.write_text(stream.read_text().replace("5000", "9999"))

    assert measured_saves(Earlier(home, SystemClock()), file, digest) is None
