from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from lastro.errors import StorageError, UsageError
from lastro.storage.pack.parquet import DOCUMENTS, to_parquet


def rows(path: Path) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = (
        duckdb.connect().execute("SELECT * FROM read_parquet(?)", [str(path)]).fetchall()
    )
    return found


def plant(folder: Path) -> Path:
    (folder / "a").mkdir(parents=True)
    (folder / "a" / "codes.csv").write_text("code,city\n007,S\u00e3o Paulo\n042,\n")
    (folder / "lines.jsonl").write_text('{"id": 1, "ok": true}\n{"id": 2, "ok": null}\n')
    (folder / "one.txt").write_text("first\nsecond\n")
    (folder / "photo.jpg").write_bytes(b"\xff\xd8")
    return folder


def test_values_stay_as_they_were_written(tmp_path: Path) -> None:
    """007 is no 7, and what is neither text nor table is told."""
    done = to_parquet(plant(tmp_path / "source"), tmp_path / "tables")

    assert rows(tmp_path / "tables" / "a" / "codes.csv.parquet") == [("007", "S\u00e3o Paulo"), ("042", None)]
    assert rows(tmp_path / "tables" / "lines.jsonl.parquet") == [(1, True), (2, None)]
    assert rows(tmp_path / "tables" / DOCUMENTS) == [("one.txt", "first\nsecond\n")]
    assert [(one.name, one.rows) for one in done.tables] == [
        ("a/codes.csv.parquet", 2),
        ("lines.jsonl.parquet", 2),
        (DOCUMENTS, 1),
    ]
    assert [one.name for one in done.left_out] == [b"photo.jpg"]


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    source = plant(tmp_path / "source")

    to_parquet(source, tmp_path / "one")
    to_parquet(source, tmp_path / "two")

    names = ["a/codes.csv.parquet", "lines.jsonl.parquet", DOCUMENTS]
    assert [(tmp_path / "one" / name).read_bytes() for name in names] == [
        (tmp_path / "two" / name).read_bytes() for name in names
    ]


@pytest.mark.parametrize(("name", "content"), [("bad.txt", b"\xff"), ("bad.jsonl", b'{"id": \n')])
def test_what_cannot_be_read_is_told_and_nothing_is_written(
    tmp_path: Path, name: str, content: bytes
) -> None:
    source = plant(tmp_path / "source")
    (source / name).write_bytes(content)

    with pytest.raises(StorageError, match="bad"):
        to_parquet(source, tmp_path / "tables")

    assert sorted(path.name for path in tmp_path.iterdir()) == ["source"]


def test_a_folder_that_is_there_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()

    with pytest.raises(UsageError, match="there already"):
        to_parquet(plant(tmp_path / "source"), tmp_path / "tables")
