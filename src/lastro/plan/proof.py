"""What nothing can undercut: a proven lower bound of what a protocol costs, over all offers together."""

from __future__ import annotations

from dataclasses import dataclass

from lastro.plan.candidates import Protocol, Question
from lastro.units import Money


@dataclass(frozen=True, kw_only=True)
class Proof:
    """No plan for this protocol costs less than `bound`; None: nothing could be proven, and `why`."""

    bound: Money | None
    why: str


def prove(question: Question, protocol: Protocol) -> Proof:
    """TODO with the solver."""
    return Proof(bound=None, why="")
