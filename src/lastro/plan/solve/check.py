"""Every rule that a solution breaks. What solvers return is checked here before it is believed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from lastro.billing import LeaseKind
from lastro.plan.solve.cost import cost_of, longest_span
from lastro.plan.solve.problem import Package, Problem, Task
from lastro.plan.solve.solution import Held, Placed, Solution, gap_of, is_proven


def check(problem: Problem, solution: Solution) -> list[str]:
    """Return a sentence for each rule that the solution breaks; empty for a plan that can be believed."""
    named = {task.name: task for task in problem.tasks}
    if unknown := [one.task for one in solution.placed if one.task not in named]:
        return [f"{task} is no task" for task in unknown]
    packages = {package.name: package for package in problem.packages}
    if unknown := [machine.package for machine in solution.held if machine.package not in packages]:
        return [f"{package} is no package" for package in unknown]
    return [
        *_of_choice(problem, solution),
        *_of_order(named, solution.placed),
        *_of_machines(named, packages, solution),
        *_of_leases(problem, packages, solution.held),
        *_of_limits(problem, solution),
        *_of_money(problem, solution),
    ]


def _of_choice(problem: Problem, solution: Solution) -> Iterator[str]:
    times = Counter([*(one.task for one in solution.placed), *solution.left_out])
    left = set(solution.left_out)
    for task in problem.tasks:
        if times[task.name] != 1:
            yield f"{task.name} is placed or left out {times[task.name]} times"
        if task.name in left:
            if task.left_out is None:
                yield f"{task.name} is required, but left out"
        elif missing := left & set(task.after):
            yield f"{task.name} waits for what is left out: {', '.join(sorted(missing))}"


def _of_order(named: dict[str, Task], placed: Sequence[Placed]) -> Iterator[str]:
    ends = {one.task: one.end for one in placed}
    for one in placed:
        for other in named[one.task].after:
            if one.start < ends.get(other, 0):
                yield f"{one.task} begins at {one.start}, before {other} ends at {ends[other]}"
        if one.start < 0:
            yield f"{one.task} begins at {one.start}"
    people = defaultdict(list)
    for one in placed:
        if (person := named[one.task].person) is not None:
            people[person].append((one.start, one.end, 1))
    for person, intervals in people.items():
        if _most_at_once(intervals) > 1:
            yield f"{person} does two things at once"


def _of_machines(named: dict[str, Task], packages: dict[str, Package], solution: Solution) -> Iterator[str]:
    held = {machine.machine: machine for machine in solution.held}
    load = defaultdict(list)
    groups = defaultdict(set)
    for one in solution.placed:
        task = named[one.task]
        machine = None if one.machine is None else held.get(one.machine)
        if one.machine is None or machine is None:
            if task.needs_machine or one.machine is not None or one.end - one.start != task.alone_ticks:
                yield f"{task.name} has no machine that is held, or a wrong duration"
            continue
        yield from _of_place(task, one, machine, packages[machine.package])
        load[one.machine].append((one.start, one.end, task.slots))
        if task.group is not None:
            groups[task.group].add(one.machine)
    for number, intervals in load.items():
        if _most_at_once(intervals) > packages[held[number].package].gpus:
            yield f"machine {number} runs more at once than it has GPUs"
    yield from (f"{group} is on several machines" for group, on in groups.items() if len(on) > 1)
    if len(held) < len(solution.held):
        yield "two machines have one number"
    if idle := set(held) - set(load):
        yield f"machines are rented for nothing: {sorted(idle)}"


def _of_place(task: Task, one: Placed, machine: Held, package: Package) -> Iterator[str]:
    if not runs_on(task, package) or one.end - one.start != task.ticks[package.machine_class]:
        yield f"{task.name} cannot run on {package.name}, or has a wrong duration"
    if one.start < machine.start + package.boot_ticks or one.end > machine.end:
        yield f"{task.name} lies outside of the time in which {package.name} is ready"


def _of_leases(problem: Problem, packages: dict[str, Package], held: Sequence[Held]) -> Iterator[str]:
    leases = defaultdict(list)
    for machine in held:
        leases[machine.lease].append(machine)
    taken: Counter[str] = Counter()
    for number, machines in leases.items():
        package = packages[machines[0].package]
        taken[package.name] += 1
        if len({(one.package, one.start, one.end) for one in machines}) > 1:
            yield f"the machines of lease {number} differ in package or time"
        if len(machines) > package.machines:
            yield f"lease {number} has more machines than {package.name} includes"
        if not 0 < machines[0].end - machines[0].start <= longest_span(package, problem.horizon):
            yield f"lease {number} of {package.name} lasts too long, or not at all"
    for name, count in taken.items():
        capacity = packages[name].capacity
        if capacity is not None and count > capacity:
            yield f"{name} is taken {count} times, there are {capacity}"


def _of_limits(problem: Problem, solution: Solution) -> Iterator[str]:
    end = max([*(one.end for one in solution.placed), *(one.end for one in solution.held)], default=0)
    if solution.end_ticks != max((one.end for one in solution.placed), default=0):
        yield f"it says that it ends at {solution.end_ticks}"
    if problem.window_ticks is not None and end > problem.window_ticks:
        yield f"it ends at {end}, after the window of {problem.window_ticks}"
    if any(machine.start < 0 for machine in solution.held):
        yield "a machine is rented before the window begins"
    at_once = _most_at_once([(one.start, one.end, 1) for one in solution.held])
    if problem.lanes is not None and at_once > problem.lanes:
        yield f"{at_once} machines at once, there are {problem.lanes} lanes"
    if problem.budget is not None and solution.cost > problem.budget:
        yield f"it costs {solution.cost}, more than the budget of {problem.budget}"


def _of_money(problem: Problem, solution: Solution) -> Iterator[str]:
    lines = cost_of(problem, solution.held, solution.placed)
    if lines != tuple(machine.cost for machine in solution.held) or sum(lines) != solution.cost:
        yield f"its costs are {lines}, together {sum(lines)}"
    left = set(solution.left_out)
    worth = sum(task.left_out or 0 for task in problem.tasks if task.name in left)
    if solution.objective != solution.cost + worth:
        yield f"its objective is {solution.cost + worth}"
    if solution.bound is not None and solution.bound > solution.objective:
        yield f"its bound {solution.bound} is above its objective"
    if solution.gap != gap_of(solution.objective, solution.bound):
        yield "its gap is not that of its bound"
    if solution.proven != is_proven(solution.objective, solution.bound):
        yield "its bound says otherwise about whether it is proven"


def runs_on(task: Task, package: Package) -> bool:
    """Say whether a task can run on a machine of a package, however long it is held."""
    return (
        package.machine_class in task.ticks
        and task.slots <= package.gpus
        and not (task.never_spot and package.kind is LeaseKind.SPOT)
    )


def _most_at_once(intervals: Sequence[tuple[int, int, int]]) -> int:
    """Return the largest sum of weights at any moment of (start, end, weight); an end frees its moment."""
    changes = [(start, weight) for start, _end, weight in intervals]
    changes += [(end, -weight) for _start, end, weight in intervals]
    most = now = 0
    for _when, weight in sorted(changes):
        now += weight
        most = max(most, now)
    return most
