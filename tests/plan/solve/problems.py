"""Small problems: drawn at random, and every plan that one of them has."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import strategies as st

from lastro.billing import LeaseKind
from lastro.plan.solve import Held, Package, Placed, Problem, Solution, Task
from lastro.plan.solve.layout import Layout, judged, objective_of, tightened

CLASSES = ("a", "b")


def hourly(name: str = "hourly", machine_class: str = "a", price: int = 10, **more: int) -> Package:
    return Package(name=name, machine_class=machine_class, kind=LeaseKind.HOURLY, price=price, **more)


def lot(
    name: str = "lot",
    machine_class: str = "a",
    price: int = 100,
    term: int = 10,
    renewal: int | None = None,
    **more: int,
) -> Package:
    return Package(
        name=name,
        machine_class=machine_class,
        kind=LeaseKind.LOT,
        price=price,
        term_ticks=term,
        renewal=renewal,
        **more,
    )


def task(name: str, ticks: int = 1, machine_class: str = "a", **more: object) -> Task:
    return Task(name=name, ticks={machine_class: ticks}, **more)  # type: ignore[arg-type]


def problem(tasks: list[Task], packages: list[Package], **more: int) -> Problem:
    return Problem(tasks=tuple(tasks), packages=tuple(packages), **{"ticks_per_hour": 1, **more})


_MONEY = st.integers(0, 30)


@st.composite
def packages(draw: st.DrawFn, name: str) -> Package:
    kind = draw(st.sampled_from(LeaseKind))
    is_lot = kind is LeaseKind.LOT
    return Package(
        name=name,
        machine_class=draw(st.sampled_from(CLASSES)),
        kind=kind,
        price=draw(_MONEY),
        gpus=draw(st.sampled_from((1, 1, 2))),
        machines=draw(st.sampled_from((1, 1, 2))),
        unit_ticks=1 if is_lot else draw(st.integers(1, 3)),
        minimum_ticks=0 if is_lot else draw(st.integers(0, 3)),
        term_ticks=draw(st.integers(1, 5)) if is_lot else None,
        renewal=draw(st.none() | _MONEY) if is_lot else None,
        capacity=draw(st.sampled_from((None, None, None, 0, 1, 2))),
        holding=draw(st.integers(0, 3)),
        once=draw(st.integers(0, 5)),
        per_out=draw(st.integers(0, 2)),
        boot_ticks=draw(st.integers(0, 1)),
    )


@st.composite
def problems(draw: st.DrawFn, most_tasks: int = 4, most_packages: int = 3, longest: int = 3) -> Problem:
    """Draw a problem with every feature there is, small enough to look at each of its plans."""
    tasks: list[Task] = []
    for number in range(draw(st.integers(2, most_tasks))):
        where = draw(st.sampled_from(((), ("a",), ("a",), ("b",), CLASSES, CLASSES)))
        tasks.append(
            Task(
                name=f"t{number}",
                ticks={one: draw(st.integers(1, longest)) for one in sorted(where)},
                alone_ticks=0 if where else draw(st.integers(1, longest)),
                person=draw(st.sampled_from((None, None, None, "eva"))),
                gpus=draw(st.sampled_from((0, 1, 1, 1, 2))),
                after=tuple(one.name for one in tasks if draw(st.integers(0, 4)) == 4),
                left_out=draw(st.sampled_from((None, None, 10, 30, 100))),
                group=draw(st.sampled_from((None, None, None, "run"))),
                never_spot=draw(st.sampled_from((False, False, True))),
                out=draw(st.integers(0, 2)),
            )
        )
    return Problem(
        tasks=tuple(tasks),
        packages=tuple(draw(packages(f"p{number}")) for number in range(draw(st.integers(1, most_packages)))),
        window_ticks=draw(st.sampled_from((2, 3, 3, 4))),
        ticks_per_hour=draw(st.sampled_from((1, 2))),
        lanes=draw(st.sampled_from((None, None, None, 1, 2))),
        budget=draw(st.sampled_from((None, None, None, 20, 40, 80))),
    )


Option = tuple[int, int, tuple[int, int, int] | None]


def best_of_all(one: Problem) -> Solution | None:
    """Look at every start and machine of every task in the window; return the best plan, None without one.

    Leases are as long as their work. Leases of a package, and the machines of a lease, are alike: of these
    the first that nobody has yet stands for all.
    """
    best: Solution | None = None
    for chosen in _choices(one, {}):
        layout = _layout(one, chosen)
        if best is None or objective_of(one, layout) < best.objective:
            best = _quietly_judged(one, layout) or best
    return best


def _choices(one: Problem, chosen: dict[str, Option]) -> Iterator[dict[str, Option]]:
    """Yield every choice for the tasks from the next one on; `after` names earlier ones only."""
    left = [each for each in one.tasks if each.name not in chosen]
    if not left:
        yield chosen
        return
    each, window = left[0], one.window_ticks
    assert window is not None
    waits = [chosen[name] for name in each.after]
    if each.left_out is not None:
        yield from _choices(one, {**chosen, each.name: NOT})
    if NOT in waits:
        return
    ready = max((option[1] for option in waits), default=0)
    for place, length in _places(one, each, chosen):
        for start in range(ready, window - length + 1):
            yield from _choices(one, {**chosen, each.name: (start, start + length, place)})


#: A task that is left out.
NOT: Option = (-1, -1, None)


def _places(
    one: Problem, each: Task, chosen: dict[str, Option]
) -> Iterator[tuple[tuple[int, int, int] | None, int]]:
    if not each.needs_machine:
        yield None, each.alone_ticks
        return
    used = {option[2] for option in chosen.values()}
    for number, package in enumerate(one.packages):
        if package.machine_class not in each.ticks:
            continue
        leases = {place[1] for place in used if place is not None and place[0] == number}
        for lease in range(len(leases) + 1):
            for machine in range(package.machines):
                yield (number, lease, machine), each.ticks[package.machine_class]
                if (number, lease, machine) not in used:
                    break


def _layout(one: Problem, chosen: dict[str, Option]) -> Layout:
    places = sorted({option[2] for option in chosen.values() if option[2] is not None})
    leases = sorted({place[:2] for place in places})
    held = [
        Held(
            package=one.packages[place[0]].name,
            machine=number,
            start=0,
            end=0,
            cost=0,
            lease=leases.index(place[:2]),
        )
        for number, place in enumerate(places)
    ]
    placed = [
        Placed(
            task=name,
            machine=None if option[2] is None else places.index(option[2]),
            start=option[0],
            end=option[1],
        )
        for name, option in chosen.items()
        if option != NOT
    ]
    return tightened(one, held, placed)


def _quietly_judged(one: Problem, layout: Layout) -> Solution | None:
    try:
        return judged(one, layout, bound=None, method="exact", why="looked at all")
    except AssertionError:
        return None
