"""Packages by HiGHS, the calendar by CP-SAT; what does not fit, or costs more, goes back as a cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from lastro.locale import _
from lastro.plan.solve.bound import lower_bound
from lastro.plan.solve.calendar import Calendar, Laid, Limits
from lastro.plan.solve.cost import fine_lease
from lastro.plan.solve.effort import Effort
from lastro.plan.solve.greedy import candidates, copies, listed_on, search
from lastro.plan.solve.improve import improve
from lastro.plan.solve.lattice import raised, step
from lastro.plan.solve.layout import Layout, judged, objective_of
from lastro.plan.solve.listing import Shop
from lastro.plan.solve.master import Choice, Master
from lastro.plan.solve.problem import Package, Problem
from lastro.plan.solve.shelf import families, hosts
from lastro.plan.solve.solution import NoPlan, Solution, gap_of, is_proven
from lastro.records import dataclass

#: So many places for tasks (lease x task) are few enough to look for a proof over all that can be rented.
SMALL = 1500
#: With so many, packages and calendar take turns until it is proven.
FEW = 300
#: How far above the bound a calendar is looked for, one after the other.
RUNGS = (1.01, 1.03, 1.08, 1.2)


@dataclass
class Search:
    """What is known so far: the best layout, the highest bound, and what is left of the limits."""

    problem: Problem
    effort: Effort
    best: Layout | None = None
    #: The best on leases that HiGHS chose: a better place to begin than a better plan on other leases.
    chosen: Layout | None = None
    floor: int = 0
    impossible: bool = False
    limit: bool = False
    work: float = field(init=False)
    wall: float = field(init=False)

    def __post_init__(self) -> None:
        self.work, self.wall = self.effort.work, self.effort.wall_seconds
        self.shop = Shop(self.problem)
        self.shelf = families(self.problem)
        self.step = step(self.problem)
        self.floor = raised(lower_bound(self.problem), self.step)

    @property
    def objective(self) -> int | None:
        return None if self.best is None else objective_of(self.problem, self.best)

    @property
    def proven(self) -> bool:
        return self.objective is not None and is_proven(self.objective, self.floor)

    def offer(self, layout: Layout | None) -> None:
        """Take a layout if it is better than the best."""
        if layout is None:
            return
        if self.best is None or objective_of(self.problem, layout) < objective_of(self.problem, self.best):
            self.best = layout

    def begin_from(self, layout: Layout | None) -> None:
        """Take a layout on leases that HiGHS chose."""
        self.offer(layout)
        if layout is not None and (
            self.chosen is None
            or objective_of(self.problem, layout) < objective_of(self.problem, self.chosen)
        ):
            self.chosen = layout

    @property
    def is_enough(self) -> bool:
        """Say whether the gap is as small as the effort asks for."""
        gap = None if self.objective is None else gap_of(self.objective, self.floor)
        return gap is not None and gap <= self.effort.enough

    def spend(self, laid: Laid) -> None:
        """Count what a calendar has used."""
        self.work -= laid.work
        self.wall -= laid.seconds
        self.limit |= laid.limit

    def limits(self, part: float) -> Limits:
        """Return limits for one calendar: a part of all the work, of what is left of it."""
        return Limits(
            work=max(0.01, min(self.work, self.effort.work * part)), wall_seconds=max(0.1, self.wall)
        )


def solve_exactly(problem: Problem, effort: Effort) -> Solution | NoPlan:
    """Solve by HiGHS and CP-SAT, as far as the effort goes; a NoPlan has no violation yet."""
    state = Search(problem, effort)
    found = search(state.shop, state.shelf, trials=effort.lists)
    if not found.listed.late and not found.listed.over:
        state.offer(found.listed.layout)
    _alternate(state)
    if not state.proven and not state.impossible:
        _prove_small(state)
    if state.best is None and not state.impossible:
        _find_any(state)
    if state.best is not None and not state.proven and not state.is_enough and not state.limit:
        _improve(state)
    if state.best is None:
        why = (
            _("no plan keeps all limits: the solvers have proven it")
            if state.impossible
            else _("no plan was found within the limits of the search; that there is none is not proven")
        )
        return NoPlan(why=why, proven=state.impossible)
    return judged(
        problem,
        state.best,
        bound=min(state.floor, objective_of(problem, state.best)),
        method="exact" if state.proven else "packages+calendar",
        why=_why(state),
    )


def _why(state: Search) -> str:
    if state.proven:
        why = _("proven: nothing better keeps all limits")
    else:
        why = _("the best that was found; better than the bound is proven to be impossible")
    if state.limit:
        why += "; " + _("the search was ended by the clock, so another machine may find another plan")
    return why


def _alternate(state: Search) -> None:
    """Let packages and calendar take turns, until a calendar costs what its packages promise."""
    if not state.shelf:
        return
    master = Master(problem=state.problem, families=state.shelf)
    gap = 0.0 if len(master.on) <= FEW else state.effort.gap
    seen: set[tuple[tuple[str, int], ...]] = set()
    for _round in range(state.effort.rounds):
        answer = master.solve(nodes=state.effort.nodes, gap=gap, seconds=max(0.1, state.wall))
        state.wall -= answer.seconds
        state.limit |= answer.limit
        if answer.impossible:
            # Every plan is a solution of the relaxation: where there is one, this answer is not believed.
            state.impossible = state.best is None
            return
        state.floor = max(state.floor, _believable(state, answer.bound))
        if state.proven or answer.values is None or state.limit:
            return
        choice = master.choice(answer.values)
        key = tuple(sorted(choice.leases.items()))
        if key in seen or not _calendar_for(state, master, choice):
            return
        seen.add(key)


def _believable(state: Search, bound: float) -> int:
    """Return the bound as a possible objective, unless a plan that keeps all rules contradicts it."""
    floor = raised(bound, state.step)
    return 0 if state.objective is not None and floor > state.objective else floor


def _calendar_for(state: Search, master: Master, choice: Choice) -> bool:
    """Lay out what was chosen, and tell the master; say whether the answer was final: a cut was made."""
    leases = _leases(state.problem, choice)
    listed = listed_on(state.shop, leases).listed
    if not listed.late and not listed.over:
        state.begin_from(listed.layout)
    _climb(state, choice, leases)
    if state.proven or (len(master.on) > FEW and state.is_enough):
        return False
    calendar = Calendar(problem=state.problem, leases=leases, floor=state.floor)
    laid = calendar.solve(state.limits(0.2 if len(calendar.on) <= FEW else 0.05))
    state.spend(laid)
    state.begin_from(laid.layout)
    if laid.done:
        master.cut(choice.leases, objective_of(state.problem, laid.layout) if laid.layout else None)
    return laid.done


def _climb(state: Search, choice: Choice, leases: Sequence[Package]) -> None:
    """Take what is kept and each task's family from HiGHS, and look just above the bound first, then higher.

    A ceiling close above the bound leaves so little idle time that CP-SAT finds a calendar, or that there is
    none, much sooner than by descending to it.
    """
    there = [{package.name for package in family.packages} for family in state.shelf]
    only = {
        task: frozenset(number for number, package in enumerate(leases) if package.name in there[family])
        for task, family in choice.family.items()
    }
    left = frozenset(task.name for task in state.problem.tasks if task.name not in choice.kept)
    for rung in RUNGS:
        ceiling = int(state.floor * rung) + 1
        if state.objective is not None and ceiling >= state.objective:
            ceiling = state.objective
        calendar = Calendar(
            problem=state.problem, leases=leases, floor=state.floor, only=only, left=left, ceiling=ceiling
        )
        laid = calendar.solve(state.limits(0.08))
        state.spend(laid)
        state.begin_from(laid.layout)
        if laid.layout is not None or ceiling == state.objective:
            return


def _leases(problem: Problem, choice: Choice) -> list[Package]:
    return [package for package in problem.packages for _each in range(choice.leases.get(package.name, 0))]


def _prove_small(state: Search) -> None:
    """Where there are few enough places, look at all that can be rented: the answer is then final."""
    leases = _all_leases(state)
    if leases is None:
        return
    calendar = Calendar(problem=state.problem, leases=leases, floor=state.floor, ceiling=state.objective)
    laid = calendar.solve(state.limits(0.7))
    state.spend(laid)
    state.offer(laid.layout)
    if laid.bound is not None:
        state.floor = max(state.floor, min(laid.bound, state.objective or laid.bound))
    if laid.done:
        state.impossible = state.best is None
        state.floor = state.objective or 0


def _all_leases(state: Search) -> list[Package] | None:
    """Return every lease that a plan better than the best can have; None when they are too many."""
    problem = state.problem
    leases, places = [], 0
    for family in state.shelf:
        for package in family.packages:
            able = [task for task in problem.tasks if hosts(task, package, problem.horizon)]
            if not able:
                continue
            count = len({task.group or f"task {task.name}" for task in able})
            count = count if package.capacity is None else min(count, package.capacity)
            shortest = package.boot_ticks + min(task.ticks[package.machine_class] for task in able)
            least = fine_lease(package, shortest, problem.ticks_per_hour) // problem.ticks_per_hour
            if state.objective is not None and least > 0:
                count = min(count, state.objective // least)
            leases += [package] * count
            places += count * package.machines * len(able)
            if places > SMALL:
                return None
    return leases


def _find_any(state: Search) -> None:
    """Look for a first plan on what was tried so far and one of everything else."""
    leases = copies(candidates(state.shop, state.shelf, {}), 2)
    laid = Calendar(problem=state.problem, leases=leases, floor=state.floor).solve(
        state.limits(0.5), stop_at_first=True
    )
    state.spend(laid)
    state.offer(laid.layout)


def _improve(state: Search) -> None:
    assert state.best is not None, "there is something to improve"
    goal = int(state.floor / (1 - state.effort.enough))
    improved = improve(
        state.problem,
        state.chosen or state.best,
        candidates(state.shop, state.shelf, {}),
        floor=state.floor,
        goal=goal,
        limits=Limits(work=max(0.0, state.work), wall_seconds=max(0.1, state.wall)),
    )
    state.limit |= improved.limit
    state.offer(improved.layout)
