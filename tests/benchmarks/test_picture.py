"""The picture of what a save costs has the figures of the benchmark, in both themes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from benchmarks.picture import LEFT, METHODS, RIGHT, WIDTH, bars_of, main


def a_result() -> dict[str, Any]:
    """Each way takes twice what the one before it took; lastro stands still for 64 s, of 128 s in all."""
    measures = []
    for number, name in enumerate(METHODS):
        blocked = 2.0**number
        durable = "durable, hashed, published" if name == "lastro" else "durable"
        for what, value in (("blocked", blocked), ("blocked + slowdown", 2 * blocked), (durable, blocked)):
            measures.append({"name": f"{name}: {what}", "value": value})
    return {"measures": measures, "notes": ["1000 MB, 5 rounds"]}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_bars_are_as_long_as_the_seconds(tmp_path: Path, theme: str) -> None:
    source = tmp_path / "result.json"
    source.write_text(json.dumps({"benchmarks": {"checkpoint": a_result()}}))

    assert main([str(source), str(tmp_path / "save")]) == 0

    picture = ElementTree.fromstring((tmp_path / f"save-{theme}.svg").read_text())
    rows = [one for one in picture.iter("{http://www.w3.org/2000/svg}rect") if one.get("height") == "16"]
    widths = [float(str(one.get("width"))) for one in rows]
    whole = WIDTH - LEFT - RIGHT
    assert widths[-3:] == [pytest.approx(whole / 2, abs=0.1)] * 3
    assert widths[:3] == [pytest.approx(whole / 128, abs=0.1)] * 3
    texts = [one.text for one in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == "A save of 1000 MB, in seconds" and "128.00 s" in texts


def test_a_way_that_could_not_be_measured_here_is_left_out() -> None:
    result = a_result()
    result["measures"] = [one for one in result["measures"] if "Fabric" not in one["name"]]

    assert [bar.name for bar in bars_of(result)] == [name for name in METHODS if "Fabric" not in name]


def test_a_result_of_something_else_is_refused() -> None:
    with pytest.raises(KeyError):
        bars_of({"measures": []})
