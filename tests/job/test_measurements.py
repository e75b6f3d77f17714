from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from lastro import strictjson
from lastro.errors import UsageError
from lastro.job.measurements import Measurements


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "measurements.0.jsonl"


def points(file: Path) -> list[dict[str, Any]]:
    return [strictjson.loads(line) for line in file.read_bytes().splitlines()]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (True, "1.0"),
        (0.1, "0.1"),
        (1e-300, "1e-300"),
        (float("nan"), '"NaN"'),
        (float("-inf"), '"-Infinity"'),
        (np.float32(0.5), "0.5"),
        (np.int64(3), "3.0"),
        (torch.tensor(2.5, requires_grad=True), "2.5"),
        (torch.tensor([4]), "4.0"),
    ],
)
def test_a_number_of_any_kind_is_strict_json(file: Path, value: object, text: str) -> None:
    Measurements(file, ()).log(7, {"loss": value})

    line = file.read_text()
    assert line.startswith('{"s":7,"t":') and line.endswith(',"v":{"loss":' + text + "}}\n")
    strictjson.loads(line)


def test_names_are_escaped(file: Path) -> None:
    Measurements(file, ()).log(1, {'a "b" é\n': 1})

    assert points(file)[0]["v"] == {'a "b" é\n': 1}


@pytest.mark.parametrize("value", ["1", b"1", None, [1], torch.ones(2), np.ones(2)])
def test_what_is_not_one_number_is_refused_by_name(file: Path, value: object) -> None:
    with pytest.raises(UsageError, match=r"log\(loss=...\)"):
        Measurements(file, ()).log(1, {"loss": value})
    assert file.read_bytes() == b""


class OnDevice:
    """Stands for a tensor on an accelerator: no such device is here. Counts how often it is waited for."""

    def __init__(self, value: float, waited: Callable[[], None]) -> None:
        self.value, self._waited = value, waited
        self.device = SimpleNamespace(type="cuda")

    def detach(self) -> OnDevice:
        return self

    def clone(self) -> OnDevice:
        return OnDevice(self.value, self._waited)

    def item(self) -> float:
        self._waited()
        return self.value


def test_a_value_on_a_device_is_not_waited_for_until_the_safe_point(file: Path) -> None:
    waits: list[int] = []
    measurements = Measurements(file, ())
    loss = OnDevice(0.5, lambda: waits.append(1))
    measurements.log(3, {"loss": loss, "rate": 0.1})
    loss.value = 9.0  # changed in place by the loop afterwards
    assert (waits, points(file)) == ([], [])

    measurements.settle()

    assert waits == [1]
    assert [(point["s"], point["v"]) for point in points(file)] == [(3, {"loss": 0.5, "rate": 0.1})]


def test_only_watched_values_wait_for_a_judgement(file: Path) -> None:
    measurements = Measurements(file, {"loss"})
    measurements.log(1, {"rate": 0.1})
    measurements.log(2, {"loss": 0.5, "rate": 0.1})

    assert measurements.settle() == [(2, {"loss": 0.5, "rate": 0.1})]
    assert measurements.settle() == []
