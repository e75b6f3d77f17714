"""Immutable records: `dataclasses.dataclass(frozen=True)`, made in a seventh of its time.

The library writes and compiles six functions for each class, and lastro has some five hundred of these: that
was half of what a command took to start. Here all frozen records share those functions, and only what tells
one class from another is kept with it. What is not frozen is made by the library.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError
from functools import partial
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]


@dataclasses.dataclass(frozen=True)
class _Shape:
    """What tells one record from another. `after`: it has a `__post_init__`."""

    names: frozenset[str]
    positional: tuple[str, ...]
    defaults: dict[str, Any]
    factories: dict[str, Callable[[], Any]]
    compared: tuple[str, ...]
    shown: tuple[str, ...]
    after: bool


def _dataclass(cls: Any = None, /, *, frozen: bool = False, kw_only: bool = False) -> Any:
    """Make a dataclass, as the function of this name in `dataclasses` does for the same options."""
    make = partial(_record if frozen else dataclasses.dataclass, kw_only=kw_only)
    return make if cls is None else make(cls)


def _record(cls: Any, *, kw_only: bool) -> Any:
    own = vars(cls)
    if own.get("__doc__") is None:
        cls.__doc__ = cls.__name__  # or the library makes one of the signature, which takes long
    made = set(own)
    dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(cls)
    fields = dataclasses.fields(cls)
    cls.__record__ = _Shape(
        names=frozenset(one.name for one in fields),
        positional=tuple(one.name for one in fields if not one.kw_only),
        defaults={one.name: one.default for one in fields if one.default is not MISSING},
        factories={one.name: one.default_factory for one in fields if one.default_factory is not MISSING},
        compared=tuple(one.name for one in fields if one.compare),
        shown=tuple(one.name for one in fields if one.repr),
        after=hasattr(cls, "__post_init__"),
    )
    for name, shared in _SHARED.items():
        if name not in made:
            setattr(cls, name, shared)
    return cls


def _init(self: Any, *args: Any, **given: Any) -> None:
    shape: _Shape = type(self).__record__
    if args:
        _place(self, shape, args, given)
    if given.keys() != shape.names:
        given = _completed(self, shape, given)
    self.__dict__.update(given)
    if shape.after:
        self.__post_init__()


def _place(self: Any, shape: _Shape, args: tuple[Any, ...], given: dict[str, Any]) -> None:
    """Put positional arguments under their names."""
    if len(args) > len(shape.positional):
        raise TypeError(
            f"{_name(self)} takes {len(shape.positional)} positional arguments but {len(args)} were given"
        )
    for name, value in zip(shape.positional, args, strict=False):
        if name in given:
            raise TypeError(f"{_name(self)} got multiple values for argument '{name}'")
        given[name] = value


def _completed(self: Any, shape: _Shape, given: dict[str, Any]) -> dict[str, Any]:
    """Return what was given with the defaults of what was not."""
    if unknown := given.keys() - shape.names:
        raise TypeError(f"{_name(self)} got an unexpected argument '{min(unknown)}'")
    made = {name: make() for name, make in shape.factories.items() if name not in given}
    whole = shape.defaults | made | given
    if missing := shape.names - whole.keys():
        raise TypeError(f"{_name(self)} misses the arguments: {', '.join(sorted(missing))}")
    return whole


def _name(self: Any) -> str:
    return f"{type(self).__qualname__}()"


def _repr(self: Any) -> str:
    told = ", ".join(f"{name}={getattr(self, name)!r}" for name in type(self).__record__.shown)
    return f"{type(self).__qualname__}({told})"


def _eq(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return _compared(self) == _compared(other)


def _hash(self: Any) -> int:
    return hash(_compared(self))


def _compared(self: Any) -> tuple[Any, ...]:
    values = vars(self)
    return tuple(values[name] for name in type(self).__record__.compared)


def _set(self: Any, name: str, _value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


_SHARED: dict[str, Callable[..., Any]] = {
    "__init__": _init,
    "__repr__": _repr,
    "__eq__": _eq,
    "__hash__": _hash,
    "__setattr__": _set,
    "__delattr__": _delete,
}

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _dataclass
