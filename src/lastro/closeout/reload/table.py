"""Tables: a header, and as many cells in each row."""

from __future__ import annotations

from pathlib import Path

from lastro.closeout.reload.loader import Opened
from lastro.closeout.tables import TableDamaged, is_table, read_table
from lastro.locale import _


class TableLoader:
    """Opens CSV and TSV. Rows and ids are the controls' business: they know what was promised."""

    name = "table"

    def reads(self, path: Path) -> bool:
        return is_table(path)

    def open(self, path: Path) -> Opened:
        try:
            table = read_table(path)
        except TableDamaged as error:
            return Opened(loader=self.name, problem=str(error))
        return Opened(loader=self.name, problem=None if table.rows else _("it has no rows"))
