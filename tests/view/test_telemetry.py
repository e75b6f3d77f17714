from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from lastro import strictjson
from lastro.paths import RunFolder
from lastro.view.as_json import page_json
from lastro.view.html import render
from lastro.view.model import page_of, with_uses
from lastro.view.parts import Live
from lastro.view.telemetry import Spread, last_sample, parse_samples, read_use, use_of
from lastro.view.telemetry_text import sample_text
from lastro.view.terminal import status
from tests.view.story import Story, adopted, planned
from tests.view.test_terminal import shown


def sample(t: float, **values: Any) -> dict[str, Any]:
    return {"t": t, "cpu": None, "rss": 1000, **values}


def gpu(use: float, memory: int = 0, power: float | None = None, held_back: tuple[str, ...] = ()) -> Any:
    return {"use": use, "memory": memory, "power": power, "temperature": 60, "held_back": list(held_back)}


def test_a_mean_counts_each_sample_for_the_time_since_the_one_before() -> None:
    """One core over 10 s and 4 cores over 30 s: (10 + 120) / 40 = 3.25."""
    use = use_of([[sample(0), sample(10, cpu=1.0), sample(40, cpu=4.0)]])

    assert use is not None
    assert use.spreads["cpu"] == Spread(mean=3.25, peak=4.0)
    assert use.seconds == 40


def test_attempts_follow_each_other_in_time_and_what_they_moved_adds_up() -> None:
    first = [sample(0, read=0, free=90), sample(10, cpu=1.0, read=5, free=70)]
    second = [sample(0, read=1, free=80), sample(20, cpu=3.0, read=8, free=75)]

    use = use_of([first, [], second])

    assert use is not None
    assert (use.seconds, use.read, use.free, use.written) == (30, 13, 70, None)
    assert [(bucket.first_step, bucket.mean) for bucket in use.curves["cpu"].buckets] == [
        (10, 1.0),
        (30, 3.0),
    ]


def test_gpus_are_a_mean_in_use_and_a_sum_in_memory_and_power() -> None:
    lines = [
        {"t": 0.0, "devices": [{"name": "A"}, {"name": "B"}]},
        {"t": 0.0, "gpu_level": "nvml"},
        sample(0, gpus=[gpu(0.5, 10, 100.0), gpu(0.7, 30, 200.0)]),
        sample(30, gpus=[gpu(0.6, 10, 100.0, ("power_cap",)), gpu(0.8, 30, None, ("power_cap",))]),
        sample(40, gpus=[gpu(1.0, 20, 100.0), gpu(1.0, 20, 100.0)]),
    ]

    use = use_of([lines])

    assert use is not None
    assert (use.devices, use.gpu_level, use.temperature) == (("A", "B"), "nvml", 60)
    assert use.spreads["gpu_use"].mean == pytest.approx((0.7 * 30 + 1.0 * 10) / 40)
    assert use.spreads["gpu_memory"].peak == 40
    assert use.spreads["gpu_power"].peak == 300
    assert use.held_back == {"power_cap": 0.75}


def test_nothing_sampled_is_no_use_and_not_zero() -> None:
    assert use_of([]) is None
    assert use_of([[{"t": 0.0, "gpu_level": "no_driver"}]]) is None
    page = with_uses(page_of(adopted().view()), {})
    assert page_json(page)["runs"][0]["telemetry"] is None
    assert "Machine use" not in render(page)


_odd = some.none() | some.booleans() | some.floats() | some.text() | some.integers() | some.lists(some.none())


@given(some.lists(some.dictionaries(some.sampled_from(["t", "cpu", "rss", "gpus", "free", "read"]), _odd)))
def test_whatever_stands_in_the_file_there_is_an_answer(lines: list[dict[str, Any]]) -> None:
    data = "\n".join(strictjson.dumps(line) for line in lines).encode() + b'\n[]\n{"t": 1, "rs'

    use_of([parse_samples(data)])


def test_samples_are_read_from_every_attempt_and_the_last_from_one(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    for number in (1, 2, 3):
        run.attempt(number).root.mkdir(parents=True)
    for number in (1, 2):
        text = "".join(strictjson.dumps(sample(t, cpu=float(number))) + "\n" for t in (0, 10))
        run.attempt(number).telemetry.write_text(text + '{"t": 20, "rs')

    use = read_use(run)

    assert use is not None and (use.samples, use.seconds) == (4, 20)
    assert last_sample(run, 2) == sample(10, cpu=2.0)
    assert last_sample(run, 3) is None


def test_the_report_and_the_json_tell_the_same_use_and_names_are_escaped() -> None:
    lines = [
        {"t": 0.0, "devices": [{"name": "<b>card</b>"}]},
        sample(0, gpus=[gpu(0.5)], memory=3, limit=4),
        sample(60, cpu=2.5, gpus=[gpu(0.5)], memory=3, limit=4),
    ]
    use = use_of([lines])
    assert use is not None
    page = with_uses(page_of(adopted().view()), {"id-control": use})

    html = render(page)

    assert "Machine use" in html and "&lt;b&gt;card&lt;/b&gt;" in html and "<b>card" not in html
    assert "75 % of all in use" in html and "2.50" in html
    assert [chart.metric for chart in page.use_charts] == [
        "processor cores in use", "memory of the job, bytes", "GPU in use, %", "GPU memory in use, bytes",
    ]  # fmt: skip
    told = page_json(page)["runs"][0]["telemetry"]
    assert told["cores"] == {"mean": 2.5, "peak": 2.5}
    assert (told["memory_share"], told["gpu_power"], told["gpus"]) == (0.75, None, ["<b>card</b>"])


def test_a_status_shows_the_last_sample() -> None:
    story = Story(planned())
    story.machine("m-1", 0)
    story.start("control", 1, 1)
    last = sample(9, cpu=1.94, rss=3_200_000_000, free=41_000_000_000, gpus=[gpu(0.93, 5_000_000_000, 320.0)])
    page = page_of(story.view(10), live={"id-control": Live(step=131, silent_seconds=2.0, sample=last)})

    text = " ".join(shown(status(page)).split())

    assert sample_text(last) == (
        "1.9 cores, 3.2 GB of memory, GPU 93 %, 5 GB of GPU memory, 320 W, 41 GB free on the disk"
    )
    assert sample_text(last) in text
    assert page_json(page)["now"][0]["telemetry"]["cpu"] == 1.94
