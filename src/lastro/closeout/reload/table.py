"""Tables: a header, and as many cells in each row."""

from __future__ import annotations

from pathlib import Path

from lastro.closeout.reload.loader import Opened
from lastro.closeout.tables import TableDamaged, TableUnreadable, is_table, read_table
from lastro.locale import _


class TableLoader:
    """Opens CSV, TSV, JSON Lines, Parquet. Rows and ids are the controls' business: they know the promise."""

    name = "table"

    def reads(self, path: Path) -> bool:
        return is_table(path) and path.is_file()

    def open(self, path: Path) -> Opened:
        try:
            table = read_table(path)
        except TableUnreadable as error:
            return Opened(loader=self.name, weaker=str(error))
        except TableDamaged as error:
            return Opened(loader=self.name, problem=str(error))
        return Opened(loader=self.name, problem=None if table.rows else _("it has no rows"))
