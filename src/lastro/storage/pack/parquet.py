"""Text and tables as Parquet: smaller, and read by column. Values stay as they were, and are compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lastro import atomic
from lastro.errors import StorageError, UsageError
from lastro.locale import _
from lastro.records import dataclass
from lastro.storage.pack.names import shown
from lastro.storage.pack.tree import Entry, Kind, LeftOut, read_tree

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: How DuckDB reads each kind of table. A column of CSV stays text: 007 is no 7.
_TABLES = {
    ".csv": "read_csv(?, all_varchar=true, header=true)",
    ".tsv": "read_csv(?, all_varchar=true, header=true, delim='\t')",
    ".jsonl": "read_json(?, format='newline_delimited')",
    ".ndjson": "read_json(?, format='newline_delimited')",
}
_TEXTS = frozenset({".txt", ".md", ".text"})
#: Where all texts come together, a row each: `name`, `text`.
DOCUMENTS = "documents.parquet"


@dataclass(frozen=True, kw_only=True)
class Table:
    """A Parquet file that was written. `rows`: as many as the source has."""

    name: str
    rows: int
    bytes: int


@dataclass(frozen=True, kw_only=True)
class Tables:
    """What became of a folder. `left_out`: what is neither text nor table, and why."""

    folder: Path
    tables: tuple[Table, ...]
    left_out: tuple[LeftOut, ...]


def to_parquet(
    source: Path, target: Path, *, told: Callable[[int, int], None] = lambda _done, _total: None
) -> Tables:
    """Write each table below `source` as a Parquet file of its own, and all texts into one; compare each.

    The folder appears whole or not at all. `source` is only read.

    Args:
        source: a folder.
        target: a folder that is not there.
        told: gets (bytes done, bytes in all) of what is read.

    Raises:
        UsageError: source is a file, or target is there.
        StorageError: DuckDB is not installed, or a table cannot be read as one.
    """
    database = _connect()
    if target.exists():
        raise UsageError(_("{target} is there already").format(target=target), hint=_("name another folder"))
    tree = read_tree(source)
    left_out = [*tree.left_out, *(one for entry in tree.entries if (one := _unfit(entry)) is not None)]
    fit = [entry for entry in tree.entries if _unfit(entry) is None]
    total, done, written = sum(entry.size for entry in fit), 0, []
    with atomic.publish_folder(target) as aside:
        for entry in fit:
            name = entry.name.decode()
            if _suffix(entry) in _TABLES:
                reading = _TABLES[_suffix(entry)]
                written.append(_write(database, reading, str(source / name), aside, f"{name}.parquet"))
                done += entry.size
                told(done, total)
        texts = [entry for entry in fit if _suffix(entry) in _TEXTS]
        if texts:
            written.append(_write_texts(database, source, texts, aside))
    return Tables(folder=target, tables=tuple(written), left_out=tuple(left_out))


def _connect() -> DuckDBPyConnection:
    try:
        import duckdb
    except ImportError as error:
        raise StorageError(
            _("Parquet is written by DuckDB, which is not installed"),
            hint=_("pip install 'lastro[analysis]'"),
        ) from error
    # One thread, so that the same rows give the same bytes.
    return duckdb.connect(":memory:", config={"threads": "1"})


def _suffix(entry: Entry) -> str:
    return Path(entry.name.decode("utf-8", "replace")).suffix.lower()


def _unfit(entry: Entry) -> LeftOut | None:
    """Say why an entry becomes no row; None when it does."""
    suffix = _suffix(entry)
    if entry.kind is not Kind.FILE or (suffix not in _TABLES and suffix not in _TEXTS):
        return LeftOut(name=entry.name, why=_("it is neither text nor a table: pack it as tar"))
    try:
        entry.name.decode()
    except UnicodeDecodeError:
        return LeftOut(name=entry.name, why=_("its name is not UTF-8: pack it as tar"))
    return None


def _write(database: DuckDBPyConnection, reading: str, given: str, aside: Path, name: str) -> Table:
    import duckdb

    path = aside / name
    atomic.make_folder(path.parent)
    try:
        database.execute(f"CREATE OR REPLACE TEMP TABLE one AS SELECT * FROM {reading}", [given])  # noqa: S608 - from the table above
    except duckdb.Error as error:
        first = str(error).strip().splitlines()[0]
        raise StorageError(
            _("{path} cannot be read as a table: {error}").format(path=given, error=first),
            hint=_("mend it, or pack the folder as tar; nothing was written"),
        ) from error
    return _put(database, path, name)


def _write_texts(database: DuckDBPyConnection, source: Path, entries: Sequence[Entry], aside: Path) -> Table:
    database.execute("CREATE OR REPLACE TEMP TABLE one (name VARCHAR, text VARCHAR)")
    for entry in entries:
        name = entry.name.decode()
        try:
            text = (source / name).read_bytes().decode()
        except UnicodeDecodeError as error:
            raise StorageError(
                _("{name} is not UTF-8: {error}").format(name=shown(entry.name), error=error),
                hint=_("convert it, or pack the folder as tar; nothing was written"),
            ) from error
        database.execute("INSERT INTO one VALUES (?, ?)", [name, text])
    return _put(database, aside / DOCUMENTS, DOCUMENTS)


def _put(database: DuckDBPyConnection, path: Path, name: str) -> Table:
    """Write the table in memory, read the file again, and compare all of both."""
    database.execute("COPY one TO ? (FORMAT parquet, COMPRESSION zstd)", [str(path)])
    before = _facts(database, "one", [])
    after = _facts(database, "read_parquet(?)", [str(path)])
    if before != after:
        raise StorageError(
            _("{name} does not hold what its source does").format(name=name),
            hint=_("check the disk; nothing was written"),
        )
    return Table(name=name, rows=before[0], bytes=path.stat().st_size)


def _facts(database: DuckDBPyConnection, of: str, given: Sequence[str]) -> tuple[Any, ...]:
    """Return the number of rows, and a sum over the content of all of them."""
    asked = f"SELECT count(*), bit_xor(hash(rows)) FROM (SELECT * FROM {of}) AS rows"  # noqa: S608 - ours
    found = database.execute(asked, list(given)).fetchone()
    assert found is not None
    return tuple(found)
