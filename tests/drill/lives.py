"""Lives of a make-believe job, as a probe would have seen them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lastro.drill.compare import Reference, make_reference
from lastro.drill.trace import Life, Update

#: The state before an update, by name: [kind, digest]; `{step}` stands for the update's number.
STATE = {
    "model": ["model", "m{step}"],
    "optimizer": ["optimizer", "o{step}"],
    "scheduler": ["scheduler", "s{step}"],
    "random.torch": ["random", "r{step}"],
}


def update(step: int, **changes: Any) -> Update:
    """An update of a job that is the same every time."""
    whole = Update(
        step=step,
        mono=float(step),
        state=state_at(step),
        inputs=(f"batch-{step}",),
        rows=(f"row-{step}a", f"row-{step}b"),
        ids=(f"ids-{step}",),
        losses=(1.0 / step,),
        gradient=0.5 / step,
        rates=(0.1 / step,),
        after={"model": f"m{step + 1}"},
        variables={"temperature": f"t{step}", "started": "always"},
        saves=(f"saves/{step - 1}.pt",) if step > 1 and (step - 1) % 5 == 0 else (),
    )
    return replace(whole, **changes)


def state_at(step: int, **changes: str | None) -> dict[str, list[str]]:
    """The state before an update; a change gives another digest to a name, or takes the name away."""
    state = {name: [kind, digest.format(step=step)] for name, (kind, digest) in STATE.items()}
    for name, digest in changes.items():
        real = name.replace("random_torch", "random.torch")
        if digest is None:
            del state[real]
        else:
            state[real] = [state[real][0], digest]
    return state


def life(
    first: int,
    last: int,
    number: int = 1,
    *,
    ended: str | None = "until",
    changes: Mapping[int, Mapping[str, Any]] | None = None,
    every: Mapping[str, Any] | None = None,
    put_back: tuple[str, ...] | None = None,
    not_put_back: tuple[str, ...] = (),
) -> Life:
    """A life from one update to another. `changes`: of single updates; `every`: of all of them."""
    updates = tuple(
        update(step, **{**(every or {}), **(changes or {}).get(step, {})}) for step in range(first, last + 1)
    )
    return Life(
        number=number, api=False, began=0.0, resumed_at=first - 1, restored=None, restored_variables={},
        updates=updates, ended=ended, put_back=put_back, not_put_back=not_put_back,
    )  # fmt: skip


def reference(last: int = 20) -> Reference:
    """Three undisturbed lives that agree bit for bit."""
    return make_reference([life(1, last) for _number in range(3)])


def killed(at: int = 7) -> Life:
    return life(1, at, ended="kill update")
