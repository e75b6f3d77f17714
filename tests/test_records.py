"""Records behave as the library's frozen dataclasses do: each test asks both for the same."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastro import records

MAKERS = [records.dataclass, dataclasses.dataclass]
NAMED = ["ours", "theirs"]


@records.dataclass(frozen=True, kw_only=True)
class Place:
    """At the top of a module, as pickle wants it. `note` is neither compared nor shown."""

    name: str
    size: int = 1
    parts: list[int] = dataclasses.field(default_factory=list)
    note: str = dataclasses.field(default="", compare=False, repr=False)


@records.dataclass(frozen=True)
class Pair:
    left: int
    right: int = 2


@records.dataclass(frozen=True)
class Triple(Pair):
    third: int = 3


def placed(make: Callable[..., Any]) -> type[Any]:
    """Return a class like `Place`, made by one of the two makers."""

    class Like:
        name: str
        size: int = 1
        parts: list[int] = dataclasses.field(default_factory=list)
        note: str = dataclasses.field(default="", compare=False, repr=False)

    made: type[Any] = make(frozen=True, kw_only=True)(Like)
    return made


@given(name=st.text(), size=st.integers(), parts=st.lists(st.integers()), note=st.text())
def test_it_says_and_compares_the_same(name: str, size: int, parts: list[int], note: str) -> None:
    told = []
    for make in MAKERS:
        cls = placed(make)
        one = cls(name=name, size=size, parts=parts, note=note)
        told.append(
            (
                repr(one),
                dataclasses.asdict(one),
                one == cls(name=name, size=size, parts=list(parts), note="another"),
                one == cls(name=name, size=size + 1, parts=parts),
                one == (name, size),
                dataclasses.replace(one, size=7).size,
                [field.name for field in dataclasses.fields(one)],
                cls.__match_args__,
            )
        )
    assert told[0] == told[1]


@given(left=st.integers(), right=st.integers())
def test_equal_ones_have_equal_hashes(left: int, right: int) -> None:
    assert hash(Pair(left, right)) == hash(Pair(left=left, right=right))
    assert {Pair(left, right): 1}[Pair(left, right)] == 1


@pytest.mark.parametrize("make", MAKERS, ids=NAMED)
def test_a_default_that_is_made_is_made_anew(make: Callable[..., Any]) -> None:
    cls = placed(make)
    first, second = cls(name="a"), cls(name="b")
    first.parts.append(1)
    assert second.parts == []


@pytest.mark.parametrize("make", MAKERS, ids=NAMED)
def test_nothing_of_it_can_be_changed(make: Callable[..., Any]) -> None:
    one = placed(make)(name="a")
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'size'"):
        one.size = 2
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'size'"):
        del one.size


@pytest.mark.parametrize("make", MAKERS, ids=NAMED)
@pytest.mark.parametrize(
    ("args", "given_by_name"),
    [((), {}), ((), {"name": "a", "other": 1}), (("a",), {}), ((1, 2), {"size": 3})],
)
def test_wrong_arguments_are_refused(
    make: Callable[..., Any], args: tuple[Any, ...], given_by_name: dict[str, Any]
) -> None:
    with pytest.raises(TypeError):
        placed(make)(*args, **given_by_name)


@pytest.mark.parametrize(
    ("args", "by_name", "told"),
    [
        ((), {}, r"Pair\(\) misses the arguments: left"),
        ((1, 2, 3), {}, r"Pair\(\) takes 2 positional arguments but 3 were given"),
        ((1,), {"left": 2}, r"Pair\(\) got multiple values for argument 'left'"),
        ((1,), {"up": 2}, r"Pair\(\) got an unexpected argument 'up'"),
    ],
)
def test_what_is_wrong_with_them_is_said(args: tuple[int, ...], by_name: dict[str, int], told: str) -> None:
    with pytest.raises(TypeError, match=told):
        Pair(*args, **by_name)


def test_one_that_is_built_on_another_has_its_fields_first() -> None:
    assert Triple(1) == Triple(left=1, right=2, third=3)
    assert Triple(1) != Pair(1)
    assert repr(Triple(1)) == "Triple(left=1, right=2, third=3)"


def test_what_is_to_be_checked_is_checked_when_it_is_made() -> None:
    @records.dataclass(frozen=True)
    class Checked:
        value: int

        def __post_init__(self) -> None:
            if self.value < 0:
                raise ValueError("below zero")

    assert Checked(1).value == 1
    with pytest.raises(ValueError, match="below zero"):
        Checked(-1)


def test_a_method_of_its_own_stays() -> None:
    @records.dataclass(frozen=True)
    class Named:
        value: int

        def __repr__(self) -> str:
            return f"the {self.value}"

    assert repr(Named(3)) == "the 3"


def test_it_can_be_copied_and_pickled() -> None:
    one = Place(name="a", parts=[1], note="kept")
    again = pickle.loads(pickle.dumps(one))
    assert [one == again, again.note, copy.deepcopy(one) == one] == [True, "kept", True]


def test_what_is_not_frozen_is_the_librarys_own() -> None:
    @records.dataclass
    class Open:
        value: int

    one = Open(1)
    one.value = 2
    assert one == Open(2)
    assert not hasattr(Open, "__record__")
