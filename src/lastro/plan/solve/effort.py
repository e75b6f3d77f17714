"""How hard to search. The limits count work and not time, so that a plan is the same on every machine."""

from __future__ import annotations

from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Effort:
    """Limits of one `solve`.

    lists: how many lists the greedy scheduler tries. nodes: of HiGHS, for each choice of packages. gap: HiGHS
    may stop when it is this close (a share), on problems that are too large to be proven anyway. rounds: how
    often a calendar may send its cut back. work: CP-SAT's deterministic seconds for all calendars together;
    one is one to three seconds of a processor. enough: improving ends when the gap is this small.
    wall_seconds: a net below all that; where it strikes, the solution says so.
    """

    lists: int = 200
    nodes: int = 2000
    gap: float = 0.005
    rounds: int = 6
    work: float = 2.0
    enough: float = 0.02
    wall_seconds: float = 600.0


#: For questions that are asked many times, such as what one more offer changes.
QUICK = Effort(lists=100, nodes=500, gap=0.01, rounds=3, work=0.6, enough=0.03)
NORMAL = Effort()
#: For a plan that is frozen.
THOROUGH = Effort(lists=400, nodes=20_000, gap=0.001, rounds=20, work=20.0, enough=0.0, wall_seconds=1800.0)
