from __future__ import annotations

import json
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from lastro.closeout.reload import open_output

F32 = np.float32


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "m.safetensors"
    save_file({"a": np.ones((2, 3), F32), "b": np.arange(4), "c": np.zeros((0,), F32)}, path)
    return path


def problem(path: Path) -> str | None:
    opened = open_output(path)
    assert opened is not None
    return opened.problem


def raw(path: Path, header: object, data: bytes) -> Path:
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def test_a_whole_file_opens_and_nothing_is_left_unchecked(file: Path) -> None:
    opened = open_output(file)

    assert opened is not None
    assert (opened.loader, opened.problem, opened.unchecked) == ("safetensors", None, ())


@pytest.mark.parametrize("size", [0, 7, 8, 20, -1, -8])
def test_a_file_cut_anywhere_is_refused(file: Path, size: int) -> None:
    file.write_bytes(file.read_bytes()[:size])

    assert problem(file) is not None


def test_bytes_after_the_last_tensor_are_refused(file: Path) -> None:
    file.write_bytes(file.read_bytes() + b"x")

    assert "its tensors take" in str(problem(file))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_value_that_is_not_finite_is_found_and_its_tensor_named(
    tmp_path: Path, bad: float, dtype: type
) -> None:
    values: Any = np.ones(1000, dtype)
    values[777] = bad
    save_file({"good": np.ones(3, F32), "layer.7": values}, tmp_path / "m.safetensors")

    assert problem(tmp_path / "m.safetensors") == "tensor 'layer.7' holds NaN or infinity"


@pytest.mark.parametrize(
    ("bits", "is_bad"), [(0x7F80, True), (0xFFC0, True), (0x7F7F, False), (0x3F80, False)]
)
def test_bfloat16_is_looked_at_by_its_bits(tmp_path: Path, bits: int, is_bad: bool) -> None:
    header = {"w": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}}
    file = raw(tmp_path / "m.safetensors", header, struct.pack("<HH", 0, bits))

    assert (problem(file) is not None) is is_bad


@pytest.mark.parametrize(
    "header",
    [
        {"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}},
        {"w": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}},
        {"w": {"dtype": "F99", "shape": [2], "data_offsets": [0, 8]}},
        {"w": {"dtype": "F32", "shape": [-1, -2], "data_offsets": [0, 8]}},
        {"w": {"dtype": "F32", "shape": [2]}},
        {name: {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]} for name in "vw"},
        ["w"],
        {},
    ],
)  # fmt: skip
def test_a_header_that_does_not_fit_its_bytes_is_refused(tmp_path: Path, header: object) -> None:
    assert problem(raw(tmp_path / "m.safetensors", header, b"\0" * 8)) is not None


def test_without_numpy_the_unchecked_tensors_are_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)

    opened = open_output(file)

    assert opened is not None
    assert opened.problem is None
    assert opened.unchecked == ("a", "c")


def test_a_file_without_a_loader_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "m.bin").write_bytes(b"x")

    assert open_output(tmp_path / "m.bin") is None
