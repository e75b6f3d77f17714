"""What a job has told of its saves: how long the last took, how long ago it was, whether one is under way."""

from __future__ import annotations

from lastro import atomic, strictjson
from lastro.journal.signals import LineReader, Signal
from lastro.paths import AttemptFolder
from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Saves:
    """What is known of an attempt's saves.

    `seconds`: length of the last one, None before the first. `safe_at`: monotonic seconds of this machine
    at which everything done was last safe. `in_flight`: one is being written.
    """

    seconds: float | None
    safe_at: float
    in_flight: bool


def saves_of(folder: AttemptFolder, started: float) -> Saves:
    """Read what one attempt has told so far. `started`: when it began, in monotonic seconds."""
    seconds, safe_at = None, started
    for line in LineReader(folder.signals).lines():
        try:
            facts = strictjson.loads(line)
            if facts["kind"] in (Signal.CHECKPOINT.value, Signal.RESTORED.value):
                safe_at = float(facts["mono"])
            if facts["kind"] == Signal.CHECKPOINT.value:
                seconds = float(facts["seconds"])
        except (ValueError, KeyError, TypeError):
            continue  # a job can write anything into its own file
    return Saves(seconds=seconds, safe_at=safe_at, in_flight=_in_flight(folder))


def _in_flight(folder: AttemptFolder) -> bool:
    """Tell whether this attempt has begun a checkpoint that has no name of its own yet."""
    mine = f"-a{folder.number}-"
    try:
        names = [path.name for path in folder.run.checkpoints.iterdir()]
    except FileNotFoundError:
        return False
    return any(name.startswith(atomic.TEMPORARY) and mine in name for name in names)
