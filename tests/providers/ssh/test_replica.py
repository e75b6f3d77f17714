from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lastro.clock import ManualClock
from lastro.disk.facts import open_disk, read_disk
from lastro.errors import ProviderError, StorageError
from lastro.paths import Disk
from lastro.providers.ssh.channel import Channel
from lastro.providers.ssh.replica import Replica
from lastro.spec.addresses import Target

DATA = bytes(range(256)) * 40


class Told(Channel):
    """A connection whose answers are written down here: a machine may say anything."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        super().__init__(Target(host="gpu7"), ManualClock())
        self._answers = answers
        self.asked: list[Mapping[str, Any]] = []

    def connect(self) -> None:
        self.connections = 1

    def ask(
        self, question: str, body: bytes = b"", *, seconds: float = 1.0, **facts: Any
    ) -> tuple[Mapping[str, Any], bytes]:
        self.asked.append({"ask": question, "seconds": seconds, **facts})
        answer: tuple[Mapping[str, Any], bytes] = self._answers[question](facts)
        return answer


def replica(tmp_path: Path, **answers: Any) -> tuple[Replica, Told]:
    """Return home's copy of a disk that was opened."""
    there = Disk(tmp_path / "there")
    uuid = open_disk(there).uuid
    marker = there.facts.read_bytes()
    usual = {
        "disk": lambda _facts: ({"path": "/disk"}, marker),
        "know": lambda _facts: ({}, b""),
        "look": lambda _facts: (look(uuid), b""),
        "list": lambda _facts: ({}, b"[]"),
    }
    channel = Told({**usual, **answers})
    made = Replica(channel, "disk", Disk(tmp_path / "copy"), ManualClock())
    made.open(None)
    return made, channel


def look(uuid: str, *files: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"files": files, "gone": [], "more": False, "living": [], "boot": "b", "disk": uuid}


@pytest.mark.parametrize("name", ["../../../evil", "/evil", "runs/../../../../evil"])
def test_a_machine_cannot_write_outside_of_the_copy(tmp_path: Path, name: str) -> None:
    file = {"path": name, "offset": 0, "length": 1, "more": False}
    made, channel = replica(tmp_path)
    uuid = read_disk(made.local).uuid
    channel._answers = {**channel._answers, "look": lambda _facts: (look(uuid, file), b"x")}

    with pytest.raises(ProviderError, match="outside of the campaign"):
        made.exchange(made.local.campaign("small"), "home-1", ())

    assert not list(tmp_path.rglob("evil"))


def test_who_looks_on_brings_nothing_there(tmp_path: Path) -> None:
    made, channel = replica(tmp_path, put=lambda _facts: ({"done": True}, b""))
    campaign = made.local.campaign("small")
    campaign.journal.mkdir(parents=True)
    campaign.stream("home-1").write_text("{}\n")

    made.exchange(campaign, "home-1", (), reading=True)
    assert not [one for one in channel.asked if one["ask"] == "put"]

    made.exchange(campaign, "home-1", (), now=True)
    assert [one["path"] for one in channel.asked if one["ask"] == "put"] == [
        "campaigns/small/journal/home-1.jsonl"
    ]


@pytest.mark.parametrize("name", ["../../../../../evil", "/evil"])
def test_an_output_cannot_lie_outside_of_the_outputs(tmp_path: Path, name: str) -> None:
    made, _channel = replica(tmp_path, list=lambda _facts: ({}, json.dumps([[name, 1]]).encode()))
    campaign = made.local.campaign("small")
    campaign.run("r1").outputs.mkdir(parents=True)

    with pytest.raises(ProviderError, match="outside of the campaign"):
        made.fetch(campaign)

    assert not list(tmp_path.rglob("evil"))


def fetching(tmp_path: Path, digest: str) -> tuple[Replica, Told, Path]:
    """Return a copy that is to fetch one output, of which half has arrived before a kill."""
    listed = json.dumps([["model.bin", len(DATA)]]).encode()
    made, channel = replica(
        tmp_path,
        list=lambda facts: ({}, listed if facts["path"].endswith("outputs") else b"[]"),
        digest=lambda _facts: ({"sha256": digest}, b""),
        get=lambda facts: ({}, DATA[facts["offset"] :]),
    )
    outputs = made.local.campaign("small").run("r1").outputs
    outputs.mkdir(parents=True)
    (outputs / ".tmp-arriving-model.bin").write_bytes(DATA[:5000])
    return made, channel, outputs


def test_an_output_is_gone_on_with_where_a_kill_has_left_it(tmp_path: Path) -> None:
    made, channel, outputs = fetching(tmp_path, hashlib.sha256(DATA).hexdigest())

    made.fetch(made.local.campaign("small"))

    assert [one["offset"] for one in channel.asked if one["ask"] == "get"] == [5000]
    assert (outputs / "model.bin").read_bytes() == DATA
    assert [path.name for path in outputs.iterdir()] == ["model.bin"]


def test_other_bytes_are_no_output_and_are_fetched_anew(tmp_path: Path) -> None:
    made, _channel, outputs = fetching(tmp_path, "0" * 64)

    with pytest.raises(StorageError, match="arrived with other bytes"):
        made.fetch(made.local.campaign("small"))

    assert list(outputs.iterdir()) == []


def test_a_large_file_has_time_to_be_read(tmp_path: Path) -> None:
    """60 GB at 10 MB/s: 6000 s, and the minute of any answer."""
    listed = json.dumps([["model.bin", 60 * 10**9]]).encode()
    made, channel = replica(
        tmp_path, list=lambda _facts: ({}, listed), digest=lambda _facts: ({"sha256": ""}, b"")
    )
    made.local.campaign("small").run("r1").outputs.mkdir(parents=True)

    with pytest.raises(KeyError, match="get"):  # nothing is to be fetched here
        made.fetch(made.local.campaign("small"))

    assert next(one["seconds"] for one in channel.asked if one["ask"] == "digest") == 6060
