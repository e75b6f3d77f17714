from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lastro import strictjson
from lastro.cli import main


def lastro(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    return int(left.value.code or 0)


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    path = tmp_path / "campaign.yaml"
    path.write_text(
        f"campaign: c\ncommand: {sys.executable} train.py\ncontrol: {{}}\nwant: {{python: '>=3.10'}}\n"
    )
    return path


def test_a_good_machine_ends_with_code_0(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lastro("preflight", str(campaign), "--json") == 0

    report = strictjson.loads(capsys.readouterr().out)
    assert report["exit_code"] == 0 and report["findings"] and report["stack"]["node"] == report["node"]


def test_a_machine_that_must_not_be_trusted_ends_with_code_4_and_the_next_step(
    campaign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign.write_text(campaign.read_text().replace(">=3.10", ">=9.9"))

    assert lastro("preflight", str(campaign)) == 4

    out = " ".join(capsys.readouterr().out.split())
    assert "Python of the job" in out and "next: use another environment or image" in out


def test_a_disk_that_is_named_on_the_command_line_wins(campaign: Path, tmp_path: Path) -> None:
    assert lastro("preflight", str(campaign), "--disk", "/proc/none", "--json") == 4
