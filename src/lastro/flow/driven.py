"""What a driver is given: a campaign, where its machines come from, and how people are told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from lastro.clock import Clock
from lastro.flow.guarding import Guarding
from lastro.flow.session import Session
from lastro.journal.nodes import NodeRecord
from lastro.journal.streams import StreamWriter
from lastro.plan.model import Plan
from lastro.providers.base import Fault, Machine, Provider
from lastro.records import dataclass

Tell = Callable[[str], None]
Preflight = Callable[[Machine], Mapping[str, object]]
"""Checks a machine; returns the facts of the event `preflight.done`, `verdict` among them."""


@dataclass(frozen=True, kw_only=True)
class Drive:
    """What is to be driven. `only`: ids of runs to carry out; None: required and useful ones.

    `resumable`: paused or failed runs that are to go on, with the attempts that they had when this was asked.
    `recall`: what is known against a machine of that name; None: nothing.
    `echo`: shows a line that a job has printed; None where nobody wants to see it. `deciding`: decision
    points and open shells are heeded; not where machines are only let go. `guarding`: what is done when
    something of value lies on a machine that is let go.
    """

    session: Session
    writer: StreamWriter
    provider: Provider
    plan: Plan
    clock: Clock
    preflight: Preflight
    tell: Tell
    faults: Sequence[Fault] = ()
    only: frozenset[str] | None = None
    resumable: Mapping[str, int] = field(default_factory=dict)
    echo: Callable[[str], None] | None = None
    deciding: bool = True
    recall: Callable[[str], NodeRecord | None] = lambda _node: None
    guarding: Guarding = Guarding.RESCUE
