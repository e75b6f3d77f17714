from __future__ import annotations

import json
import math
from collections import Counter, OrderedDict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from lastro import strictjson
from lastro.checkpoint.state import decode, differences, encode, renamed
from lastro.errors import CheckpointDamaged

scalars = some.none() | some.booleans() | some.integers() | some.floats() | some.text() | some.binary()
keys = some.text() | some.integers() | some.just("$tuple")
trees = some.recursive(
    scalars,
    lambda inner: (
        some.lists(inner, max_size=3)
        | some.lists(inner, max_size=3).map(tuple)
        | some.dictionaries(keys, inner, max_size=3)
    ),
    max_leaves=12,
)


def no_tensor(path: str, value: Any) -> None:
    return None


def no_compare(saved: Any, live: Any) -> None:
    return None


def through_json(tree: Any) -> Any:
    text = strictjson.dumps(encode(tree, "x", no_tensor))
    return decode(json.loads(text), "x", {}, set())


@given(trees)
def test_a_tree_comes_back_as_it_was(tree: Any) -> None:
    assert list(differences(tree, through_json(tree), "x", no_compare)) == []


def test_the_order_of_keys_and_the_kind_of_mapping_come_back() -> None:
    tree = {"b": OrderedDict([(2, "x"), (1, "y")]), "a": Counter({3: 2})}

    back = through_json(tree)

    assert list(back) == ["b", "a"]
    assert type(back["b"]) is OrderedDict and list(back["b"]) == [2, 1]
    assert back["a"] == Counter({3: 2})


def test_a_negative_zero_and_nan_are_exact() -> None:
    zero, nan = through_json([-0.0, math.nan])

    assert math.copysign(1, zero) == -1 and math.isnan(nan)


@pytest.mark.parametrize("value", [{1, 2}, object(), lambda: None, 1j])
def test_what_has_no_exact_form_is_refused_by_name(value: object) -> None:
    with pytest.raises(CheckpointDamaged, match=r"scheduler/parts/1 cannot be saved"):
        encode({"parts": [0, value]}, "scheduler", no_tensor)


@pytest.mark.parametrize(
    "text", ['{"$tensor":"x"}', '{"$what":1}', '{"$bytes":"?"}', '{"$pairs":1,"kind":"dict"}']
)
def test_what_nobody_wrote_is_refused(text: str) -> None:
    with pytest.raises(CheckpointDamaged, match="optimizer in the checkpoint cannot be read"):
        decode(json.loads(text), "optimizer", {}, set())


def told(saved: Any, live: Any) -> list[str]:
    return [str(each) for each in differences(saved, live, "x", no_compare)]


def test_each_difference_is_named() -> None:
    saved = {"lr": 0.1, "gone": 1, "betas": (1, 2), "flag": True}
    live = {"lr": 0.2, "betas": (1, 3), "flag": 1, "new": 0}

    assert told(saved, live) == [
        "x/lr: 0.1 in the checkpoint, 0.2 here",
        "x/gone: in the checkpoint, but not here",
        "x/betas/1: 2 in the checkpoint, 3 here",
        "x/flag: True in the checkpoint, 1 here",
        "x/new: here, but not in the checkpoint",
    ]


def test_a_list_of_another_length_is_one_difference() -> None:
    assert told([1, 2], [1]) == ["x: [1, 2] in the checkpoint, [1] here"]


def test_parts_of_a_model_get_the_names_that_they_have_now() -> None:
    """The longest name that fits counts, and only whole words: `encoders` is another one."""
    tree = {"encoder.0.weight": 1, "encoder.head.weight": 2, "encoders.weight": 3, "body.1.weight": 4}

    found = renamed(tree, {"encoder": "body", "encoder.head": "head"}, "model")

    assert found == {"body.0.weight": 1, "head.weight": 2, "encoders.weight": 3, "body.1.weight": 4}
    with pytest.raises(CheckpointDamaged, match=r"model: body\.1\.weight would stand for two"):
        renamed({**tree, "encoder.1.weight": 5}, {"encoder": "body"}, "model")
    with pytest.raises(CheckpointDamaged, match="model has no names"):
        renamed([1], {"encoder": "body"}, "model")
