"""The whole campaign in small: beside the real one, on processors, closing included."""

from __future__ import annotations

from pathlib import Path

from lastro.flow.small import tiny
from lastro.spec.campaign import Campaign
from tests.flow.campaigns import SmallCampaign


def campaign_of(**changed: object) -> Campaign:
    return Campaign.model_validate(
        {
            "campaign": "c",
            "command": "python train.py --epochs {epochs} --width {width}",
            "control": {"epochs": 12, "width": 64},
            **changed,
        }
    )


def test_each_run_is_tiny_and_two_that_are_the_same_then_are_one() -> None:
    small = tiny(
        campaign_of(
            variants={
                "long": {"changes": {"epochs": 40}},
                "wide": {"changes": {"width": 256}},
                "wide-and-long": {"changes": {"width": 256, "epochs": 40}},
            },
            smoke={"epochs": 1},
            window="1h",
            budget="1 USD",
            stop=[{"non_finite": "loss"}, {"floor": {"metric": "accuracy", "below": 0.5}}],
            want={"python": ">=3.10", "memory": ">=900 GB"},
            stages={"run": {"each": "run", "gpu": 1, "hours": 4}},
            plan_b={"run": {"gpu": "H100"}},
            move_on={"refusals": 1, "when_none_left": "ask"},
            disk={"path": "./disk", "mirror": "s3://bucket/real"},
        )
    )

    assert [run.name for run in small.runs()] == ["control", "wide"]
    assert all(run.config["epochs"] == 1 for run in small.runs())
    assert (small.window, small.budget, small.provider) == (None, None, "local")
    assert [rule.kind.value for rule in small.stop] == ["non_finite"]
    assert small.want == {"python": ">=3.10"}
    assert (small.stages, small.plan_b) == ({}, {})
    assert small.move_on.when_none_left == "stop"
    assert small.disk is not None and small.disk.mirror is None


def test_it_goes_from_the_file_to_the_report_and_leaves_the_real_campaign_alone(
    campaign: SmallCampaign,
) -> None:
    campaign.edit("checkpoint:", "smoke: {steps: 12}\ncheckpoint:")
    job = campaign.folder / "job.py"
    job.write_text(
        "import os\nassert os.environ['LASTRO_SMOKE'] == '1' and not os.environ['CUDA_VISIBLE_DEVICES']\n"
        + job.read_text()
    )

    result = campaign.json("run", "--smoke")
    done = campaign.lastro("run", "--smoke")
    real = campaign.lastro("status")

    assert result["exit_code"] == 0
    assert result["smoke"]["works"]
    assert {run["config"]["steps"] for run in result["runs"]} == {12}
    assert Path(result["report"]).is_relative_to(campaign.home)
    assert "smoke: the path works; the numbers mean nothing" in done.stdout
    assert real.returncode == 2
    assert not campaign.disk.exists()


def test_a_path_that_does_not_work_is_told(campaign: SmallCampaign) -> None:
    job = campaign.folder / "job.py"
    job.write_text(job.read_text().replace("range(10)", "range(9)"))

    done = campaign.lastro("run", "--smoke")

    assert done.returncode == 9
    assert "it does not work: control: predictions is rejected" in " ".join(done.stdout.split())


def test_it_takes_nothing_that_makes_it_less_than_the_whole(campaign: SmallCampaign) -> None:
    done = campaign.lastro("run", "--smoke", "--only", "control")

    assert done.returncode == 2
    assert "--only" in done.stderr
