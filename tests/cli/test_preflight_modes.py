"""What `lastro preflight` does beside checking: as a person types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lastro.cli import main

CAMPAIGN = """\
campaign: small
question: is it so?
provider: local
offers: offers.yaml
window: 24h
command: python job.py
control: {steps: 1}
"""
OFFERS = """\
offers:
  - {name: far, kind: hourly, price: 2.00 USD, provider: nuvem, seen: 2026-11-30, gpu: RTX 4090, lead: 4d}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    (work / "campaign.yaml").write_text(CAMPAIGN)
    (work / "offers.yaml").write_text(OFFERS)
    (work / "job.py").write_text("print(1)\n")
    monkeypatch.chdir(work)
    monkeypatch.setenv("LASTRO_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "80")
    return work


def typed(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main(["preflight", *words])
    said = capsys.readouterr()
    return int(left.value.code or 0), said.out, said.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--history", "--checklist"), "one at a time"),
        (("--history", "--full"), "--history checks no machine, so --full says nothing"),
        (("--profile", "--relock", "--why", "x"), "so --relock --why says nothing"),
        (("--probe", "2", "--max-spend", "-2 USD"), "for that no machine can be taken"),
        (("--probe", "2", "--max-spend", "2 USD", "--every=-1h"), "not a duration such as"),
        (("--probe", "0", "--max-spend", "2 USD"), "0 is not in the range"),
        (("--note", "../x", "its fan howls"), "not the id of a node"),
        (("--init",), "goes with --checklist"),
        (("--max-spend", "1 USD"), "goes with --probe"),
        (("--probe", "2"), "needs --max-spend"),
        (("--probe", "2", "--max-spend", "lots"), "is not an amount"),
        (("--probe", "2", "--max-spend", "1 USD", "--every", "soon"), "is not a duration"),
        (("--", "python", "train.py"), "is for --profile"),
        (("other.yaml", "--profile", "--", "python", "train.py"), "only be one of them"),
    ],
)
def test_what_does_not_go_together_is_refused_with_the_way_out(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    code, _out, err = typed(capsys, *words)

    assert code == 2 and said in err


def test_a_home_without_machines_says_so_and_a_note_changes_that(capsys: pytest.CaptureFixture[str]) -> None:
    assert "no machine yet" in typed(capsys, "--history")[1]
    assert typed(capsys, "--note", "node-1", "loud")[0] == 0

    told = json.loads(typed(capsys, "--history", "--json")[1])

    assert told["nodes"][0]["bad"] == "note: loud" and told["exit_code"] == 0
    assert "loud" in typed(capsys, "--history")[1]


def test_the_checklist_is_written_once_shown_and_part_of_the_plan(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    code, out, _err = typed(capsys, "--checklist")
    assert code == 11 and "10 open" in out and "--init" in out
    assert max(map(len, out.splitlines())) <= 80

    assert typed(capsys, "--checklist", "--init")[0] == 0
    assert typed(capsys, "--checklist", "--init")[0] == 2
    told = json.loads(typed(capsys, "--checklist", "--json")[1])
    assert {item["state"] for item in told["items"]} == {"missing"} and told["days"] == 7

    with pytest.raises(SystemExit):
        main(["plan", "--json"])
    plan = json.loads(capsys.readouterr().out)
    (finding,) = [one for one in plan["findings"] if one["code"] == "checklist_open"]
    assert "10 of 10 open" in finding["text"]


def test_a_job_that_cannot_be_seen_into_is_no_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _err = typed(capsys, "--profile", "--", "python", "job.py")

    assert code == 11 and "cannot be seen" in out
