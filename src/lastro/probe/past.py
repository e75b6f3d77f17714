"""The earlier lives of a job, by their traces: which update a life goes on after."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lastro.probe.instructions import trace_name
from lastro.probe.objects import MODEL
from lastro.records import dataclass


@dataclass(frozen=True)
class Past:
    """`after`: [step, digests of models after it] in order. `saves`: the step before which each was seen."""

    after: tuple[tuple[int, Mapping[str, str]], ...] = ()
    saves: Mapping[str, int] = ()  # type: ignore[assignment]

    def step_of(self, state: Mapping[str, list[str]], attempt: Path) -> int:
        """Return the last update that this life goes on after.

        The save that it was given says it, by the update at which that save was seen first. Without one the
        models do, which are compared with those of the earlier lives; else it began at the beginning.
        """
        told = dict(self.saves).get(_origin(attempt) or "")
        if told is not None:
            return told - 1  # seen when the next update was about to be made
        models = {name: value for name, (kind, value) in state.items() if kind == MODEL}
        same = [step for step, after in self.after if models and models.items() <= after.items()]
        return max(same, default=0)


def read_past(attempt: Path) -> Past:
    """Read the traces of the attempts before this one."""
    after: list[tuple[int, Mapping[str, str]]] = []
    saves: dict[str, int] = {}
    for number in range(1, int(attempt.name)):
        for line in read_lines(attempt.parent / str(number) / trace_name(0)):
            if line.get("kind") == "update":
                after.append((line["step"], line.get("after", {})))
                saves |= dict.fromkeys(line.get("saves", ()), line["step"])
    return Past(tuple(after), saves)


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a trace; one that was cut off is none."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for line in text.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def _origin(attempt: Path) -> str | None:
    """Return the name of the save that this attempt was told to go on from; None without one."""
    told = [line for line in read_lines(attempt / "signals.jsonl") if line.get("kind") == "restored"]
    if not told:
        return None
    return origins(attempt.parent.parent / "checkpoints").get(str(told[0].get("folder")))


def origins(checkpoints: Path) -> dict[str, str]:
    """Return, for each copy of a job's own save, the name of its folder and of the save."""
    found = {}
    for manifest in checkpoints.glob("*-a*/manifest.json"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            position = json.loads(manifest.read_text(encoding="utf-8"))["position"]
            found[manifest.parent.name] = str(position["origin"])
    return found
