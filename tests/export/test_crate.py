"""The crate is opened again by the library that others open it with."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest

from lastro.errors import UsageError
from lastro.export.crate import PROFILE, write_crate
from lastro.journal.events import EventType as E
from lastro.journal.views import CampaignView
from lastro.paths import CampaignFolder
from lastro.storage.digest import sha256_file
from tests.view.story import Story, adopted


@pytest.fixture
def folder(tmp_path: Path) -> CampaignFolder:
    """A campaign's folder as a closing leaves it, in small."""
    folder = CampaignFolder(tmp_path / "digits")
    for name, content in {
        "plan.json": "{}",
        "journal/home-1.jsonl": "{}\n",
        "close/report.html": "<!doctype html>",
        "runs/id-control/config.json": "{}",
        "runs/id-control/code/abc.tar": "tar",
        "runs/id-control/outputs/p.csv": "id,prediction\n",
        "runs/id-control/checkpoints/100-a1/tensors.safetensors": "x" * 1000,
        "runs/id-wide/config.json": "{}",
    }.items():
        path = folder.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


def closed(story: Story) -> CampaignView:
    story._add("id-control-2", 19, E.OUTPUT_PUBLISHED, {"path": "p.csv", "bytes": 14, "sha256": "a" * 64})
    story.home(92, E.CAMPAIGN_CLOSED, exit_code=0, root_digest="r", report_html="h", report_json="j")
    return story.view()


def opened(path: Path) -> Any:
    return pytest.importorskip("rocrate.rocrate").ROCrate(path)


@pytest.mark.parametrize("name", ["crate", "crate.zip"])
def test_the_library_opens_it_and_finds_runs_files_and_profile(
    folder: CampaignFolder, tmp_path: Path, name: str
) -> None:
    pytest.importorskip("rocrate")
    written = write_crate(folder, closed(adopted()), tmp_path / name)

    crate = opened(tmp_path / name)

    assert crate.name == "digits"
    assert crate.root_dataset["conformsTo"].id == PROFILE
    assert str(crate.datePublished).startswith("2026-11-30 10:32")
    actions = {action["name"]: action for action in crate.root_dataset["mentions"]}
    assert set(actions) == {"control", "wide"}
    control = actions["control"]
    assert control["actionStatus"] == "http://schema.org/CompletedActionStatus"
    assert [entity.id for entity in control["result"]] == ["runs/id-control/outputs/p.csv"]
    assert {entity.id for entity in control["object"]} == {
        "runs/id-control/config.json", "runs/id-control/code/abc.tar",
    }  # fmt: skip
    assert control["startTime"] == "2026-11-30T09:01:00.000000Z"
    assert control["instrument"].type == "SoftwareApplication"
    assert written.files == 7
    assert not any("checkpoints" in entity.id for entity in crate.data_entities)


def test_each_file_in_the_folder_has_the_digest_that_is_told(folder: CampaignFolder, tmp_path: Path) -> None:
    pytest.importorskip("rocrate")
    write_crate(folder, closed(adopted()), tmp_path / "crate")

    for entity in opened(tmp_path / "crate").data_entities:
        copy = tmp_path / "crate" / entity.id
        assert sha256_file(copy) == entity["sha256"] == sha256_file(folder.root / entity.id)


def test_a_campaign_that_is_open_is_not_handed_on(folder: CampaignFolder, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not closed"):
        write_crate(folder, adopted().view(), tmp_path / "crate")


def test_nothing_is_overwritten(folder: CampaignFolder, tmp_path: Path) -> None:
    (tmp_path / "crate").mkdir()

    with pytest.raises(UsageError, match="is there already"):
        write_crate(folder, closed(adopted()), tmp_path / "crate")


def test_without_the_library_it_says_how_to_get_it(
    folder: CampaignFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = builtins.__import__

    def missing(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("rocrate"):
            raise ImportError(name)
        return there(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(UsageError) as refused:
        write_crate(folder, closed(adopted()), tmp_path / "crate")

    assert refused.value.hint == "pip install 'lastro[crate]'"
