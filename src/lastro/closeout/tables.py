"""Tables of text cells, as predictions and truth are delivered: CSV, TSV, JSON Lines, Parquet."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from lastro import strictjson
from lastro.locale import _
from lastro.records import dataclass

#: Suffixes of tables in text, with the character between two cells.
SEPARATORS: Mapping[str, str] = {".csv": ",", ".tsv": "\t"}
LINES, PARQUET = ".jsonl", ".parquet"
#: A cell longer than this is damage, not data.
_LONGEST_CELL = 1 << 24


#: Names of columns, and rows of cells.
_Read = tuple[Sequence[str], Sequence[Sequence[str]]]


class TableDamaged(ValueError):
    """A file is not the table that its name says; the message is a sentence for the user."""


class TableUnreadable(ValueError):
    """A table may be whole, but nothing here can read it; the message says what is missing."""


@dataclass(frozen=True)
class Table:
    """A table as it was written: every cell a text, blanks around it removed."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def cells(self, column: str) -> tuple[str, ...]:
        """Return one column. Raises TableDamaged when it is not there."""
        return tuple(row[self.index(column)] for row in self.rows)

    def index(self, column: str) -> int:
        """Return the place of a column, counted from 0. Raises TableDamaged when it is not there."""
        if column not in self.columns:
            raise TableDamaged(
                _("there is no column '{column}'; the columns are: {columns}").format(
                    column=column, columns=", ".join(self.columns)
                )
            )
        return self.columns.index(column)

    def by_id(self, key: str | None) -> Mapping[str, tuple[str, ...]]:
        """Return rows by their id; without a key by their place, counted from 1.

        Raises:
            TableDamaged: there is no such column, or an id stands twice.
        """
        if key is None:
            return {str(place): row for place, row in enumerate(self.rows, start=1)}
        ids = self.cells(key)
        found = dict(zip(ids, self.rows, strict=True))
        if len(found) < len(ids):
            twice, count = Counter(ids).most_common(1)[0]
            raise TableDamaged(_("{key} '{id}' stands {count} times").format(key=key, id=twice, count=count))
        return found

    def value_column(self, key: str | None, name: str) -> str:
        """Return the column `name`, else the one column that is not the key.

        Raises:
            TableDamaged: there is neither.
        """
        if name in self.columns:
            return name
        others = [column for column in self.columns if column != key]
        if len(others) != 1:
            raise TableDamaged(
                _(
                    "there is no column '{name}', nor a single one beside the key; the columns are: {columns}"
                ).format(name=name, columns=", ".join(self.columns))
            )
        return others[0]


def number(text: str) -> float | None:
    """Return the number that a cell spells; None for a text. Digits grouped by `_` are a text."""
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def is_table(path: Path) -> bool:
    """Say whether a file is read as a table, by its suffix."""
    return path.suffix.lower() in (*SEPARATORS, LINES, PARQUET)


def read_table(path: Path) -> Table:
    """Read a table whose first line names its columns; empty lines are passed over.

    In JSON Lines each line is an object, and all have the same keys; a value that is no text is the cell that
    JSON spells, so that 0.5, "0.5" and the cell of a CSV are the same.

    Raises:
        TableDamaged: no header, a column named twice, a row with too few or too many cells, not UTF-8.
        TableUnreadable: it is Parquet, and neither duckdb nor pyarrow is installed.
        OSError: the file cannot be read.
    """
    suffix = path.suffix.lower()
    if suffix == PARQUET:
        return _read_parquet(path)
    if suffix == LINES:
        return _read_lines(path)
    separator = SEPARATORS.get(suffix, ",")
    csv.field_size_limit(_LONGEST_CELL)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=separator)
            lines = [(reader.line_num, row) for row in reader if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise TableDamaged(_("it is not a table in UTF-8: {error}").format(error=error)) from error
    return _table(lines)


def _read_lines(path: Path) -> Table:
    lines: list[tuple[int, Sequence[str]]] = []
    columns: list[str] = []
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                value = strictjson.loads(line)
            except ValueError as error:
                raise TableDamaged(
                    _("line {line} is not JSON: {error}").format(line=number, error=error)
                ) from error
            if not isinstance(value, dict):
                raise TableDamaged(_("line {line} is no object of JSON").format(line=number))
            if not columns:
                columns = list(value)
                lines.append((number, columns))
            if value.keys() != set(columns):
                raise TableDamaged(
                    _("line {line} has the keys {keys}, the first line has {expected}").format(
                        line=number, keys=", ".join(value), expected=", ".join(columns)
                    )
                )
            lines.append((number, [cell_of(value[column]) for column in columns]))
    return _table(lines)


def cell_of(value: object) -> str:
    """Return a value of JSON or Parquet as a cell; nothing is the empty cell."""
    if value is None:
        return ""
    return value if isinstance(value, str) else strictjson.dumps(value)


def _read_parquet(path: Path) -> Table:
    columns, rows = _with_duckdb(path) or _with_pyarrow(path) or ((), None)
    if rows is None:
        raise TableUnreadable(_("a Parquet file takes duckdb or pyarrow, and neither is installed"))
    return _table([(0, columns), *((place, row) for place, row in enumerate(rows, start=1))])


def _with_duckdb(path: Path) -> _Read | None:
    try:
        import duckdb
    except ImportError:
        return None
    try:
        with duckdb.connect(":memory:") as database:
            found = database.execute("SELECT * FROM read_parquet(?)", [str(path)])
            columns = [str(column[0]) for column in found.description]
            return columns, [[cell_of(_plain(value)) for value in row] for row in found.fetchall()]
    except duckdb.Error as error:
        raise TableDamaged(_("it is no whole Parquet file: {error}").format(error=error)) from error


def _with_pyarrow(path: Path) -> _Read | None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        return None
    try:
        found = parquet.read_table(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise TableDamaged(_("it is no whole Parquet file: {error}").format(error=error)) from error
    rows = zip(*(column.to_pylist() for column in found.columns), strict=True)
    return found.column_names, [[cell_of(_plain(value)) for value in row] for row in rows]


def _plain(value: object) -> object:
    """Return a value that JSON has; others (times, decimals) as their text."""
    return value if isinstance(value, (str, int, float, bool, list, dict, type(None))) else str(value)


def _table(lines: Sequence[tuple[int, Sequence[str]]]) -> Table:
    if not lines:
        raise TableDamaged(_("it has no line that names its columns"))
    columns = tuple(cell.strip() for cell in lines[0][1])
    if len(set(columns)) < len(columns):
        raise TableDamaged(_("a column is named twice: {columns}").format(columns=", ".join(columns)))
    for number, row in lines[1:]:
        if len(row) != len(columns):
            raise TableDamaged(
                _("line {line} has {count} cells, the header has {expected}").format(
                    line=number, count=len(row), expected=len(columns)
                )
            )
    return Table(columns, tuple(tuple(cell.strip() for cell in row) for _number, row in lines[1:]))
