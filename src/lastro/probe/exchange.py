"""Keeps a job's state at one moment, and puts parts of it into a later life that was resumed from there.

So it shows whether just this part was what a resume had not restored. What is kept never leaves the drill's
own folder, and is read by the same job alone.
"""

from __future__ import annotations

import pickle
import random
import sys
from collections.abc import Collection, Iterator, Mapping, MutableMapping, MutableSequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from lastro.probe.objects import (
    BUFFERS,
    EMA,
    FROZEN,
    MODEL,
    OBJECT,
    OPTIMIZER,
    RANDOM,
    SCALER,
    SCHEDULER,
    Objects,
    kind_of,
)

#: What can be put into a living job. A place in the data and values of its own code cannot.
PUT_BACK = (MODEL, FROZEN, BUFFERS, OPTIMIZER, SCHEDULER, SCALER, EMA, RANDOM, OBJECT)
#: Beside the schedulers: the learning rates that lie in the optimizers, as these were left.
_RATES = "rates"
#: The optimizers, all together.
_ALL = "optimizers"
#: Beside generators of a job's own: those that every process has.
_OF_PROCESS = "random"


def file_name(rank: int | str) -> str:
    """Return the name of what one process has kept, in the folder of its attempt; `*`: of all of them."""
    return f"state.{rank}.pickle"


def keep(path: Path, objects: Objects, tracked: Mapping[str, Any]) -> None:
    """Write the state of all objects that are alive. Raises whatever a foreign object raises."""
    path.write_bytes(pickle.dumps(_state(objects, tracked), protocol=pickle.HIGHEST_PROTOCOL))


def put_back(
    path: Path, objects: Objects, tracked: Mapping[str, Any], kinds: Collection[str]
) -> tuple[list[str], list[str]]:
    """Put what was kept of these kinds into the objects that are alive now.

    Returns:
        The names of what was put back, and of what was not, with the reason.
    """
    try:
        kept = pickle.loads(path.read_bytes())  # noqa: S301 - this drill wrote it, of this very job
    except Exception as error:  # noqa: BLE001 - whatever is wrong with it, nothing is put back
        return [], [f"{type(error).__name__}: {error}"]
    torch = sys.modules.get("torch")
    done, not_done = [], []
    with torch.no_grad() if torch is not None else nullcontext():
        for kind in kinds:
            live = _live(kind, objects, tracked)
            for name, value in kept.get(kind, {}).items():
                try:
                    _put(kind, live[name], value, objects)
                    done.append(name)
                except Exception as error:  # noqa: BLE001 - a foreign object may raise anything
                    not_done.append(f"{name}: {type(error).__name__}: {error}")
    return done, not_done


def _state(objects: Objects, tracked: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for kind in PUT_BACK:
        found[kind] = {
            name: _value(kind, item, objects) for name, item in _live(kind, objects, tracked).items()
        }
    return found


def _live(kind: str, objects: Objects, tracked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is alive of a kind, by name."""
    if kind in (FROZEN, BUFFERS):
        return objects.alive(MODEL)
    if kind == OBJECT:
        return {name: item for name, item in tracked.items() if kind_of(name, item) is None}
    if kind == OPTIMIZER:
        return {_ALL: objects}  # two lives need not call several of them alike: parameters know theirs
    if kind == SCHEDULER:
        return {**objects.alive(SCHEDULER), _RATES: objects}
    if kind == RANDOM:
        return {_OF_PROCESS: None, **objects.alive(RANDOM)}
    return objects.alive(kind)


def _value(kind: str, item: Any, objects: Objects) -> Any:
    if kind in (MODEL, FROZEN, BUFFERS):
        return {key: value.detach() for key, value in _tensors(kind, item)}
    if kind == OPTIMIZER:
        return {key: optimizer.state.get(one, {}) for key, optimizer, one in _parameters(objects)}
    if kind == RANDOM:
        return _drawn(item)
    if item is objects:
        return {key: group.get("lr") for key, group in _groups(objects)}
    return _own(item)


def _put(kind: str, item: Any, value: Any, objects: Objects) -> None:
    if kind in (MODEL, FROZEN, BUFFERS):
        for key, live in _tensors(kind, item):
            live.copy_(value[key])
    elif kind == OPTIMIZER:
        for key, optimizer, one in _parameters(objects):
            optimizer.state[one] = dict(value[key])
    elif kind == RANDOM:
        _set_drawn(item, value)
    elif item is objects:
        for key, group in _groups(objects):
            group["lr"] = value[key]
    elif hasattr(item, "load_state_dict"):
        item.load_state_dict(value)
    else:
        _into(item if isinstance(item, MutableMapping) else vars(item), value)


def _tensors(kind: str, model: Any) -> Iterator[tuple[str, Any]]:
    if kind == BUFFERS:
        yield from model.named_buffers()
        return
    for key, value in model.named_parameters():
        if value.requires_grad == (kind == MODEL):
            yield key, value


def _names(objects: Objects) -> dict[int, str]:
    """Return the names of the parameters of all models: two lives may hand them over in another order."""
    return {
        id(parameter): f"{name}.{key}"
        for name, model in objects.alive(MODEL).items()
        for key, parameter in model.named_parameters()
    }


def _parameters(objects: Objects) -> Iterator[tuple[str, Any, Any]]:
    """Yield each parameter of each optimizer, with a key that it has in every life."""
    names = _names(objects)
    for number, optimizer in enumerate(objects.alive(OPTIMIZER).values()):
        every = [one for group in optimizer.param_groups for one in group["params"]]
        for place, one in enumerate(every):
            yield names.get(id(one), f"{number}.{place}"), optimizer, one


def _groups(objects: Objects) -> Iterator[tuple[str, Any]]:
    """Yield each group of parameters, with the first of their keys, in whatever order they stand."""
    keys = {id(one): key for key, _optimizer, one in _parameters(objects)}
    for optimizer in objects.alive(OPTIMIZER).values():
        for group in optimizer.param_groups:
            yield min((keys[id(one)] for one in group["params"]), default=""), group


def _own(item: Any) -> Any:
    """Return what an object keeps, as it says it itself where it can."""
    if hasattr(item, "state_dict"):
        return item.state_dict()
    return dict(item) if isinstance(item, Mapping) else dict(vars(item))


def _drawn(generator: Any) -> Any:
    """Return the state of a generator; None: of all that every process has."""
    if generator is not None:
        return generator.get_state()
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    state: dict[str, Any] = {"python": random.getstate()}
    if numpy is not None:
        state["numpy"] = numpy.random.get_state()
    if torch is not None:
        state["torch"] = torch.get_rng_state()
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            state["cuda"] = torch.cuda.get_rng_state_all()
    return state


def _set_drawn(generator: Any, state: Any) -> None:
    if generator is not None:
        generator.set_state(state)
        return
    random.setstate(state["python"])
    if "numpy" in state:
        sys.modules["numpy"].random.set_state(state["numpy"])
    if "torch" in state:
        sys.modules["torch"].set_rng_state(state["torch"])
    if "cuda" in state:
        sys.modules["torch"].cuda.set_rng_state_all(state["cuda"])


def _into(live: Any, kept: Any) -> None:
    """Write kept values into a container that lives on: whoever holds its tensors sees the change."""
    torch = sys.modules["torch"]
    for key, value in kept.items() if isinstance(kept, Mapping) else enumerate(kept):
        try:
            there = live[key]
        except (KeyError, IndexError):
            there = None
        if isinstance(there, torch.Tensor) and isinstance(value, torch.Tensor):
            there.copy_(value)
        elif isinstance(there, (MutableMapping, MutableSequence)) and type(there) is type(value):
            _into(there, value)
        else:
            live[key] = value
