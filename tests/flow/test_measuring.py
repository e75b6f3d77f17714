"""What is found of sizes beside the campaign file, and what is said when it cannot be found."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from lastro.clock import SystemClock
from lastro.flow import measuring
from lastro.flow.earlier import Earlier
from lastro.flow.measuring import found, measure
from lastro.flow.weights_here import weights_here
from lastro.paths import Home
from lastro.plan.disk_need import Measured
from lastro.plan.state import State
from lastro.spec.load import load_campaign
from tests.flow.weights import write_weights

FOREVER = float("inf")


def _tree(root: Path, folders: int, files: int) -> None:
    for folder in range(folders):
        (root / str(folder)).mkdir(parents=True)
        for number in range(files):
            (root / str(folder) / str(number)).write_bytes(bytes(10))


def _measure(folder: Path, extra: str) -> Measured:
    path = folder / "campaign.yaml"
    path.write_text("campaign: tiny\ncommand: python train.py\ncontrol: {width: 64}\n" + extra)
    loaded = load_campaign(path)
    return measure(
        loaded, loaded.spec, code_digest="c" * 64, earlier=Earlier(Home(folder / "home"), SystemClock())
    )


def test_bytes_and_files_below_a_folder_are_counted(tmp_path: Path) -> None:
    """Three folders of four files of ten bytes."""
    _tree(tmp_path / "data", 3, 4)

    counted = found(tmp_path / "data", FOREVER)

    assert (counted.bytes, counted.files, counted.at_least) == (120, 12, False)


def test_links_as_a_cache_of_weights_has_them_count_as_what_they_lead_to(tmp_path: Path) -> None:
    """Outside 5000 bytes count; a link to what is counted anyway, and one to a folder, add their own few."""
    _tree(tmp_path / "data", 1, 1)
    (tmp_path / "blob").write_bytes(bytes(5000))
    (tmp_path / "data" / "weights").symlink_to(tmp_path / "blob")
    (tmp_path / "data" / "again").symlink_to(tmp_path / "data" / "0" / "0")
    (tmp_path / "data" / "back").symlink_to(tmp_path)
    (tmp_path / "data" / "lost").symlink_to(tmp_path / "nowhere")

    counted = found(tmp_path / "data", FOREVER)

    assert counted.files == 5
    assert 5010 <= counted.bytes < 5010 + 3 * 300


def test_counting_ends_in_time_and_says_at_least(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is looked at before each folder: the time is over when three were read."""
    _tree(tmp_path / "data", 20, 2)
    looks = iter(range(1000))
    monkeypatch.setattr(measuring, "time", SimpleNamespace(monotonic=lambda: float(next(looks))))

    counted = found(tmp_path / "data", until=4.0)

    assert counted.at_least
    assert 0 < counted.files < 40
    assert counted.why.startswith("at least: data here")


def test_counting_ends_within_a_folder_of_very_many_files(tmp_path: Path) -> None:
    _tree(tmp_path / "data", 1, 2500)

    counted = found(tmp_path / "data", until=time.monotonic() - 1)

    assert counted.at_least
    assert counted.files == 0


def test_a_file_is_measured_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(77))

    assert (found(tmp_path / "file", FOREVER).bytes, found(tmp_path / "file", FOREVER).files) == (77, 1)


def test_what_a_campaign_names_is_measured_and_what_is_not_there_is_not_nothing(tmp_path: Path) -> None:
    _tree(tmp_path / "data", 1, 3)
    write_weights(tmp_path / "base" / "model.safetensors", {"a": ("BF16", [10, 10]), "b": ("F32", [5])})

    measured = _measure(
        tmp_path, "data: {weights: {base: {path: base}, lost: {path: lost}}, dataset: {path: data}}\n"
    )

    assert measured.paths["data"].bytes == 30
    assert set(measured.paths) == {"data", "base"}
    assert measured.weights["base"].elements == {"BF16": 100, "F32": 5}
    assert measured.weights["base"].bytes == 220
    assert (measured.saves, measured.code, measured.oddities) == (None, None, ())


# --- weights ------------------------------------------------------------------------------------------


def _shards(folder: Path, *, index: dict[str, str]) -> None:
    write_weights(folder / "model-00001-of-00002.safetensors", {"a": ("BF16", [10])})
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))


def test_shards_add_up(tmp_path: Path) -> None:
    write_weights(tmp_path / "model-00002-of-00002.safetensors", {"b": ("BF16", [7])})
    _shards(
        tmp_path,
        index={"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"},
    )

    read = weights_here(tmp_path)

    assert read is not None and read.weights is not None
    assert (read.weights.elements, read.oddities) == ({"BF16": 17}, ())
    assert read.weights.why == "the headers of 2 files"


def test_a_missing_shard_is_named_and_the_sum_unknown(tmp_path: Path) -> None:
    _shards(
        tmp_path,
        index={"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"},
    )

    read = weights_here(tmp_path)

    assert read is not None
    assert read.weights is None
    assert "model-00002-of-00002.safetensors, which is not there" in read.oddities[0]


@pytest.mark.parametrize(
    "content",
    [b"\xff" * 8 + b"{}", b"\x00" * 8, b"", b"\x02\x00\x00\x00\x00\x00\x00\x00[]"],
    ids=["absurd length", "no header", "empty", "a list"],
)
def test_a_header_that_cannot_be_one_is_told_and_not_believed(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)

    read = weights_here(path)

    assert read is not None
    assert read.weights is None
    assert read.oddities[0].startswith("model.safetensors is damaged")


def test_a_folder_without_safetensors_says_nothing_of_weights(tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(bytes(10))

    assert weights_here(tmp_path) is None


# --- the campaign's own code --------------------------------------------------------------------------

#: Stands for torch, which a fresh process would need seconds for; what is asked of it is what counts here.
NO_TORCH = 'raise ImportError("no torch in this Python")\n'


def _code(folder: Path, torch: str, train: str, within: str = "1min") -> State | str | None:
    (folder / "torch.py").write_text(torch)
    (folder / "train.py").write_text(train)
    return _measure(folder, f'data: {{state: {{from: "train:build", within: {within}}}}}\n').code


def test_without_torch_nothing_is_built_and_that_is_said(tmp_path: Path) -> None:
    said = _code(tmp_path, NO_TORCH, "")

    assert said == "train:build was not built: torch is missing (no torch in this Python)"


def test_code_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    said = _code(tmp_path, "import time\ntime.sleep(600)\n", "", within="1s")

    assert said == "train:build was not built within 1.0 s"


@pytest.mark.parametrize(
    ("train", "why"),
    [
        ("def other(): pass", "AttributeError"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("1 /", "SyntaxError"),
    ],
)
def test_code_that_cannot_be_built_says_why(tmp_path: Path, train: str, why: str) -> None:
    said = _code(tmp_path, "", train)

    assert isinstance(said, str)
    assert said.startswith("train:build cannot be built without memory")
    assert why in said
    assert not list(tmp_path.glob("__pycache__"))


def test_a_process_that_dies_says_so(tmp_path: Path) -> None:
    said = _code(
        tmp_path, "import os, sys\nsys.stderr.write('out of luck')\nsys.stderr.flush()\nos._exit(1)\n", ""
    )

    assert said == "train:build was not built: out of luck"
