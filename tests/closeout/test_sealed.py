"""Sealed measurements are those that were measured, to the bit; what DuckDB reads otherwise is packed."""

from __future__ import annotations

import builtins
import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastro import strictjson
from lastro.closeout.sealed import read_sealed, seal_measurements
from lastro.paths import CampaignFolder
from lastro.view.series import parse_measurements

duckdb = pytest.importorskip("duckdb")


def write(folder: CampaignFolder, attempt: int, lines: bytes, rank: int = 0) -> Path:
    path = folder.run("r1").attempt(attempt).measurements(rank)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lines)
    return path


def line(step: int, **values: object) -> bytes:
    return (strictjson.dumps({"s": step, "t": step / 3, "v": values}) + "\n").encode()


def same(a: Any, b: Any) -> bool:
    """Compare by bytes: NaN equals NaN, and 0.0 is not -0.0."""
    return bool(a.steps.tobytes() == b.steps.tobytes() and a.values.tobytes() == b.values.tobytes())


def test_every_value_of_every_life_and_rank_is_there_again(tmp_path: Path) -> None:
    folder = CampaignFolder(tmp_path)
    first = write(folder, 1, b"".join(line(s, loss=1 / (s + 1), lr=0.1) for s in range(300)))
    write(folder, 2, b"".join(line(s, loss=2.0) for s in range(200, 260)) + b'{"s": 999, "torn')
    write(folder, 2, line(1, loss=-0.0), rank=1)

    (sealed,) = seal_measurements(folder)

    path = folder.sealed / "r1.parquet"
    assert (sealed.form, sealed.files, sealed.points, sealed.why) == ("parquet", ("r1.parquet",), 661, None)
    found = read_sealed(path, "loss")
    assert same(found[1], parse_measurements(first.read_bytes())[0]["loss"])
    assert list(found[2].steps) == list(range(200, 260))
    assert math.copysign(1, read_sealed(path, "loss", rank=1)[2].values[0]) == -1
    assert read_sealed(path, "nobody measured this") == {}
    assert sorted(file.name for file in folder.sealed.iterdir()) == ["index.json", "r1.parquet"]


@settings(max_examples=8, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 2**53), st.floats(), st.sampled_from(["loss", "/a", "$.b", "é 'x'", ""])),
        min_size=1,
        max_size=20,
    )
)
def test_any_float_under_any_name_comes_back_or_is_packed(
    tmp_path_factory: pytest.TempPathFactory, points: list[tuple[int, float, str]]
) -> None:
    folder = CampaignFolder(tmp_path_factory.mktemp("c"))
    raw = write(folder, 1, b"".join(line(step, **{name: value}) for step, value, name in points))

    (sealed,) = seal_measurements(folder)

    wanted = parse_measurements(raw.read_bytes())[0]
    if sealed.form == "parquet":
        for name, series in wanted.items():
            assert same(read_sealed(folder.sealed / "r1.parquet", name)[1], series)
    else:
        assert gzip.decompress((folder.sealed / sealed.files[0]).read_bytes()) == raw.read_bytes()


def test_infinities_and_nan_are_values(tmp_path: Path) -> None:
    folder = CampaignFolder(tmp_path)
    values = [math.inf, -math.inf, math.nan, 5e-324]
    write(folder, 1, b"".join(line(step, loss=value) for step, value in enumerate(values)))

    assert seal_measurements(folder)[0].form == "parquet"

    found = read_sealed(folder.sealed / "r1.parquet", "loss")[1].values
    assert [found[0], found[1], found[3]] == [math.inf, -math.inf, 5e-324]
    assert math.isnan(found[2])


def test_lines_that_cannot_be_read_are_packed_as_they_are_and_said_to_be(tmp_path: Path) -> None:
    folder = CampaignFolder(tmp_path)
    raw = write(folder, 1, line(1, loss=0.5) + b"no JSON\n" + line(2, loss=0.25))

    (sealed,) = seal_measurements(folder)

    assert (sealed.form, sealed.files) == ("jsonl.gz", ("r1.1.0.jsonl.gz",))
    assert sealed.why == "1 raw lines cannot be read"
    assert gzip.decompress((folder.sealed / "r1.1.0.jsonl.gz").read_bytes()) == raw.read_bytes()


def test_without_duckdb_the_lines_are_packed_and_the_reason_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = CampaignFolder(tmp_path)
    write(folder, 1, line(1, loss=0.5))
    there = builtins.__import__

    def missing(name: str, *rest: Any, **more: Any) -> Any:
        if name == "duckdb":
            raise ImportError(name)
        return there(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    seal_measurements(folder)
    monkeypatch.undo()

    listed = json.loads((folder.sealed / "index.json").read_text())["runs"][0]
    assert listed["form"] == "jsonl.gz"
    assert "pip install 'lastro[analysis]'" in listed["why"]


def test_a_parquet_file_that_says_something_else_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever DuckDB makes of the lines: here it is made to change one value in 500."""
    folder = CampaignFolder(tmp_path)
    write(folder, 1, b"".join(line(step, loss=float(step)) for step in range(500)))
    import lastro.closeout.sealed as module

    right = module._copy
    monkeypatch.setattr(
        module,
        "_copy",
        lambda *given: right(*given).replace("entry.value::DOUBLE", "greatest(1.0, entry.value::DOUBLE)"),
    )

    (sealed,) = seal_measurements(folder)

    assert (sealed.form, sealed.why) == ("jsonl.gz", "DuckDB reads the lines otherwise")
    assert not (folder.sealed / "r1.parquet").exists()


def test_a_campaign_that_measured_nothing_has_an_empty_listing(tmp_path: Path) -> None:
    assert seal_measurements(CampaignFolder(tmp_path)) == ()
    assert json.loads((tmp_path / "close/measurements/index.json").read_text()) == {"version": 1, "runs": []}


def test_sealing_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    folder = CampaignFolder(tmp_path)
    write(folder, 1, b"".join(line(step, loss=float(step)) for step in range(50)))
    seal_measurements(folder)
    before = (folder.sealed / "r1.parquet").read_bytes()
    seal_measurements(folder)

    assert (folder.sealed / "r1.parquet").read_bytes() == before
