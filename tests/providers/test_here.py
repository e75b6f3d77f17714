from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from lastro.clock import SystemClock
from lastro.errors import UsageError
from lastro.paths import Home
from lastro.providers.base import MachineRequest
from lastro.providers.here import Here, host_node


def request(tag: str, workdir: Path | None) -> MachineRequest:
    return MachineRequest(tag=tag, campaign="digits", disk=Path("/nowhere"), lease=None, workdir=workdir)


def test_the_node_is_this_box_whatever_the_campaign(home: Home, tmp_path: Path) -> None:
    here = Here(home, SystemClock())

    first, second = (here.create(request(tag, tmp_path)) for tag in ("first", "second"))

    assert first.node == second.node == host_node()
    assert first.id != second.id
    assert first.ready_at == first.created_at


def test_a_folder_to_run_in_is_needed(home: Home, tmp_path: Path) -> None:
    here = Here(home, SystemClock())

    for workdir in (None, tmp_path / "nowhere"):
        with pytest.raises(UsageError, match="folder"):
            here.create(request("first", workdir))
    assert here.machines() == []


def test_a_request_survives_its_record(tmp_path: Path) -> None:
    asked = dataclasses.replace(request("first", tmp_path), boot_seconds=1.5)

    assert MachineRequest.from_json(asked.as_json()) == asked
