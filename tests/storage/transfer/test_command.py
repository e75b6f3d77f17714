from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from lastro.cli import main
from lastro.storage.digest import digest_of
from tests.storage.pack.trees import content, plant

OFFERS = """
offers:
  - {name: eu, provider: p, gpu: A100, kind: hourly, price: 1 USD, region: eu-west-1, jurisdiction: EU}
  - {name: us, provider: p, gpu: A100, kind: hourly, price: 1 USD, region: us-east-1, jurisdiction: US}
egress:
  - {name: out, from: eu-west-1, price: 0.09 USD, per_request: none}
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LASTRO_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def call(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, dict[str, Any]]:
    with pytest.raises(SystemExit) as left:
        main(["disk", *map(str, arguments), "--json"])
    return int(left.value.code or 0), json.loads(capsys.readouterr().out)


def test_what_was_pushed_is_pulled_by_its_digest(
    bucket: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = plant(tmp_path / "source", count=5)
    (tmp_path / "offers.yaml").write_text(OFFERS)
    prices = ("--offers", tmp_path / "offers.yaml")

    code, sent = call(
        capsys, "push", source, f"s3://{bucket}/c", "--from", "eu-west-1", "--to", "us-east-1", *prices
    )
    digest = f"sha256:{sent['digest'][:12]}"
    back, fetched = call(capsys, "pull", digest, tmp_path / "back", "--to", "us-east-1", *prices)

    assert (code, back) == (0, 0)
    assert sent["digest"] == digest_of(source)
    assert [one["code"] for one in sent["estimate"]["findings"]] == ["region_crossed", "jurisdiction_crossed"]
    assert sent["estimate"]["bytes"] == sent["bytes"]
    assert fetched["verified"] == "sha256"
    assert fetched["why"] == "it is the only copy that is known"
    assert fetched["estimate"]["cost"] == {"amount": "0.00", "currency": "USD"}
    assert content(tmp_path / "back") == content(source)


def test_a_cap_stops_before_the_first_byte_and_its_code_is_that_of_a_stop_rule(
    bucket: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_bytes(b"x" * 20_000)
    target = f"s3://{bucket}/file"

    stopped, told = call(capsys, "push", tmp_path / "file", target, "--cap", "10 kB")
    again, _told = call(capsys, "push", tmp_path / "file", target)
    lifted, sent = call(capsys, "push", tmp_path / "file", target, "--cap", "none")

    assert (stopped, again, lifted) == (6, 6, 0)
    assert "cap" in told["error"]["message"]
    assert sent["moved_bytes"] > 20_000


def test_what_was_decided_of_each_file_is_told(
    bucket: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rows").write_bytes(os.urandom(100_000))
    target = f"s3://{bucket}/rows"

    code, sent = call(capsys, "push", tmp_path / "rows", target, "--compress")
    plain, as_before = call(capsys, "push", tmp_path / "rows", target)
    refused, told = call(capsys, "push", tmp_path / "rows", "ssh://nowhere/rows", "--compress")

    assert (code, plain, refused) == (0, 0, 2)
    assert sent["compression"] == [{"path": "", "compressed": False, "why": "a sample keeps 100%"}]
    assert as_before["compression"] == []
    assert "Compression yes" in told["error"]["next"]


def test_a_place_that_is_none_is_a_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = call(capsys, "push", tmp_path, "http://somewhere")

    assert code == 2
    assert "s3://" in told["error"]["next"]


def test_a_pack_is_made_verified_and_unpacked_by_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = plant(tmp_path / "source", count=5)
    before = content(source)

    packed, told = call(capsys, "pack", source, tmp_path / "packed", "--remove-source")
    verified, whole = call(capsys, "unpack", tmp_path / "packed", "--verify")
    unpacked, _facts = call(capsys, "unpack", tmp_path / "packed", tmp_path / "back")
    refused, _error = call(capsys, "unpack", tmp_path / "packed")

    assert (packed, verified, unpacked, refused) == (0, 0, 0, 2)
    assert told["digest"] == whole["digest"]
    assert told["removed"]["files"] == 10
    assert not source.exists()
    assert content(tmp_path / "back") == before
