from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import pytest

from lastro.view import svg
from lastro.view.parts import Chart, Curve
from lastro.view.series import Series
from tests.view.story import curve


def chart(*curves: Series, name: str = "run", breaks: tuple[int, ...] = ()) -> Chart:
    lines = tuple(
        Curve(run=f"id-{index}", name=f"{name}-{index}", index=index, series=series, breaks=breaks)
        for index, series in enumerate(curves)
    )
    return Chart(metric="loss", curves=lines)


def heights(drawing: str) -> list[float]:
    """Return the heights of all points of all bands, in units of the drawing."""
    found = []
    for data in re.findall(r'<path class="band [^"]*" d="M([^"]+)"', drawing):
        numbers = [int(number) for number in re.findall(r"-?\d+", data)]
        y = 0
        for move in numbers[1::2]:
            y += move
            found.append(y / 2)
    return found


def test_a_single_spike_among_100k_points_is_drawn() -> None:
    values = [(step, 1.0) for step in range(100_000)]
    flat = heights(svg.line_chart(chart(curve("loss", values)), 90))
    values[54_321] = (54_321, 4.0)
    spiked = heights(svg.line_chart(chart(curve("loss", values)), 90))
    assert len(set(flat)) == 1
    # Values 1 and 4 lie three quarters of an axis from 0 or 1 to 4 apart: far more than a line's width.
    assert max(spiked) - min(spiked) > 100


def test_the_same_chart_is_the_same_text_and_well_formed() -> None:
    values = [(step, math.sin(step / 50)) for step in range(5000)]
    drawn = [svg.line_chart(chart(curve("loss", values), curve("loss", values[:900]))) for _time in range(2)]
    assert drawn[0] == drawn[1]
    ElementTree.fromstring(drawn[0])


def test_a_nan_is_marked_and_named() -> None:
    drawing = svg.line_chart(chart(curve("loss", [(1, 1.0), (2, math.nan)])))
    assert "run-0: 1 value that is not finite, NaN at step 2" in drawing
    assert ">NaN</text>" in drawing


@pytest.mark.parametrize(
    "values",
    [
        [(1, math.nan)],
        [(5, 0.0)],
        [(1, 1e308), (2, -1e308)],
        [(1, 1e-300), (2, 1e300)],
        [(1, -0.0), (2, 5e-324)],
        [(2**62, 1.0), (2**62 + 1, 2.0)],
    ],
)
def test_odd_values_still_make_a_chart(values: list[tuple[int, float]]) -> None:
    drawing = svg.line_chart(chart(curve("loss", values)))
    ElementTree.fromstring(drawing)
    assert "nan" not in re.sub(r'class="nan"', "", drawing) and "inf" not in drawing.replace("infin", "")


def test_values_over_many_decades_get_a_logarithmic_scale_and_say_so() -> None:
    assert "log scale" in svg.line_chart(chart(curve("loss", [(1, 1e-4), (2, 10.0)])))
    assert "log scale" not in svg.line_chart(chart(curve("loss", [(1, 0.0), (2, 10.0)])))


def test_names_and_metrics_cannot_break_out_of_the_drawing() -> None:
    drawing = svg.line_chart(
        chart(curve("loss", [(1, 1.0), (2, 2.0)]), name="<script>x</script>", breaks=(1,))
    )
    assert "<script" not in drawing
    ElementTree.fromstring(drawing)


def test_an_interruption_and_the_repeated_steps_are_drawn() -> None:
    series = curve("loss", [(1, 1.0), (2, 2.0), (3, 3.0)], [(3, 1.0), (4, 1.0)])
    drawing = svg.line_chart(chart(series, breaks=(3,)))
    assert "run-0 was interrupted at step 3" in drawing
    assert drawing.count('class="line earlier') == 1


def test_labels_that_would_overlap_are_moved_apart_within_the_chart() -> None:
    assert svg.spread([50.0, 50.0, 51.0], 13.0, 0.0, 200.0) == [50.0, 63.0, 76.0]
    assert svg.spread([195.0, 198.0], 13.0, 0.0, 200.0) == [187.0, 200.0]


def test_a_value_outside_the_axis_is_an_arrow_at_its_end() -> None:
    inside = svg.dot_track(0.5, 0.4, 0.6, (0.3, 0.7), "s1 d1")
    outside = svg.dot_track(0.1, 0.4, 0.6, (0.3, 0.7), "s1 d1")
    nothing = svg.dot_track(math.nan, 0.4, 0.6, (0.3, 0.7), "s1 d1")
    assert "<circle" in inside and "<circle" not in outside and 'class="off s1 d1"' in outside
    assert "<circle" not in nothing and "off" not in nothing


def test_runs_beyond_the_palette_differ_by_their_dash() -> None:
    names = {svg.run_class(index) for index in range(svg.COLOURS * 2)}
    assert len(names) == svg.COLOURS * 2
