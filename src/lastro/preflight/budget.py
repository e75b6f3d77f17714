"""Lets a step of preflight take its time and no more: what does not answer by then is left behind."""

from __future__ import annotations

import contextvars
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping

from lastro.locale import _
from lastro.preflight.check import Finding, Level
from lastro.preflight.lock import Value
from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Figures that a step has measured, for the lock and for programs."""

    name: str
    values: Mapping[str, Value]


Yielded = Finding | Measured


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step as it went. `is_over`: its time, `budget_seconds`, was over before its end."""

    name: str
    budget_seconds: float
    seconds: float
    findings: tuple[Finding, ...]
    measured: tuple[Measured, ...] = ()
    is_over: bool = False


class _End:
    """The last thing that a step says; `error` is what it failed by."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


def take(
    name: str,
    seconds: float,
    work: Callable[[], Iterable[Yielded]],
    leave: Callable[[], None] = lambda: None,
) -> Step:
    """Take a step. What it has found until its time is over counts, and that it was over is a finding.

    A call into a dead file system or driver never returns and cannot be broken off; it is made in a thread
    that nobody waits for. What a step raises is raised here. `leave` ends what a step has started, when it is
    left before its end: its time was over, or somebody typed Ctrl-C.
    """
    began = time.monotonic()
    said: queue.Queue[Yielded | _End] = queue.Queue()

    def run() -> None:
        error: BaseException | None = None
        try:
            for one in work():
                said.put(one)
        except BaseException as caught:  # noqa: BLE001 - handed over to who waits
            error = caught
        said.put(_End(error))

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(run,), name=f"preflight-{name}", daemon=True).start()
    findings: list[Finding] = []
    measured: list[Measured] = []
    is_over = False
    has_ended = False
    try:
        while not has_ended:
            try:
                one = said.get(timeout=max(0.0, began + seconds - time.monotonic()))
            except queue.Empty:
                findings.append(_over(name, seconds))
                is_over = True
                break
            if isinstance(one, _End):
                has_ended = True
                if one.error is not None:
                    raise one.error
            elif isinstance(one, Measured):
                measured.append(one)
            else:
                findings.append(one)
    finally:
        if not has_ended:
            leave()
    return Step(
        name=name,
        budget_seconds=seconds,
        seconds=round(time.monotonic() - began, 3),
        findings=tuple(findings),
        measured=tuple(measured),
        is_over=is_over,
    )


def _over(name: str, seconds: float) -> Finding:
    return Finding(
        code="step",
        level=Level.NO_ANSWER,
        fact=_("step {name}").format(name=name),
        value=_("no answer within {seconds:.0f} s").format(seconds=seconds),
        expected=_("an end within its budget"),
        consequence=_("what it was to find is not known, and the job may hang in the same place"),
        next_step=_("look at what is slow there (disk, network, driver), and check again"),
        required=True,
    )
