"""What was seen of a job's lives: the traces that the probe wrote, read into frozen values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from lastro.paths import AttemptFolder
from lastro.probe.instructions import trace_name
from lastro.probe.past import read_lines
from lastro.records import dataclass

#: [kind, digest] of each part of a job's state, by name.
State = Mapping[str, Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class Update:
    """One update as the probe saw it; `lastro.probe.recorder` says what each value is."""

    step: int
    mono: float
    state: State
    inputs: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    losses: tuple[float, ...] = ()
    gradient: float | None = None
    rates: tuple[float, ...] = ()
    after: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    saves: tuple[str, ...] = ()
    waits: tuple[float, ...] = ()
    workers: int = 0
    begins: int = 0
    evaluations: int = 0


@dataclass(frozen=True, kw_only=True)
class Life:
    """One process of a job, from its begin to its end.

    `restored`: the state that was found right after it was put back, of a job that attaches. `resumed_at`:
    the update that it goes on after. `ended`: "until", what killed it, or None when it ended by itself.
    `put_back`: what the drill has put into it; None: it was not asked to, or could not, and `not_put_back`
    says why.
    """

    number: int
    api: bool
    began: float | None
    resumed_at: int
    restored: State | None
    restored_variables: Mapping[str, str]
    updates: tuple[Update, ...]
    ended: str | None
    put_back: tuple[str, ...] | None = None
    not_put_back: tuple[str, ...] = ()

    @property
    def last(self) -> int:
        """The last update that was made; where it resumed when there was none."""
        return self.updates[-1].step if self.updates else self.resumed_at

    def at(self, step: int) -> Update | None:
        """Return the update with this number; None when it was not seen."""
        return next((update for update in self.updates if update.step == step), None)


def read_life(folder: AttemptFolder) -> Life | None:
    """Read the trace of one attempt; None when the probe was not heard in it."""
    lines = list(read_lines(folder.root / trace_name(0)))
    if not lines:
        return None
    begun = next((line for line in lines if line["kind"] == "begun"), {})
    restored = next((line for line in lines if line["kind"] == "restored"), None)
    put_back = next((line for line in lines if line["kind"] == "put_back"), None)
    updates = tuple(_update(line) for line in lines if line["kind"] == "update")
    first = updates[0].step - 1 if updates else 0
    return Life(
        number=folder.number,
        api=bool(begun.get("api")),
        began=begun.get("mono"),
        resumed_at=int(restored["step"]) if restored else first,
        restored=restored["state"] if restored else None,
        restored_variables=restored["variables"] if restored else {},
        updates=updates,
        ended=next((line["why"] for line in lines if line["kind"] == "end"), None),
        put_back=tuple(put_back["names"]) if put_back else None,
        not_put_back=tuple(put_back["failed"]) if put_back else (),
    )


def _update(line: Mapping[str, Any]) -> Update:
    return Update(
        step=int(line["step"]),
        mono=float(line["mono"]),
        state=line["state"],
        inputs=tuple(line.get("inputs", ())),
        rows=tuple(row for rows in line.get("rows", ()) for row in rows),
        ids=tuple(line.get("ids", ())),
        losses=tuple(line.get("losses", ())),
        gradient=line.get("gradient"),
        rates=tuple(line.get("rates", ())),
        after=line.get("after", {}),
        variables=line.get("variables", {}),
        saves=tuple(line.get("saves", ())),
        waits=tuple(line.get("waits", ())),
        workers=int(line.get("workers", 0)),
        begins=int(line.get("begins", 0)),
        evaluations=int(line.get("evaluations", 0)),
    )


def read_lives(root: Path) -> tuple[Life, ...]:
    """Read the traces of all attempts of a run's folder, in order."""
    numbers = sorted(int(path.name) for path in (root / "attempts").glob("[0-9]*"))
    lives = (read_life(AttemptFolder(root / "attempts" / str(number))) for number in numbers)
    return tuple(life for life in lives if life is not None)
