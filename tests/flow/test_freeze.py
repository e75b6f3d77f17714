"""What freezing brings to the disk."""

from __future__ import annotations

from tests.flow.campaigns import SmallCampaign


def test_a_corpus_that_was_changed_on_the_disk_is_not_trained_on(campaign: SmallCampaign) -> None:
    (campaign.folder / "data.csv").write_text("1\n2\n3\n")
    campaign.edit("stop:\n", "corpus: {path: data.csv, rows: 3}\nstop:\n")
    campaign.lastro("plan", "--freeze")
    (copy,) = campaign.disk.glob("data/*/data.csv")
    copy.write_text("1\n")

    refused = campaign.lastro("run")
    copy.unlink()
    repaired = campaign.lastro("plan", "--freeze")

    assert refused.returncode == 8
    assert str(copy) in refused.stderr
    assert not list(campaign.disk.glob("campaigns/small/runs/*/attempts/1"))
    assert repaired.returncode == 0
    assert copy.read_text() == "1\n2\n3\n"
