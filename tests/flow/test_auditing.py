"""A closed folder, moved away and audited there."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from lastro.cli import cli
from lastro.clock import SystemClock
from lastro.closeout.audit import Audit, Check
from lastro.closeout.signature import check_signature, sign
from lastro.errors import UsageError
from lastro.flow.auditing import audit
from lastro.paths import CampaignFolder
from tests.flow.campaigns import SmallCampaign, small_campaign
from tests.flow.flips import with_a_flip

#: Reloads what `total.json` says, unless a file outside forbids it: a machine on which it cannot work.
RELOAD = """
import json, os, sys
from pathlib import Path
if Path("{veto}").exists():
    sys.exit("this machine cannot")
score = json.loads(Path(sys.argv[1]).read_text())["score"]
rows = [f"{{i}},{{1 if i < score else 0}}" for i in range(10)]
out = Path(os.environ["LASTRO_OUTPUTS"], "predictions.csv")
out.write_text("id,prediction\\n" + "\\n".join(rows) + "\\n")
"""
MODEL = '\n  model: {path: total.json, reload: "python reload.py {path}", compare: predictions}\ndecision:'


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallCampaign]:
    """Return a campaign that was run to its report, with an expense that was typed after that."""
    folder = tmp_path_factory.mktemp("audit")
    made = small_campaign(folder)
    job = made.folder / "job.py"
    job.write_text(
        job.read_text().replace('"total": counter.total}', '"total": counter.total, "score": int(score)}')
    )
    (made.folder / "reload.py").write_text(RELOAD.format(veto=folder / "veto"))
    made.edit("\ndecision:", MODEL)
    made.edit("pace: 0.02", "pace: 0.001")
    # Where the machine is seen as it is, the test can make a reload fail without touching the folder.
    done = made.lastro("run", env={**made.environment, "LASTRO_RELOAD_LEVEL": "fresh"})
    assert done.returncode == 0, done.stdout + done.stderr
    said = made.lastro(
        "expense", "add", "2.50 USD", "--what", "labels", "--date", "2026-11-30", "--ref", "R-7"
    )
    assert said.returncode == 0, said.stderr
    yield made


@pytest.fixture
def moved(ended: SmallCampaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CampaignFolder:
    """Return a copy of its folder elsewhere, as a stranger would have it: without home, without the disk."""
    monkeypatch.setenv("LASTRO_RELOAD_LEVEL", "fresh")
    place = tmp_path / "elsewhere"
    shutil.copytree(ended.disk / "campaigns/small", place)
    return CampaignFolder(place)


#: What `typed` gives: the answer of `lastro ... --json`.
Typed = Callable[..., dict[str, Any]]


@pytest.fixture
def typed(ended: SmallCampaign, monkeypatch: pytest.MonkeyPatch) -> Typed:
    """Return a way to type commands beside the campaign file; in this process, which has loaded lastro."""
    monkeypatch.chdir(ended.folder)
    for name, value in ended.environment.items():
        monkeypatch.setenv(name, value)
    return lambda *words: json.loads(CliRunner().invoke(cli, [*words, "--json"]).stdout)


def look(folder: CampaignFolder, *, reload: bool = False, signers: Path | None = None) -> Audit:
    return audit(folder.root, SystemClock(), reload=reload, signers=signers)


def check(found: Audit, name: str) -> Check:
    return next(one for one in found.checks if one.name == name)


def test_a_moved_folder_holds_and_its_outputs_are_proven_again(moved: CampaignFolder) -> None:
    found = look(moved, reload=True)

    assert (found.exit_code, found.closed, found.damage) == (0, True, ())
    assert {one.name: one.state for one in found.checks} == {
        "chains": "ok", "files": "ok", "cost": "ok", "conclusion": "ok", "predictions": "ok", "reload": "ok",
        "copy": "open",
    }  # fmt: skip
    assert check(found, "reload").why == "4 outputs were proven again"
    assert check(found, "predictions").why == "2 metrics were computed again from predictions"


def test_one_flipped_byte_of_any_file_is_found_and_the_file_named(moved: CampaignFolder) -> None:
    """Each file in turn, at a place that hangs on its name.

    No following line holds the digest of a stream's last one: its last byte and its time are tried as well.
    """
    files = [path for path in sorted(moved.root.rglob("*")) if path.is_file() and path.stat().st_size]
    places = [(path, Random(path.name).randrange(path.stat().st_size)) for path in files]
    streams = sorted(moved.journal.glob("*.jsonl"))
    places += [(path, -1) for path in streams]
    places += [(path, path.read_bytes().rindex(b'"at":"20') + len('"at":"202')) for path in streams]
    assert len(places) > 50

    missed = [(str(path), place) for path, place in places if not _finds(moved, path, place)]

    assert missed == []


def _finds(folder: CampaignFolder, path: Path, place: int) -> bool:
    found = with_a_flip(path, place, lambda: look(folder))
    name = path.relative_to(folder.root).as_posix()
    return found.exit_code == 8 and name in {one.path for one in found.damage}


@pytest.mark.parametrize("name", ["close/manifest.json", "close/seal.json", "close/report.html", "plan.json"])
def test_a_file_that_is_gone_is_named(moved: CampaignFolder, name: str) -> None:
    (moved.root / name).unlink()

    found = look(moved)

    assert found.exit_code == 8
    assert name in {one.path for one in found.damage}


def test_nothing_is_loaded_from_a_folder_that_was_changed(moved: CampaignFolder) -> None:
    (moved.root / "added.txt").write_text("x")

    found = look(moved, reload=True)

    assert [one.path for one in found.damage] == ["added.txt"]
    assert check(found, "reload").state == "not repeated"


def test_a_reload_that_fails_has_a_code_of_its_own(moved: CampaignFolder, ended: SmallCampaign) -> None:
    veto = ended.folder.parent / "veto"
    veto.touch()
    try:
        found = look(moved, reload=True)
    finally:
        veto.unlink()

    assert found.exit_code == 9
    assert all("this machine cannot" in one.why for one in found.damage if one.path.endswith("total.json"))
    assert check(found, "predictions").state == "ok"


def test_what_is_not_asked_for_is_not_repeated_and_metrics_are_computed_all_the_same(
    moved: CampaignFolder,
) -> None:
    found = look(moved)

    assert check(found, "reload").state == "not repeated"
    assert check(found, "predictions").why == "2 metrics were computed again from predictions"
    assert found.exit_code == 0


def test_what_is_typed_after_the_closing_is_sealed_again_and_changes_no_report(
    moved: CampaignFolder, typed: Typed
) -> None:
    assert check(look(moved), "cost").state == "ok"
    assert typed("expense")["expenses"][0]["ref"] == "R-7"
    assert typed("close")["cost"]["lines"][-1]["what"] == "labels"
    assert '"R-7"' not in moved.report_json.read_text()


def test_an_invoice_file_is_held_against_the_bill(ended: SmallCampaign, typed: Typed) -> None:
    machine = typed("close")["machines"][0]["id"]
    bill = ended.folder / "bill.csv"
    bill.write_text(f"Description,Reference,Amount,Currency\nbox,{machine},9.00,USD\nlabels,R-7,2.50,USD\n")

    found = typed("invoice", "add", "bill.csv", "--number", "1", "--date", "2026-12-01")

    states = {line["ref"]: line["status"] for line in found["lines"]}
    assert states == {machine: "differs", "R-7": "matched"}
    assert found["invoice"]["source"].startswith("bill.csv, sha256 ")


def _elsewhere() -> Path | None:
    """Return a folder on another file system than that of temporary files, where there is one."""
    other = Path("/dev/shm")
    apart = other.is_dir() and other.stat().st_dev != Path(tempfile.gettempdir()).stat().st_dev
    return other if apart else None


@pytest.mark.skipif(_elsewhere() is None, reason="one file system only")
def test_a_home_on_another_file_system_gets_the_second_copy_by_itself_and_every_byte_of_it_was_read(
    ended: SmallCampaign, tmp_path: Path
) -> None:
    other = _elsewhere()
    assert other is not None
    with tempfile.TemporaryDirectory(dir=other, prefix="lastro-test-") as room:
        moved = SmallCampaign(tmp_path / "work", Path(room) / "home")
        shutil.copytree(ended.folder, moved.folder)
        shutil.copytree(ended.home, moved.home)
        (record,) = moved.home.glob("campaigns/*/campaign.json")
        record.write_text(record.read_text().replace(str(ended.folder), str(moved.folder)))

        done = moved.lastro("close", "--json")

        closing = json.loads(done.stdout)["closing"]
        (made,) = closing["copies"]
        assert (closing["state"], made["apart"], made["rehearsal"]) == ("closed", True, True)
        assert "the second copy" in done.stderr
        assert look(CampaignFolder(record.parent / "copy/small")).exit_code == 0
        assert check(look(CampaignFolder(moved.disk / "campaigns/small")), "copy").state == "ok"


def test_a_copy_on_the_same_disk_does_not_count_and_doing_without_is_said_with_its_reason(
    ended: SmallCampaign, typed: Typed
) -> None:
    assert typed("close")["closing"] == {"state": "sealed", "copies": []}

    copied = typed("close", "--copy", "second")
    refused = ended.json("close", "--copy", "second")
    waived = typed("close", "--no-second-copy", "--why", "the nightly backup has it")

    assert copied["closing"]["state"] == "sealed"
    (made,) = copied["closing"]["copies"]
    assert (made["apart"], made["rehearsal"]) == (False, True)
    assert look(CampaignFolder(ended.folder / "second/small")).exit_code == 0
    assert "is there already" in refused["error"]["message"]
    assert waived["closing"]["state"] == "closed"
    assert look(CampaignFolder(ended.disk / "campaigns/small")).exit_code == 0


def test_a_closing_that_was_killed_before_its_seal_is_sealed_by_the_next_command(
    ended: SmallCampaign, typed: Typed
) -> None:
    here = CampaignFolder(ended.disk / "campaigns/small")
    here.close_seal.unlink()
    assert look(here).exit_code == 8

    typed("close")

    assert look(here).exit_code == 0


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="no ssh-keygen")
def test_a_signature_is_of_whom_one_believes(
    moved: CampaignFolder, ended: SmallCampaign, typed: Typed, tmp_path: Path
) -> None:
    for name in ("ana", "eve"):
        os.spawnlp(
            os.P_WAIT, "ssh-keygen", "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)
        )
    signers = {}
    for name in ("ana", "eve"):
        signers[name] = tmp_path / f"of-{name}"
        signers[name].write_text(f"{name}@lab {(tmp_path / f'{name}.pub').read_text()}")

    before = look(moved)
    signed = typed("close", "--sign", str(tmp_path / "ana"))
    here = CampaignFolder(ended.disk / "campaigns/small")

    assert signed["decision"]["verdict"] == "adopt"
    assert "signature" not in {one.name for one in before.checks}
    assert check(look(here, signers=signers["ana"]), "signature").state == "ok"
    assert look(here, signers=signers["eve"]).exit_code == 8
    assert look(here).exit_code == 0, "it is a signature of these bytes, of whomever"
    sign(moved, tmp_path / "ana")
    assert check_signature(moved, None).state.value == "good"
    assert check_signature(moved, signers["ana"]).state.value == "good"
    assert check_signature(moved, signers["eve"]).state.value == "bad"
    moved.close_manifest.write_bytes(moved.close_manifest.read_bytes() + b" ")
    assert check_signature(moved, signers["ana"]).state.value == "bad"


def test_a_folder_without_a_journal_is_no_campaign(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="it has no journal"):
        look(CampaignFolder(tmp_path))
