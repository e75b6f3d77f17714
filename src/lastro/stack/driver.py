"""What the NVIDIA driver says of itself and its cards, asked in a child with a deadline.

A driver that hangs is met in practice: a call into it can never return, and the process that made it cannot
always be killed. So a child asks (`stack.nvml`), and is left behind when its time is over.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import selectors
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, field, fields
from typing import Any

from lastro import strictjson
from lastro.locale import _
from lastro.records import dataclass

#: Answers come within a second, also of eight cards; what is silent for so long is taken to hang.
DEADLINE_SECONDS = 5.0
#: How many bytes of answers are kept; eight cards give some 20 KB.
_MOST_BYTES = 1 << 22

ANSWERED, SILENT, FAILED = "answered", "silent", "failed"
NO_PYTHON_LIBRARY, NO_LIBRARY, NO_DRIVER, HALF_UPDATED = (
    "no_python_library", "no_library", "no_driver", "half_updated",
)  # fmt: skip
#: NVML's numbers (nvml.h): the card has fallen off the bus; it does not do this at all.
GPU_IS_LOST, NOT_SUPPORTED = 15, 3


@dataclass(frozen=True, kw_only=True)
class Card:
    """One GPU as its driver tells it. None: it was not told, and `errors` has NVML's number by fact.

    `memory_bytes`, `used_bytes`: bytes. `ecc_volatile`, `ecc_aggregate`: uncorrected errors since the last
    reset of the driver, and ever. `rows`: remapped by corrected errors, by uncorrected ones, one pending,
    one failed. `throttle`: bits of nvmlClocksEventReasons. `use`: part of 1 of the last moment in which any
    kernel ran. Powers are in mW, clocks in MHz, temperatures in degrees Celsius.
    """

    index: int
    name: str | None = None
    uuid: str | None = None
    serial: str | None = None
    vbios: str | None = None
    pci: str | None = None
    capability: str | None = None
    memory_bytes: int | None = None
    used_bytes: int | None = None
    ecc: bool | None = None
    ecc_volatile: int | None = None
    ecc_aggregate: int | None = None
    rows: tuple[int, int, int, int] | None = None
    mig: bool | None = None
    compute_mode: int | None = None
    persistence: bool | None = None
    processes: tuple[int, ...] | None = None
    replays: int | None = None
    link_gen_max: int | None = None
    link_width_max: int | None = None
    clock_max: int | None = None
    slowdown_at: int | None = None
    power_default_mw: int | None = None
    use: float | None = None
    temperature: int | None = None
    throttle: int | None = None
    power_limit_mw: int | None = None
    clock: int | None = None
    link_gen: int | None = None
    link_width: int | None = None
    errors: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_lost(self) -> bool:
        """Whether it has fallen off the bus."""
        return GPU_IS_LOST in self.errors.values()

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Card:
        """Read what the child says of one card. Raises KeyError, TypeError or ValueError."""
        known = {one.name: value[one.name] for one in fields(cls) if one.name in value}
        for name in ("rows", "processes"):
            if known.get(name) is not None:
                known[name] = tuple(int(item) for item in known[name])
        if known.get("rows") is not None and len(known["rows"]) != 4:
            raise ValueError("rows")
        return cls(**known)


@dataclass(frozen=True, kw_only=True)
class Driver:
    """What was answered.

    `state`: answered, silent (no answer in time), half_updated (driver and library are of two versions),
    no_driver, no_library, no_python_library, failed. `why` and `code` (NVML's number) are those of a problem;
    `asking`: the call that was under way last. `cuda`: the newest CUDA that it runs, as 1000 * major + 10 *
    minor. `seconds`: how long it took.
    """

    state: str
    why: str | None = None
    code: int | None = None
    asking: str | None = None
    version: str | None = None
    cuda: int | None = None
    cards: tuple[Card, ...] = ()
    seconds: float = 0.0

    @property
    def is_covered(self) -> bool:
        """Whether there is anything here that speaks NVML, however it speaks."""
        return self.state not in (NO_LIBRARY, NO_PYTHON_LIBRARY)

    @property
    def reason(self) -> str | None:
        """Why nothing is known of the GPUs, as people read it; None when they are known."""
        if self.state == ANSWERED:
            return None
        if self.state == NO_PYTHON_LIBRARY:
            return _("no NVIDIA library (nvidia-ml-py is not installed)")
        if self.state == NO_LIBRARY:
            return _("there is no NVIDIA library on this machine")
        if self.state == SILENT:
            return _("the NVIDIA driver did not answer `{call}` within {seconds:.0f} s").format(
                call=self.asking, seconds=self.seconds
            )
        return _("the NVIDIA driver does not answer: {error}").format(error=self.why)

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "cards": [asdict(card) for card in self.cards]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Driver:
        """Read what `as_json` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        return cls(**{**value, "cards": tuple(Card.from_json(card) for card in value["cards"])})


def ask_driver(seconds: float = DEADLINE_SECONDS, environment: Mapping[str, str] | None = None) -> Driver:
    """Ask once, and wait for the answer. Arguments: see `Asking`."""
    return Asking(seconds, environment).answer()


class Asking:
    """A question that is under way from its making on, so that whoever asks can do something else meanwhile.

    Args:
        seconds: after so many the child is killed and, if it cannot be, left behind.
        environment: of the child; None: this process's own.
    """

    def __init__(
        self, seconds: float = DEADLINE_SECONDS, environment: Mapping[str, str] | None = None
    ) -> None:
        self._began, self._seconds = time.monotonic(), seconds
        self._told: Mapping[str, Any] | None = None
        self._asking: str | None = None
        self._took = 0.0
        self._known = _known_already(environment)
        if self._known is not None:
            return
        try:
            child = start_child([], environment)
        except OSError as error:
            self._known = Driver(state=FAILED, why=str(error))
            return
        # It is listened to all the time: how long the driver took is its own, however late anybody asks.
        self._thread = threading.Thread(target=self._listen, args=(child,), name="driver", daemon=True)
        self._thread.start()

    def _listen(self, child: subprocess.Popen[bytes]) -> None:
        try:
            for line in lines_until(child, self._began + self._seconds):
                self._asking = line.get("asking", self._asking)
                if "asking" not in line:
                    self._told = line
            self._took = time.monotonic() - self._began
        finally:
            leave(child)

    def answer(self) -> Driver:
        """Wait for the answer, or for the end of the time that it has."""
        if self._known is not None:
            return self._known
        self._thread.join()
        if self._told is None and self._took >= self._seconds:
            return Driver(state=SILENT, asking=self._asking, seconds=self._took)
        return understood(self._told, self._asking, self._took)


def _known_already(environment: Mapping[str, str] | None) -> Driver | None:
    """Return what is known without asking: that there is nothing to ask. None: there is something."""
    if importlib.util.find_spec("pynvml") is None:
        return Driver(state=NO_PYTHON_LIBRARY)
    if environment is None and not _library_is_there():
        return Driver(state=NO_LIBRARY)
    return None


def _library_is_there() -> bool:
    """Load NVIDIA's library as nvidia-ml-py does; nothing in it is called."""
    try:
        ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return False
    return True


def understood(told: Mapping[str, Any] | None, asking: str | None, seconds: float) -> Driver:
    """Return what the last line of a child says. Pure.

    Args:
        told: that line; None: it ended without one.
        asking: the call that it made last.
        seconds: that it took.
    """
    if told is None:
        why = _("its answer broke off at `{call}`").format(call=asking)
        return Driver(state=FAILED, why=why, asking=asking, seconds=seconds)
    try:
        if "problem" in told:
            return Driver(state=str(told["problem"]), why=told["why"], code=told["code"], seconds=seconds)
        answer = told["answer"]
        return Driver(
            state=ANSWERED,
            version=answer["version"],
            cuda=answer["cuda"],
            cards=tuple(Card.from_json(card) for card in answer["cards"]),
            seconds=seconds,
        )
    except (KeyError, TypeError, ValueError) as error:
        return Driver(state=FAILED, why=str(error), asking=asking, seconds=seconds)


# --- the child ----------------------------------------------------------------------------------------


def start_child(arguments: Sequence[str], environment: Mapping[str, str] | None) -> subprocess.Popen[bytes]:
    """Start a child that asks; its output does not block. Raises OSError."""
    child = subprocess.Popen(
        [sys.executable, "-m", "lastro.stack.nvml", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=environment,
        bufsize=0,
    )
    assert child.stdout is not None
    os.set_blocking(child.stdout.fileno(), False)
    return child


def lines_until(child: subprocess.Popen[bytes], deadline: float) -> Iterator[Mapping[str, Any]]:
    """Give each line of a child, decoded, until its output ends or a monotonic time is reached."""
    assert child.stdout is not None
    buffer, total = b"", 0
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0 and total < _MOST_BYTES:
            if not selector.select(left):
                return
            chunk = child.stdout.read(1 << 16)
            if not chunk:
                return
            total += len(chunk)
            *whole, buffer = (buffer + chunk).split(b"\n")
            for line in whole:
                with contextlib.suppress(ValueError):
                    value = strictjson.loads(line)
                    if isinstance(value, dict):
                        yield value


def leave(child: subprocess.Popen[bytes]) -> None:
    """End a child without waiting for one that the kernel holds in a call to the driver."""
    child.kill()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            pipe.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(timeout=0.2)
