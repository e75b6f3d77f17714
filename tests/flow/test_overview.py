"""All campaigns of a home, with and without the index: the same answers, byte for byte."""

from __future__ import annotations

import json
import multiprocessing
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from lastro import atomic
from lastro.cli import cli
from lastro.clock import SystemClock
from lastro.flow import overview as module
from lastro.flow.overview import overview
from lastro.journal.events import EventType as E
from lastro.journal.streams import StreamWriter
from lastro.paths import Home
from tests.view.story import planned


def campaign(home: Home, name: str, question: str, *, closed: bool) -> Path:
    """Put a campaign into a home; return its stream."""
    kept = home.campaign(f"{name}-00000000")
    kept.journal.mkdir(parents=True)
    record = {
        "name": name, "campaign_file": f"/{name}.yaml", "disk": f"/no/{name}", "provider": "local",
        "key": f"{name}-00000000", "used": len(name),
    }  # fmt: skip
    atomic.write_text(kept.facts, json.dumps(record))
    writer = StreamWriter(
        kept.stream("home-1"), SystemClock(), {"campaign": name, "lastro": "0", "host": "h"}
    )
    plan = planned("wide", campaign=name, question=question)
    writer.append(E.PLAN_FROZEN, digest="d" * 64, plan=plan)
    lease = {
        "offer": "order 4711", "kind": "lot", "price": {"amount": "47.14", "currency": "USD"},
        "unit_seconds": 1, "minimum_seconds": 0, "term_seconds": 3600, "source": "declared",
    }  # fmt: skip
    writer.append(E.MACHINE_INTENDED, tag="t", provider="local", lease=lease, why="a run waits")
    if closed:
        writer.append(
            E.MACHINE_CREATED, tag="t", machine="m", node="n", requested_at="2026-11-30T08:00:00.000000Z"
        )
        writer.append(E.MACHINE_GONE, machine="m", cause="released", seconds=60.0)
        writer.append(E.CAMPAIGN_CONCLUDED, verdict="adopt", run="id-wide", why="wide is better", evidence={})
        writer.append(E.CAMPAIGN_CLOSED, exit_code=0, root_digest="r", report_html="h", report_json="j")
    writer.close()
    return kept.stream("home-1")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    campaign(home, "digits", "Does shifting help?", closed=True)
    campaign(home, "embeddings", "Is a smaller base enough?", closed=False)
    return home


def shown(home: Home, *arguments: str) -> str:
    asked = CliRunner().invoke(
        cli, ["status", "--all", *arguments], env={"LASTRO_HOME": str(home.root)}, catch_exceptions=False
    )
    assert asked.exit_code == 0
    return asked.output


def test_deleted_and_rebuilt_the_index_gives_the_same_answers_byte_for_byte(home: Home) -> None:
    first = (shown(home), shown(home, "--json"))
    second = (shown(home), shown(home, "--json"))
    home.index.unlink()
    third = (shown(home), shown(home, "--json"))

    assert first == second == third
    assert home.index.exists()


def test_what_was_folded_once_is_read_from_the_index(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    before = overview(home, SystemClock())
    monkeypatch.setattr(module, "project", None)  # whoever folds now, fails

    assert overview(home, SystemClock()) == before


def test_an_event_makes_the_row_of_its_campaign_anew(home: Home) -> None:
    overview(home, SystemClock())
    stream = home.campaign("embeddings-00000000").stream("home-1")
    writer = StreamWriter(stream, SystemClock(), {})
    writer.append(E.CAMPAIGN_CONCLUDED, verdict="undecided", run=None, why="nobody knows", evidence={})
    writer.close()

    (found,) = [one.summary for one in overview(home, SystemClock()) if one.facts.name == "embeddings"]

    assert found is not None
    assert (found.state, found.why) == ("undecided", "nobody knows")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ["digits", "embeddings"]),
        ("SHIFTING", ["digits"]),
        ("better wide", ["digits"]),
        ("smaller", ["embeddings"]),
        ("adopt", ["digits"]),
        ("no such word", []),
    ],
)
def test_every_word_that_is_asked_for_has_to_be_there(home: Home, text: str, names: list[str]) -> None:
    assert [one.facts.name for one in overview(home, SystemClock(), text)] == names


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\x00" + b"\xff" * 5000])
def test_an_index_that_is_none_is_passed_by_and_begun_anew(home: Home, content: bytes) -> None:
    before = shown(home)
    home.index.write_bytes(content)

    assert shown(home) == before
    assert shown(home) == before


def test_a_folder_where_the_index_should_be_changes_no_answer(home: Home) -> None:
    home.index.mkdir()
    before = shown(home)
    home.index.rmdir()

    assert shown(home) == before


def test_a_damaged_journal_is_listed_with_the_reason_whatever_is_asked_for(home: Home) -> None:
    shown(home)
    stream = home.campaign("digits-00000000").stream("home-1")
    stream.write_bytes(stream.read_bytes().replace(b"adopt", b"adapt"))

    told = shown(home, "no such word")

    assert told.startswith("digits  stream home-1 is damaged at line")


def test_two_languages_do_not_share_their_texts(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    english = shown(home)
    monkeypatch.setenv("LASTRO_LANG", "pt_BR")
    portuguese = shown(home)
    monkeypatch.setenv("LASTRO_LANG", "en")

    assert "adotar wide" in portuguese
    assert shown(home) == english


def _log(root: Path, number: int) -> None:
    home = Home(root)
    stream = campaign(home, f"c{number}", f"question {number}", closed=False)
    writer = StreamWriter(stream, SystemClock(), {})
    overview(home, SystemClock())
    for _time in range(3):
        writer.append(E.CAMPAIGN_CONCLUDED, verdict="undecided", run=None, why=f"why {number}", evidence={})
    os._exit(0)


def test_thirty_two_processes_that_write_and_ask_at_once_lose_nothing(home: Home) -> None:
    """Each adds a campaign, and between its events asks for all: at the end every last word is there."""
    fork = multiprocessing.get_context("fork")
    processes = [fork.Process(target=_log, args=(home.root, number)) for number in range(32)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
        assert process.exitcode == 0

    found = {one.facts.name: one.summary for one in overview(home, SystemClock())}

    assert len(found) == 34
    for number in range(32):
        summary = found[f"c{number}"]
        assert summary is not None
        assert summary.why == f"why {number}"
    home.index.unlink()
    assert {one.facts.name: one.summary for one in overview(home, SystemClock())} == found


def test_a_report_of_this_moment_is_written_where_it_is_wanted(home: Home, tmp_path: Path) -> None:
    asked = CliRunner().invoke(
        cli,
        ["status", "--campaign", "/digits.yaml", "--report", str(tmp_path / "now" / "r.html")],
        env={"LASTRO_HOME": str(home.root)},
        catch_exceptions=False,
    )

    assert asked.exit_code == 0, asked.output
    assert "Adopt wide" in (tmp_path / "now" / "r.html").read_text()
    assert "now/r.html\n" in asked.output


def test_a_report_of_all_campaigns_is_refused(home: Home, tmp_path: Path) -> None:
    asked = CliRunner().invoke(
        cli, ["status", "--all", "--report", str(tmp_path / "r.html")], env={"LASTRO_HOME": str(home.root)}
    )

    assert asked.exit_code != 0
    assert not (tmp_path / "r.html").exists()
