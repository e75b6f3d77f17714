"""From the loss of a local machine to the first step on its replacement, part by part.

Each moment is one that lastro itself has recorded: by the machine, in home's stream, in the attempt's stream,
in the job's signals. All are of one box, so that its wall clock and its monotonic clock can be laid over each
other, which lastro never does.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.result import Measure, Result, median
from benchmarks.toy import Toy, driven, toy_campaign
from lastro import strictjson
from lastro.clock import from_iso
from lastro.journal.events import EventType
from lastro.journal.streams import Event
from lastro.paths import AttemptFolder, RunFolder
from lastro.providers.faults import fault_key

TARGET_SECONDS = 2.0
KILLS, NOTICES = 8, 4
_STEPS_BETWEEN = 30
_DEADLINE = 170.0


@dataclass(frozen=True)
class Loss:
    """One machine taken away: `moments` are what was waited for and when (Unix seconds), in order."""

    with_notice: bool
    lost: float
    moments: tuple[tuple[str, float], ...]

    @property
    def parts(self) -> dict[str, float]:
        """Seconds by which each moment came after all before it; what happened meanwhile costs nothing."""
        parts, so_far = {}, self.lost
        for name, moment in self.moments:
            parts[name] = max(0.0, moment - so_far)
            so_far = max(so_far, moment)
        return parts

    @property
    def seconds(self) -> float:
        return sum(self.parts.values())


def run() -> Result:
    faults: list[dict[str, object]] = [
        {"run": "control", "step": (index + 1) * _STEPS_BETWEEN - 2} for index in range(KILLS + NOTICES)
    ]
    for fault in faults[:NOTICES]:
        fault["notice"] = "5s"
    steps = (len(faults) + 1) * _STEPS_BETWEEN
    with toy_campaign(steps=steps, step_seconds=0.02, every="10 steps", faults=faults) as toy:
        with driven(toy) as home:
            home.wait(_DEADLINE)
        if home.returncode != 0:
            raise SystemExit("the campaign failed:\n" + toy.log.read_text())
        losses = _losses(toy)
    kills = [loss for loss in losses if not loss.with_notice]
    notices = [loss for loss in losses if loss.with_notice]
    return Result(
        measures=(
            median("killed -> first step", [loss.seconds for loss in kills], "s", TARGET_SECONDS),
            *_parts(kills),
            median("notice -> first step", [loss.seconds for loss in notices], "s", TARGET_SECONDS),
            *_parts(notices)[:1],
        ),
        notes=(
            f"{len(kills)} kills and {len(notices)} notices of one run; its job does not import torch, and"
            " its machines boot in 0 s. Parts are told for kills; what happens meanwhile is no part.",
        ),
    )


def _parts(losses: Sequence[Loss]) -> tuple[Measure, ...]:
    return tuple(
        median(f"... {name}", [loss.parts[name] for loss in losses], "s") for name in losses[0].parts
    )


# --- what was recorded --------------------------------------------------------------------------------


def _losses(toy: Toy) -> list[Loss]:
    session = toy.session()
    streams = session.events()
    home = streams[session.stream_name]
    (root,) = session.on_disk.runs.iterdir()
    run = RunFolder(root)
    lives = {
        event.facts["machine"]: (event.facts["attempt"], events)
        for events in streams.values()
        for event in events
        if event.type is EventType.ATTEMPT_STARTED
    }
    by_number = dict(lives.values())
    claims = toy.home.fired_faults(fault_key(session.disk.root, session.facts.name))
    losses = []
    for path in sorted(claims.glob("*.json"), key=lambda path: int(path.stem)):
        fired = strictjson.read(path)
        number, life = lives[fired["machine"]]
        noticed = fired["notice_seconds"] is not None
        end = strictjson.read(toy.home.local_machine(fired["machine"]).end)
        moments = [
            *([("saved and left", _at(life, EventType.ATTEMPT_ENDED))] if noticed else []),
            ("the old machine is gone", _seconds(end["at"])),
            *_replaced(home, by_number[number + 1]),
            *_resumed(run.attempt(number + 1)),
        ]
        losses.append(Loss(noticed, _seconds(fired["at"]), tuple(moments)))
    return losses


def _replaced(home: Sequence[Event], life: Sequence[Event]) -> list[tuple[str, float]]:
    """Return the moments up to the start of the job, of the machine that the next life is on."""
    machine = next(event.facts["machine"] for event in life if event.type is EventType.ATTEMPT_STARTED)
    created = next(event for event in home if _is(event, EventType.MACHINE_CREATED, machine=machine))
    tag = created.facts["tag"]
    return [
        ("home intends another", _at(home, EventType.MACHINE_INTENDED, tag=tag)),
        ("it is created", _seconds(created.at)),
        ("it has booted (0 s)", _at(home, EventType.MACHINE_READY, machine=machine)),
        ("preflight", _at(home, EventType.PREFLIGHT_DONE, machine=machine)),
        ("the order is written", _at(home, EventType.RUN_DISPATCHED, machine=machine)),
        ("the supervisor has started", _at(life, EventType.ATTEMPT_STARTED)),
        ("the job's process has started", _at(life, EventType.ATTEMPT_LAUNCHED)),
    ]


def _resumed(attempt: AttemptFolder) -> list[tuple[str, float]]:
    """Return the moments that the job itself has told."""
    offset = time.time() - time.monotonic()
    words = dict(line.split() for line in _lines(attempt.log) if line.startswith(("top ", "attached ")))
    signals = {signal["kind"]: signal for signal in map(strictjson.loads, _lines(attempt.signals))}
    told = [
        ("its interpreter", float(words["top"])),
        ("its imports", float(words["attached"])),
        ("its state is restored", signals["restored"]["mono"]),
        ("its first step", signals["first_step"]["mono"]),
    ]
    return [(name, mono + offset) for name, mono in told]


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def _is(event: Event, kind: EventType, **facts: Any) -> bool:
    return event.type is kind and _holds(event.facts, facts)


def _holds(facts: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(facts.get(key) == value for key, value in wanted.items())


def _at(events: Sequence[Event], kind: EventType, **facts: Any) -> float:
    """Return when the first such event was written."""
    return _seconds(next(event.at for event in events if _is(event, kind, **facts)))


def _seconds(moment: str) -> float:
    return from_iso(moment).timestamp()
