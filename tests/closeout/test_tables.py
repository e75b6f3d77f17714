from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest

from lastro.closeout.tables import TableDamaged, TableUnreadable, read_table


def lines(tmp_path: Path, text: str) -> Path:
    (tmp_path / "t.jsonl").write_text(text)
    return tmp_path / "t.jsonl"


def test_json_lines_have_the_cells_that_csv_would_have(tmp_path: Path) -> None:
    text = """
        {"id": 1, "p": "a", "s": 0.5, "n": null, "l": [1, "x"], "b": true}

        {"b": false, "id": 2, "p": "b", "s": 1e-7, "n": "", "l": []}
    """

    table = read_table(lines(tmp_path, text))

    assert table.columns == ("id", "p", "s", "n", "l", "b")
    assert table.rows == (("1", "a", "0.5", "", '[1,"x"]', "true"), ("2", "b", "1e-07", "", "[]", "false"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no line that names its columns"),
        ('{"a": 1}\n{"a"', "line 2 is not JSON"),
        ("[1]\n", "line 1 is no object"),
        ('{"a": 1}\n{"b": 1}\n', "line 2 has the keys b, the first line has a"),
        ('{"a": NaN}\n', "line 1 is not JSON"),
    ],
)
def test_damaged_json_lines_say_where(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(TableDamaged, match=why):
        read_table(lines(tmp_path, text))


def test_without_a_library_parquet_is_not_damaged_but_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    real = builtins.__import__

    def bare(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] in ("duckdb", "pyarrow"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", bare)

    with pytest.raises(TableUnreadable, match="duckdb or pyarrow"):
        read_table(tmp_path / "t.parquet")


@pytest.mark.parametrize("library", ["duckdb", "pyarrow"])
def test_parquet_has_the_cells_that_csv_would_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    duckdb, tables = pytest.importorskip("duckdb"), pytest.importorskip("lastro.closeout.tables")
    if library == "pyarrow":
        pytest.importorskip("pyarrow")
        monkeypatch.setattr(tables, "_with_duckdb", lambda _path: None)
    file = tmp_path / "t.parquet"
    duckdb.execute(
        f"COPY (SELECT 1 AS id, 'a' AS p, 0.5::DOUBLE AS s, NULL AS n) TO '{file}' (FORMAT parquet)"
    )

    table = read_table(file)

    assert (table.columns, table.rows) == (("id", "p", "s", "n"), (("1", "a", "0.5", ""),))
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(TableDamaged, match="no whole Parquet file"):
        read_table(file)
