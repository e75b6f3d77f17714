from __future__ import annotations

from pathlib import Path

import pytest

from lastro.clock import ManualClock
from lastro.closeout.last_manifest import check_close_manifest, write_close_manifest
from lastro.errors import StorageError
from lastro.journal.events import EventType
from lastro.journal.streams import StreamWriter
from lastro.paths import CampaignFolder


@pytest.fixture
def folder(tmp_path: Path) -> CampaignFolder:
    folder = CampaignFolder(tmp_path / "digits")
    outputs = folder.run("r1").outputs
    outputs.mkdir(parents=True)
    (outputs / "p.csv").write_text("id\n1\n")
    folder.plan.write_text("{}")
    writer(folder).close()
    return folder


def writer(folder: CampaignFolder) -> StreamWriter:
    return StreamWriter(folder.stream("home-1"), ManualClock(), {"campaign": "digits"})


def test_what_is_left_is_listed_and_the_closing_can_still_be_told(folder: CampaignFolder) -> None:
    root = write_close_manifest(folder)
    stream = writer(folder)
    stream.append(EventType.CAMPAIGN_CLOSED, exit_code=0, root_digest=root)
    stream.close()
    folder.report_html.write_text("<html>")

    assert check_close_manifest(folder) == []
    assert len(root) == 64


def test_the_same_folder_has_the_same_root_digest(folder: CampaignFolder) -> None:
    first = write_close_manifest(folder)
    folder.report_json.write_text("{}")

    assert write_close_manifest(folder) == first


def test_a_changed_an_absent_and_a_new_file_are_told(folder: CampaignFolder) -> None:
    write_close_manifest(folder)
    (folder.run("r1").outputs / "p.csv").write_text("id\n2\n")
    (folder.run("r1").outputs / "q.csv").write_text("id\n2\n")
    folder.plan.unlink()

    assert [problem.split()[0] for problem in check_close_manifest(folder)] == [
        "plan.json", "runs/r1/outputs/p.csv", "runs/r1/outputs/q.csv"
    ]  # fmt: skip


def test_a_manifest_that_was_changed_to_fit_is_found_by_its_root(folder: CampaignFolder) -> None:
    write_close_manifest(folder)
    text = folder.close_manifest.read_text()
    folder.close_manifest.write_text(text.replace('"path": "plan.json"', '"path": "plan2.json"'))
    folder.plan.rename(folder.root / "plan2.json")

    assert any("root digest" in problem for problem in check_close_manifest(folder))


def test_a_journal_that_lost_or_changed_lines_is_found(folder: CampaignFolder) -> None:
    stream = writer(folder)
    stream.append(EventType.PLAN_FROZEN, digest="d", plan={})
    stream.append(EventType.CAMPAIGN_CONCLUDED, verdict="adopt")
    stream.close()
    write_close_manifest(folder)
    path = folder.stream("home-1")
    whole = path.read_bytes()

    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    assert check_close_manifest(folder) == ["stream home-1 has 2 of 3 events"]

    path.write_bytes(whole.replace(b'"adopt"', b'"keep!"'))
    assert check_close_manifest(folder) == ["event 3 of stream home-1 is not the one that was closed"]

    path.write_bytes(whole.replace(b'"digest":"d"', b'"digest":"e"'))
    with pytest.raises(StorageError, match="damaged"):
        write_close_manifest(folder)
    assert check_close_manifest(folder) == ["stream home-1 is damaged at line 3"]
