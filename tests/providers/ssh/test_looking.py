from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lastro.providers.ssh.looking import Looker, News


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    for folder in ("journal", "runs/r1/attempts/1", "runs/r1/seats", "runs/r1/checkpoints/10-a1"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "journal" / "home-me.jsonl").write_text("mine\n")
    (tmp_path / "journal" / "r1-1.jsonl").write_text("one\n")
    (tmp_path / "runs/r1/attempts/1/heartbeat").write_text("step 1")
    (tmp_path / "runs/r1/checkpoints/10-a1/model.safetensors").write_bytes(b"x" * 100)
    return tmp_path


def told(news: News) -> dict[str, tuple[int, bytes]]:
    """Return offset and bytes of each file that a look told of."""
    found: dict[str, tuple[int, bytes]] = {}
    place = 0
    for one in news.files:
        found[one["path"]] = (one["offset"], news.body[place : place + one["length"]])
        place += one["length"]
    return found


def test_all_is_told_once_but_what_home_writes_and_what_is_large(campaign: Path) -> None:
    looker = Looker(campaign, ["home-me"], {})

    assert told(looker.look(1 << 20)) == {
        "journal/r1-1.jsonl": (0, b"one\n"),
        "runs/r1/attempts/1/heartbeat": (0, b"step 1"),
    }
    assert told(looker.look(1 << 20)) == {}


def test_what_grows_is_told_from_where_it_was_and_what_is_rewritten_whole(campaign: Path) -> None:
    looker = Looker(campaign, ["home-me"], {})
    looker.look(1 << 20)
    with (campaign / "journal" / "r1-1.jsonl").open("a") as file:
        file.write("two\n")
    (campaign / "runs/r1/attempts/1/heartbeat").write_text("step 22")

    assert told(looker.look(1 << 20)) == {
        "journal/r1-1.jsonl": (4, b"two\n"),
        "runs/r1/attempts/1/heartbeat": (0, b"step 22"),
    }


def test_what_became_shorter_is_told_whole(campaign: Path) -> None:
    """A torn last line is cut off by the next one who writes."""
    looker = Looker(campaign, ["home-me"], {})
    looker.look(1 << 20)
    (campaign / "journal" / "r1-1.jsonl").write_text("o\n")

    assert told(looker.look(1 << 20)) == {"journal/r1-1.jsonl": (0, b"o\n")}


def test_what_home_has_already_is_not_told_again(campaign: Path) -> None:
    looker = Looker(campaign, ["home-me"], {"journal/r1-1.jsonl": 4, "runs/r1/attempts/1/heartbeat": 6})

    assert told(looker.look(1 << 20)) == {"runs/r1/attempts/1/heartbeat": (0, b"step 1")}


def test_what_is_gone_is_told_once(campaign: Path) -> None:
    stop = campaign / "runs/r1/stop.json"
    stop.write_text("{}")
    looker = Looker(campaign, ["home-me"], {})
    looker.look(1 << 20)
    stop.unlink()

    assert looker.look(1 << 20).gone == ["runs/r1/stop.json"]
    assert looker.look(1 << 20).gone == []


def test_a_long_log_comes_in_pieces_and_nothing_of_it_twice(campaign: Path) -> None:
    text = bytes(range(256)) * 40
    (campaign / "runs/r1/attempts/1/log.txt").write_bytes(text)
    looker = Looker(campaign, ["home-me"], {})
    got = b""
    looks = 0
    more: Any = True

    while more:
        news = looker.look(1000)
        offset, data = told(news).get("runs/r1/attempts/1/log.txt", (len(got), b""))
        assert offset == len(got)
        got, more, looks = got + data, news.more, looks + 1

    assert got == text
    assert looks > 10
