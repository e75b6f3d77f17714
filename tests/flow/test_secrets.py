"""A canary secret, planted wherever people leave theirs, is written down nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.flow.campaigns import SmallCampaign

#: Made here, so that no file of the project holds what looks like a key.
CANARY = "hf_" + "C4n4ry" * 6
PASSWORD = "sing-C4n4ry-sing"


@pytest.fixture(autouse=True)
def _planted_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", CANARY)
    monkeypatch.setenv("SHOP_PASSWORD", PASSWORD)


def _files_with_the_canary(*folders: Path) -> list[str]:
    needles = (CANARY.encode(), PASSWORD.encode())
    return [
        str(path)
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and any(needle in path.read_bytes() for needle in needles)
    ]


def _on_disk_and_home(campaign: SmallCampaign) -> list[str]:
    assert campaign.disk.exists() and campaign.home.exists()
    return _files_with_the_canary(campaign.disk, campaign.home)


def test_a_job_has_its_secrets_in_the_environment_and_nothing_writes_them_down(
    campaign: SmallCampaign,
) -> None:
    """Both stand in an exception: the failure goes into journal and report, the traceback into the log."""
    job = campaign.folder / "job.py"
    job.write_text(
        job.read_text().replace(
            '    print("step", step, flush=True)\n',
            "    if step == 15:\n"
            '        secrets = os.environ["HF_TOKEN"], os.environ["SHOP_PASSWORD"]\n'
            '        raise RuntimeError("401 for https://me:%s@example.org/?token=%s" % secrets)\n',
        )
    )

    result = campaign.json("run")

    assert {run["status"] for run in result["runs"]} == {"failed"}
    assert "401 for https://me:[secret]@example.org/?token=[secret]" in result["runs"][0]["why"]
    logs = campaign.lastro("logs", "control").stdout
    assert "RuntimeError: 401 for https://me:[secret]@" in logs
    assert _on_disk_and_home(campaign) == []
    assert (campaign.disk / "campaigns/small/close/report.html").exists()
    assert CANARY not in str(result)


def test_code_with_a_key_in_it_is_refused_by_name_before_anything_is_frozen(campaign: SmallCampaign) -> None:
    (campaign.folder / "helper.py").write_text(f"import os\nTOKEN = '{CANARY}'\n")

    refused = campaign.lastro("run")

    assert refused.returncode == 2
    assert "helper.py:2 holds" in refused.stderr
    assert ".gitignore" in refused.stderr
    assert CANARY not in refused.stdout + refused.stderr
    assert _on_disk_and_home(campaign) == []
    (campaign.folder / "helper.py").write_text("import os\nTOKEN = os.environ['HF_TOKEN']\n")
    assert campaign.json("run")["decision"]["verdict"] == "adopt"
    assert _on_disk_and_home(campaign) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("command: python job.py", "command: python job.py --token CANARY"),
        ("control: {steps: 40,", "control: {token: CANARY, steps: 40,"),
        ("question: does", "question: CANARY does"),
        (
            "command: python job.py",
            "setup: pip install --index-url https://me:PASSWORD@example.org x\ncommand: python job.py",
        ),
    ],
)
def test_a_campaign_file_with_a_key_in_it_is_refused_with_its_line(
    campaign: SmallCampaign, old: str, new: str
) -> None:
    campaign.edit(old, new.replace("CANARY", CANARY).replace("PASSWORD", PASSWORD))
    if "control" in old:
        campaign.edit("{score}\n", "{score} {token}\n")

    refused = campaign.lastro("run")

    assert refused.returncode == 3, refused.stderr
    assert "campaign.yaml:" in refused.stderr
    assert "environment" in refused.stderr
    assert CANARY not in refused.stdout + refused.stderr
    assert _on_disk_and_home(campaign) == []


def test_code_that_changes_after_the_freezing_is_looked_at_again(campaign: SmallCampaign) -> None:
    assert campaign.lastro("plan", "--freeze").returncode == 0
    with (campaign.folder / "job.py").open("a") as job:
        job.write(f"# {PASSWORD}\n")

    refused = campaign.lastro("run")

    assert refused.returncode == 2
    assert "the variable SHOP_PASSWORD" in refused.stderr
    assert _on_disk_and_home(campaign) == []
