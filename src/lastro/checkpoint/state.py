"""The state of a run as strict JSON, with its tensors referenced by name. No pickle, ever.

What JSON has no word for is written as an object with one key that starts with `$`: `$tuple`, `$bytes`,
`$float` (NaN and the infinities), `$tensor`, and `$pairs` for mappings whose keys are not plain text.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from lastro import strictjson
from lastro.errors import CheckpointDamaged
from lastro.locale import _

#: Given a path and a value: the name under which a tensor is kept; None when the value is no tensor.
Take = Callable[[str, Any], "str | None"]
#: Given a saved and a live value: None when neither is a tensor, else what differs ("" for nothing).
Compare = Callable[[Any, Any], "str | None"]

#: Mappings that are put back as what they were. Any other mapping type is refused by name.
_MAPPINGS: dict[str, Callable[[Any], Any]] = {"dict": dict, "ordered": OrderedDict, "counter": Counter}
_KINDS: dict[type, str] = {dict: "dict", OrderedDict: "ordered", Counter: "counter"}
#: Most values are of these types, and a state has thousands of them while the loop stands still.
_AS_THEY_ARE = (int, bool, str)


def join(path: str, key: object) -> str:
    """Return the path of an item: `optimizer/state/0/exp_avg`."""
    return f"{path}/{key}"


def refused(path: str, what: str, way_out: str | None = None) -> CheckpointDamaged:
    """Return the error for a value that cannot be kept exactly.

    Args:
        path: of the value.
        what: is the matter with it.
        way_out: what to keep instead; None: what can be kept at all.
    """
    return CheckpointDamaged(
        _("{path} cannot be saved: {what}").format(path=path, what=what),
        hint=way_out or _("keep numbers, text, bytes, lists, dicts and dense tensors in state_dict()"),
    )


def encode(value: Any, path: str, take: Take) -> Any:
    """Return `value` as strict JSON; `take` is asked for each value whether it is a tensor.

    Raises:
        CheckpointDamaged: a value, named by its path, could not be put back exactly.
    """
    if value is None or type(value) in _AS_THEY_ARE:
        return value
    name = take(path, value)
    if name is not None:
        return {"$tensor": name}
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"$float": strictjson.mark(float(value))}
    if isinstance(value, (bytes, bytearray)):
        return {"$bytes": base64.b64encode(value).decode()}
    if type(value) is list:
        return [encode(item, join(path, at), take) for at, item in enumerate(value)]
    if type(value) is tuple:
        return {"$tuple": [encode(item, join(path, at), take) for at, item in enumerate(value)]}
    if type(value) in _KINDS:
        return _encode_mapping(value, path, take)
    raise refused(path, _("a {kind} has no exact form").format(kind=type(value).__qualname__))


def text(encoded: Any) -> str:
    """Return what `encode` has made as one line of strict JSON: nothing in it is left to be marked."""
    return json.dumps(encoded, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _encode_mapping(value: Mapping[Any, Any], path: str, take: Take) -> Any:
    kind = _KINDS[type(value)]
    if kind == "dict" and all(type(key) is str and not key.startswith("$") for key in value):
        return {key: encode(item, join(path, key), take) for key, item in value.items()}
    pairs = []
    for key, item in value.items():
        if type(key) not in (str, int, bool, float, tuple, type(None)):
            raise refused(path, _("the key {key!r} has no exact form").format(key=key))
        pairs.append([encode(key, path, lambda _path, _value: None), encode(item, join(path, key), take)])
    return {"$pairs": pairs, "kind": kind}


def decode(value: Any, path: str, tensors: Mapping[str, Any], used: set[str]) -> Any:
    """Return what `encode` was given. Adds the name of each tensor that is referred to, to `used`.

    Raises:
        CheckpointDamaged: this is not what `encode` writes, or a tensor is missing.
    """
    if value is None or isinstance(value, (bool, str, int, float)):
        return value
    if isinstance(value, list):
        return [decode(item, join(path, at), tensors, used) for at, item in enumerate(value)]
    try:
        return _decode_object(value, path, tensors, used)
    except (KeyError, TypeError, ValueError, binascii.Error) as error:
        raise CheckpointDamaged(
            _("{path} in the checkpoint cannot be read: {error}").format(path=path, error=error)
        ) from error


def _decode_object(value: dict[str, Any], path: str, tensors: Mapping[str, Any], used: set[str]) -> Any:
    tag = next((key for key in value if key.startswith("$")), None)
    if tag is None:
        return {key: decode(item, join(path, key), tensors, used) for key, item in value.items()}
    content = value[tag]
    if tag == "$tensor":
        used.add(content)
        return tensors[content]
    if tag == "$float":
        return strictjson.number(content)
    if tag == "$bytes":
        return base64.b64decode(content, validate=True)
    if tag == "$tuple":
        return tuple(decode(content, path, tensors, used))
    if tag == "$pairs":
        pairs = [(decode(key, path, {}, used), item) for key, item in content]
        decoded = {key: decode(item, join(path, key), tensors, used) for key, item in pairs}
        return _MAPPINGS[value["kind"]](decoded)
    raise ValueError(tag)


def copied(tree: Any) -> Any:
    """Return the tree with new containers and the same leaves, for a loader that takes its input apart."""
    if type(tree) in _KINDS:
        return _MAPPINGS[_KINDS[type(tree)]]({key: copied(item) for key, item in tree.items()})
    if type(tree) in (list, tuple):
        return type(tree)(copied(item) for item in tree)
    return tree


def renamed(tree: Any, names: Mapping[str, str], path: str) -> Any:
    """Return a state with other names for the parts of a model: `encoder.0.weight` with `encoder` -> `body`.

    What has the new name already, or one that is not told, stays. Names are those of `state_dict`, whole
    words between dots; the longest that fits counts.

    Raises:
        CheckpointDamaged: two would have one name, or this is no mapping of names.
    """
    if type(tree) not in _KINDS:
        raise CheckpointDamaged(_("{path} has no names that could be others").format(path=path))
    moved: dict[Any, Any] = {}
    for key, item in tree.items():
        new = _new_name(key, names) if isinstance(key, str) else key
        if new in moved:
            raise CheckpointDamaged(
                _("{path}: {name} would stand for two of the checkpoint").format(path=path, name=new),
                hint=_("name the parts of the checkpoint more exactly"),
            )
        moved[new] = item
    return _MAPPINGS[_KINDS[type(tree)]](moved)


def _new_name(key: str, names: Mapping[str, str]) -> str:
    for old in sorted(names, key=len, reverse=True):
        if key == old or key.startswith(f"{old}."):
            return names[old] + key[len(old) :]
    return key


class Difference(NamedTuple):
    """One place where two trees differ: its path, what differs, and whether it is a tensor."""

    path: str
    what: str
    tensor: bool = False

    def __str__(self) -> str:
        return f"{self.path}: {self.what}"


def differences(saved: Any, live: Any, path: str, compare: Compare) -> Iterator[Difference]:
    """Yield each place where two trees differ, by name. NaN equals NaN."""
    what = compare(saved, live)
    if what is not None:
        if what:
            yield Difference(path, what, tensor=True)
        return
    if isinstance(saved, Mapping) and isinstance(live, Mapping):
        yield from _key_differences(saved, live, path, compare)
    elif type(saved) in (list, tuple) and type(saved) is type(live) and len(saved) == len(live):
        for at, (one, other) in enumerate(zip(saved, live, strict=True)):
            yield from differences(one, other, join(path, at), compare)
    elif not _same_scalar(saved, live):
        text = _("{saved} in the checkpoint, {live} here")
        yield Difference(path, text.format(saved=_short(saved), live=_short(live)))


def _key_differences(
    saved: Mapping[Any, Any], live: Mapping[Any, Any], path: str, compare: Compare
) -> Iterator[Difference]:
    for key, item in saved.items():
        if key in live:
            yield from differences(item, live[key], join(path, key), compare)
        else:
            yield Difference(join(path, key), _("in the checkpoint, but not here"))
    for key in live:
        if key not in saved:
            yield Difference(join(path, key), _("here, but not in the checkpoint"))


def _same_scalar(saved: Any, live: Any) -> bool:
    if isinstance(live, float) and isinstance(saved, float):
        return float(saved).hex() == float(live).hex()
    if isinstance(live, int) and isinstance(saved, int):
        return isinstance(saved, bool) == isinstance(live, bool) and int(saved) == int(live)
    return type(saved) is type(live) and bool(saved == live)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
