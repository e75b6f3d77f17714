"""A real small campaign, closed and handed on: sealed measurements, the page for a notebook, the crate."""

from __future__ import annotations

import json

import pytest

from lastro.closeout.sealed import read_sealed
from lastro.paths import CampaignFolder
from tests.flow.campaigns import SmallCampaign


def test_a_closed_campaign_is_sealed_told_and_handed_on(campaign: SmallCampaign) -> None:
    """Two runs of 40 steps: each point is in the sealed file, and the manifest lists it."""
    rocrate = pytest.importorskip("rocrate.rocrate")
    pytest.importorskip("duckdb")
    assert campaign.lastro("run").returncode == 0

    again = campaign.lastro("close", "--synthesis", "notes.md", "--crate", "out", "--lang", "pt")
    twice = campaign.lastro("close", "--crate", "out")

    assert again.returncode == 0, again.stderr
    assert "não existe" not in again.stdout
    assert twice.returncode == 2  # nothing is overwritten
    page = (campaign.folder / "notes.md").read_text()
    assert page.startswith("# small: Adotar better\n")
    assert "## Referências de pedidos" in page
    folder = CampaignFolder(campaign.disk / "campaigns/small")
    listed = json.loads((folder.sealed / "index.json").read_text())["runs"]
    assert [(one["form"], one["points"]) for one in listed] == [("parquet", 40), ("parquet", 40)]
    points = read_sealed(folder.sealed / f"{listed[0]['run']}.parquet", "loss")
    assert list(points[1].steps) == list(range(1, 41))
    manifest = {entry["path"] for entry in json.loads(folder.close_manifest.read_text())["files"]}
    assert {"close/measurements/index.json", f"close/measurements/{listed[0]['run']}.parquet"} <= manifest
    crate = rocrate.ROCrate(campaign.folder / "out")
    assert {action["name"] for action in crate.root_dataset["mentions"]} == {"control", "better"}


def test_language_changes_neither_the_frozen_plan_nor_the_answer(campaign: SmallCampaign) -> None:
    """Frozen in English and planned again in Portuguese: the same digest, no revision."""
    frozen = campaign.json("plan", "--freeze")
    portuguese = campaign.lastro("plan", "--freeze", "--json", "--lang", "pt_BR")

    assert portuguese.returncode == 0, portuguese.stderr
    assert json.loads(portuguese.stdout)["digest"] == frozen["digest"]
