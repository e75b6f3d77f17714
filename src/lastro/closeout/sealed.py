"""What the runs measured, sealed beside the raw files: Parquet by DuckDB, or the same lines packed by gzip.

A Parquet file is believed only after every value that lastro's own reader finds in the raw lines was found in
it again, in the same order and to the bit. Where DuckDB is missing, or reads the lines otherwise, the raw
lines are packed as they are, and the listing says why. The raw files stay where they are.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lastro import atomic, strictjson
from lastro.locale import _
from lastro.paths import CampaignFolder, RunFolder
from lastro.records import dataclass
from lastro.view.series import Points, parse_measurements

_Life = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Sealed:
    """What one run measured. `form`: parquet | jsonl.gz; `why`: why it is the weaker one, None for Parquet.

    `points`: values in all files, over all attempts and ranks.
    """

    run: str
    form: str
    files: tuple[str, ...]
    points: int
    why: str | None


@dataclass(frozen=True, kw_only=True)
class _Raw:
    """One raw file: its whole lines, and what lastro reads in them."""

    attempt: int
    rank: int
    lines: bytes
    series: Mapping[str, Points]
    damaged: int


def seal_measurements(folder: CampaignFolder) -> tuple[Sealed, ...]:
    """Seal what each run of a campaign measured, and list it; a run that measured nothing is not listed.

    Raises:
        OSError: the folder cannot be read or written.
    """
    atomic.make_folder(folder.sealed)
    runs = sorted(path for path in folder.runs.iterdir() if path.is_dir()) if folder.runs.is_dir() else []
    found = [_seal(folder.run(path.name), folder.sealed, path.name) for path in runs]
    sealed = tuple(one for one in found if one is not None)
    listing = {"version": 1, "runs": [asdict(one) for one in sealed]}
    atomic.write_text(folder.sealed / "index.json", strictjson.pretty(listing))
    return sealed


def _seal(run: RunFolder, target: Path, name: str) -> Sealed | None:
    raw = _raw_files(run)
    points = sum(len(series.steps) for one in raw for series in one.series.values())
    if not raw:
        return None
    why = _as_parquet(raw, target / f"{name}.parquet")
    if why is None:
        return Sealed(run=name, form="parquet", files=(f"{name}.parquet",), points=points, why=None)
    files = []
    for one in raw:
        files.append(f"{name}.{one.attempt}.{one.rank}.jsonl.gz")
        atomic.write_bytes(target / files[-1], gzip.compress(one.lines, mtime=0))
    return Sealed(run=name, form="jsonl.gz", files=tuple(files), points=points, why=why)


def _raw_files(run: RunFolder) -> list[_Raw]:
    """Read the files of all attempts and ranks, in order. A torn last line was never acknowledged."""
    found = []
    attempts = sorted(int(path.name) for path in run.attempts.glob("*") if path.name.isdigit())
    for attempt in attempts:
        folder = run.attempt(attempt)
        ranks = sorted(int(path.name.split(".")[1]) for path in folder.root.glob("measurements.*.jsonl"))
        for rank in ranks:
            data = folder.measurements(rank).read_bytes()
            series, damaged = parse_measurements(data)
            lines = data[: data.rfind(b"\n") + 1]
            found.append(_Raw(attempt=attempt, rank=rank, lines=lines, series=series, damaged=damaged))
    return found


# --- Parquet ------------------------------------------------------------------------------------------


def _as_parquet(raw: Sequence[_Raw], target: Path) -> str | None:
    """Write and check the Parquet file; return why there is none, None when there is."""
    damaged = sum(one.damaged for one in raw)
    if damaged:
        return _("{count} raw lines cannot be read").format(count=damaged)
    try:
        import duckdb
    except ImportError:
        return _("duckdb is not installed: pip install 'lastro[analysis]'")
    written = target.with_name(f"{atomic.TEMPORARY}{target.name}")
    staged = [target.with_name(f"{atomic.TEMPORARY}{one.attempt}.{one.rank}.jsonl") for one in raw]
    try:
        for path, one in zip(staged, raw, strict=True):
            path.write_bytes(one.lines)
        with duckdb.connect(":memory:") as database:
            database.execute(_copy(zip(raw, staged, strict=True), written))
        if not all(_holds(written, one) for one in raw):
            return _("DuckDB reads the lines otherwise")
        atomic.write_bytes(target, written.read_bytes())
    except duckdb.Error as error:
        return _("DuckDB failed: {why}").format(why=str(error).splitlines()[0])
    finally:
        for path in (written, *staged):
            path.unlink(missing_ok=True)
    return None


def _copy(parts: Any, target: Path) -> str:
    """Return the statement that writes a row for each value, sorted so that a series lies together."""
    selects = [
        f"SELECT {one.attempt}::INTEGER AS attempt, {one.rank}::INTEGER AS rank, "  # noqa: S608 - our numbers
        "row_number() OVER () AS line, s AS step, t AS seconds, unnest(map_entries(v)) AS entry "
        f"FROM read_json({_quoted(path)}, format = 'newline_delimited', "
        "columns = {s: 'BIGINT', t: 'DOUBLE', v: 'MAP(VARCHAR, VARCHAR)'}, maximum_object_size = 67108864)"
        for one, path in parts
    ]
    rows = " UNION ALL ".join(selects)
    return (
        "COPY (SELECT attempt, rank, line, step, seconds, entry.key AS metric, "  # noqa: S608
        f"entry.value::DOUBLE AS value FROM ({rows}) ORDER BY metric, attempt, rank, line) "
        f"TO {_quoted(target)} (FORMAT parquet, COMPRESSION zstd)"
    )


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def _holds(path: Path, one: _Raw) -> bool:
    """Say whether the file holds every value of a raw file; by their bytes, so that NaN equals NaN."""
    for metric, points in one.series.items():
        found = read_sealed(path, metric, one.rank).get(one.attempt, Points())
        same_steps = found.steps.tobytes() == points.steps.tobytes()
        if not (same_steps and found.values.tobytes() == points.values.tobytes()):
            return False
    return True


def read_sealed(path: Path, metric: str, rank: int = 0) -> dict[int, Points]:
    """Return the points of one metric from a sealed Parquet file, by attempt, as they were measured.

    Raises:
        ImportError: duckdb is not installed.
    """
    import duckdb

    where = f"FROM read_parquet({_quoted(path)}) WHERE metric = ? AND rank = ?"
    with duckdb.connect(":memory:") as database:
        counts = database.execute(
            f"SELECT attempt, count(*) {where} GROUP BY attempt ORDER BY attempt",
            [metric, rank],
        ).fetchall()
        rows = database.execute(
            f"SELECT step, value {where} ORDER BY attempt, line",
            [metric, rank],
        )
        steps, values = _columns(rows)
    found, at = {}, 0
    for attempt, count in counts:
        points = Points()
        points.steps.frombytes(steps[at * 8 : (at + count) * 8])
        points.values.frombytes(values[at * 8 : (at + count) * 8])
        found[attempt] = points
        at += count
    return found


def _columns(rows: Any) -> tuple[bytes, bytes]:
    """Return two columns as bytes of 64-bit numbers; by way of NumPy where it is, which takes a tenth."""
    try:
        found = rows.fetchnumpy()
    except ImportError:
        points = Points()
        for step, value in rows.fetchall():
            points.add(step, value)
        return points.steps.tobytes(), points.values.tobytes()
    return found["step"].tobytes(), found["value"].tobytes()
