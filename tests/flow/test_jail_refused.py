"""A jail that was asked for and cannot be had: its machines are plain, and everybody says why."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.flow.campaigns import SmallCampaign


@pytest.fixture
def refusing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a bubblewrap first on the path that may make no namespaces, as in most rented containers."""
    tool = tmp_path / "bin" / "bwrap"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("LASTRO_LOCAL_LEVEL", "jailed")


@pytest.mark.usefixtures("refusing")
def test_a_jail_that_cannot_be_had_is_told_with_its_reason(campaign: SmallCampaign) -> None:
    why = "bwrap: No permissions to create new namespace"

    result = campaign.json("run", "--only", "control")
    status = campaign.lastro("status").stdout
    preflight = json.loads(campaign.lastro("preflight", "campaign.yaml", "--json").stdout)

    (machine,) = result["machines"]
    assert (machine["level"], machine["level_why"]) == ("plain", why)
    assert f"not jailed, although it was asked for: {why}" in " ".join(status.split())
    (finding,) = [one for one in preflight["findings"] if one["code"] == "isolation"]
    assert (finding["level"], why in finding["text"]) == ("warn", True)
