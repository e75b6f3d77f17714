"""Finds what a training process holds: models, optimizers, schedulers, scalers, averages, generators."""

from __future__ import annotations

import functools
import gc
import itertools
import re
import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from lastro.probe.fingerprint import digest

#: Kinds of state, as a trace names them.
MODEL, FROZEN, BUFFERS = "model", "frozen", "buffers"
OPTIMIZER, SCHEDULER, SCALER, EMA, RANDOM = "optimizer", "scheduler", "scaler", "ema", "random"
#: What a job that attaches names itself: an object of its own, and where it stands.
OBJECT, POSITION = "object", "position"

#: What is looked for in everything alive; averages and generators only in what the job has a name for.
_FOUND_ANYWHERE = (MODEL, OPTIMIZER, SCHEDULER, SCALER)
_EMA = re.compile(r"(^|[_\W])(ema|swa|shadow|average[ds]?|avg)([_\W]|$)|AveragedModel|EMA|Ema")
_SCALER = re.compile(r"scaler", re.IGNORECASE)
_LONGEST_VALUE = 4096
_LIBRARIES = ("site-packages", "dist-packages", "<frozen", str(Path(__file__).resolve().parent.parent))


class Objects:
    """What was found in this process so far, each under a name."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[str, Any]] = {}  # name -> kind, weak reference
        self._known: dict[int, str] = {}
        self._looks = 0

    def look(self, frame: FrameType | None, tracked: Mapping[str, Any] | None = None) -> None:
        """Search what is tracked, the frames that lead here and, at times, everything alive."""
        for name, item in (tracked or {}).items():
            self._add(name, item, rename=True)
        for name, item in variables(frame).items():
            self._add(name, item)
        if self._looks in (0, 1) or self._looks % 20 == 0:
            for item in _worth_a_look(gc.get_objects()):
                if kind_of("", item) in _FOUND_ANYWHERE:
                    self._add(type(item).__name__, item)
        self._looks += 1

    def _add(self, name: str, item: Any, rename: bool = False) -> None:
        kind, key = kind_of(name, item), id(item)
        known = self._known.get(key)
        if kind is None or (known is not None and (not rename or known == name)):
            return
        if known is not None:
            self._forget(known, key)
        name = self._free(name)
        reference: Callable[[], Any]
        try:
            reference = weakref.ref(item, functools.partial(self._gone, name, key))
        except TypeError:  # a dict, say: it stays alive for as long as it is looked at
            reference = functools.partial(_itself, item)
        self._found[name] = (kind, reference)
        self._known[key] = name

    def _free(self, name: str) -> str:
        """Return the name, or one like it that is not taken."""
        others = (f"{name}#{number}" for number in itertools.count(2))
        return next(one for one in itertools.chain([name], others) if one not in self._found)

    def _gone(self, name: str, key: int, _reference: Any) -> None:
        self._forget(name, key)

    def _forget(self, name: str, key: int) -> None:
        self._found.pop(name, None)
        self._known.pop(key, None)

    def alive(self, *kinds: str) -> dict[str, Any]:
        """Return the objects of these kinds that are alive, by name; modules within modules left out."""
        alive = {name: (kind, item()) for name, (kind, item) in list(self._found.items())}
        inner = {
            id(part)
            for kind, item in alive.values()
            if _is_module(item)
            for part in item.modules()
            if part is not item
        }
        return {
            name: item
            for name, (kind, item) in sorted(alive.items())
            if item is not None and kind in kinds and id(item) not in inner
        }

    def state(self) -> dict[str, list[str]]:
        """Return [kind, digest] for each part of the state, by name."""
        found: dict[str, list[str]] = {}
        averages = self.alive(EMA)
        for name, model in self.alive(MODEL).items():
            found |= _of_model(name, model)
        for name, item in self.alive(OPTIMIZER).items():
            found[name] = [OPTIMIZER, of_optimizer(item)]
        for kind in (SCHEDULER, SCALER):
            for name, item in self.alive(kind).items():
                found[name] = [kind, digest(_state_of(item))]
        for name, item in averages.items():
            found[name] = [EMA, digest(_state_of(item))]
        found |= {name: [RANDOM, value] for name, value in _generators(self).items()}
        return found


def _itself(item: Any) -> Any:
    return item


def _worth_a_look(items: Iterable[Any]) -> Iterator[Any]:
    """Yield those whose type may be of a kind: of a million objects there are a few thousand types."""
    known: dict[type, bool] = {}
    for item in items:
        kind = type(item)
        may_be = known.get(kind)
        if may_be is None:
            may_be = known[kind] = _may_hold_state(kind)
        if may_be:
            yield item


def _may_hold_state(kind: type) -> bool:
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "optim"):
        return False
    holders = (torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler, torch.nn.Module)
    return issubclass(kind, holders) or bool(_SCALER.search(kind.__name__))


def kind_of(name: str, item: Any) -> str | None:
    """Return the kind of an object's state; None for what is no state.

    By its type alone: anything alive is asked about, and some objects do things when they are touched.
    """
    torch = sys.modules.get("torch")
    kind = type(item)
    if torch is None or kind is type or not hasattr(torch, "optim"):
        return None
    if issubclass(kind, torch.optim.Optimizer):
        return OPTIMIZER
    if issubclass(kind, torch.optim.lr_scheduler.LRScheduler):
        return SCHEDULER
    if issubclass(kind, torch.Generator):
        return RANDOM
    label = f"{name} {kind.__name__}"
    if issubclass(kind, torch.nn.Module):
        if next(iter(item.parameters()), None) is None and next(iter(item.buffers()), None) is None:
            return None
        return EMA if _EMA.search(label) else MODEL
    if _SCALER.search(kind.__name__) and hasattr(kind, "state_dict"):
        return SCALER
    return EMA if _EMA.search(label) and _holds_tensors(item) else None


def _holds_tensors(item: Any) -> bool:
    torch = sys.modules["torch"]
    parts = [*getattr(item, "__dict__", {}).values(), *(item.values() if type(item) is dict else ())]
    parts += [inner for part in parts if isinstance(part, dict) for inner in part.values()]
    parts += [inner for part in parts if isinstance(part, (list, tuple)) for inner in part[:1000]]
    return any(isinstance(part, torch.Tensor) for part in parts)


def _is_module(item: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and issubclass(type(item), torch.nn.Module)


def _state_of(item: Any) -> Any:
    """Return what an object keeps, without what only counts its calls."""
    if _is_module(item) or hasattr(item, "state_dict"):
        state = item.state_dict()
        return {key: value for key, value in state.items() if not key.startswith("_")}
    return item if type(item) is dict else vars(item)


def _of_model(name: str, model: Any) -> dict[str, list[str]]:
    groups: dict[str, dict[str, Any]] = {MODEL: {}, FROZEN: {}, BUFFERS: {}}
    for key, value in model.named_parameters():
        groups[MODEL if value.requires_grad else FROZEN][key] = value
    groups[BUFFERS] = dict(model.named_buffers())
    return {
        name if kind == MODEL else f"{name}.{kind}": [kind, digest(values)]
        for kind, values in groups.items()
        if values
    }


def of_optimizer(optimizer: Any) -> str:
    """Return the digest of an optimizer's state with the parameters that it belongs to.

    Parameters are known by their values, so that a state that went to another parameter is another digest.
    """
    pairs = [
        (digest(parameter), digest(optimizer.state.get(parameter, {})))
        for group in optimizer.param_groups
        for parameter in group["params"]
    ]
    # The order of the parameters is the optimizer's own affair.
    return digest(sorted(pairs))


def _generators(objects: Objects) -> dict[str, str]:
    import random

    torch = sys.modules.get("torch")
    found = {"random.python": digest(random.getstate())}
    if (numpy := sys.modules.get("numpy")) is not None:
        found["random.numpy"] = digest(list(numpy.random.get_state()))
    if torch is not None and hasattr(torch, "get_rng_state"):
        found["random.torch"] = digest(torch.get_rng_state())
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            found["random.cuda"] = digest(torch.cuda.get_rng_state_all())
    for name, item in objects.alive(RANDOM).items():
        found[name] = digest(item.get_state())
    return found


# --- variables ----------------------------------------------------------------------------------------


def frames(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the frames of the user's own code that lead here, the outermost last."""
    while frame is not None:
        if not any(part in frame.f_code.co_filename for part in _LIBRARIES):
            yield frame
        frame = frame.f_back


def variables(frame: FrameType | None) -> dict[str, Any]:
    """Return the variables of the user's own frames, and what their `self` holds."""
    found: dict[str, Any] = {}
    for each in frames(frame):
        for name, value in each.f_locals.items():
            if name.startswith("__"):
                continue
            found.setdefault(name, value)
            if name == "self":
                found.update({f"self.{key}": item for key, item in getattr(value, "__dict__", {}).items()})
    return found


def plain_values(frame: FrameType | None) -> dict[str, str]:
    """Return digests of the plain variables in sight: numbers, and small containers of numbers."""
    return {
        name: digest(value if not isinstance(value, deque) else list(value))
        for name, value in variables(frame).items()
        if _is_plain(value)
    }


def _is_plain(value: Any) -> bool:
    if isinstance(value, (int, float)):
        return True
    if isinstance(value, (list, tuple, deque, dict)):
        items = list(value.values()) if isinstance(value, dict) else list(value)[:_LONGEST_VALUE]
        return len(value) <= _LONGEST_VALUE and all(isinstance(item, (int, float)) for item in items)
    return False
