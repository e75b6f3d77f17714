"""`python -m benchmarks [NAME...] [--json]`: measure, compare with the targets. See docs/benchmarks.md."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import time
from typing import Any

from benchmarks import box
from benchmarks.result import Measure, Result

#: Every benchmark, in the order in which all of them run: a module with `run() -> Result`.
NAMES = (
    "help",
    "log",
    "checkpoint",
    "items",
    "preemption",
    "reload",
    "report",
    "digest",
    "supervisor",
    "plan",
    "risk",
    "spot",
    "preflight",
    "guard",
    "pack",
    "data",
    "transfer",
    "ssh",
    "status",
    "trackers",
)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", nargs="*", help=f"some of {', '.join(NAMES)}; without one, all of them")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--mb", type=int, help="size of the state that `checkpoint` saves (1000)")
    parser.add_argument("--rounds", type=int, help="how often `checkpoint` takes turns (5)")
    options = parser.parse_args(arguments)
    if options.mb is not None:
        os.environ["BENCH_MB"] = str(options.mb)
    if options.rounds is not None:
        os.environ["BENCH_ROUNDS"] = str(options.rounds)
    if unknown := set(options.name) - set(NAMES):
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    before = box.facts()
    results: dict[str, Result] = {}
    for name in options.name or NAMES:
        began = time.monotonic()
        print(f"{name} ...", end=" ", file=sys.stderr, flush=True)
        results[name] = importlib.import_module(f"benchmarks.{name}").run()
        print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)
    facts = {**before, "load_after": box.facts()["load"]}
    if options.json:
        told = {name: result.as_json() for name, result in results.items()}
        print(json.dumps({"machine": facts, "benchmarks": told}, indent=2))
    else:
        _show(results, facts)
    return 0


def _show(results: dict[str, Result], facts: dict[str, Any]) -> None:
    rows = [["", "measured", "lowest .. highest", "target", "of target", ""]]
    for name, result in results.items():
        rows.append([name, "", "", "", "", ""])
        rows += [[f"  {measure.name}", *_row(measure)] for measure in result.measures]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        print("  ".join([row[0].ljust(widths[0]), *cells]).rstrip())
    print()
    for name, result in results.items():
        for note in result.notes:
            print(f"{name}: {note}")
    print("machine: " + ", ".join(f"{key} {value}" for key, value in facts.items()))


def _row(measure: Measure) -> tuple[str, str, str, str, str]:
    unit = measure.unit
    spread = f"{measure.spread[0]:.3g} .. {measure.spread[1]:.3g} {unit}" if measure.spread else ""
    target = f"{measure.target:g} {unit}" if measure.target is not None else ""
    ratio = f"{measure.ratio:.2f}" if measure.ratio is not None else ""
    met = {True: "met", False: "missed", None: ""}[measure.met]
    return f"{measure.value:.3g} {unit}", spread, target, ratio, met


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
