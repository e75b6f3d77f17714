"""Tables of text cells, as predictions and truth are delivered: CSV, or TSV by its suffix."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lastro.locale import _

#: Suffixes that are read as tables, with the character between two cells.
SEPARATORS: Mapping[str, str] = {".csv": ",", ".tsv": "\t"}
#: A cell longer than this is damage, not data.
_LONGEST_CELL = 1 << 24


class TableDamaged(ValueError):
    """A file is not the table that its name says; the message is a sentence for the user."""


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
    return path.suffix.lower() in SEPARATORS


def read_table(path: Path) -> Table:
    """Read a table whose first line names its columns; empty lines are passed over.

    Raises:
        TableDamaged: no header, a column named twice, a row with too few or too many cells, not UTF-8.
        OSError: the file cannot be read.
    """
    separator = SEPARATORS.get(path.suffix.lower(), ",")
    csv.field_size_limit(_LONGEST_CELL)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=separator)
            lines = [(reader.line_num, row) for row in reader if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise TableDamaged(_("it is not a table in UTF-8: {error}").format(error=error)) from error
    return _table(lines)


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
