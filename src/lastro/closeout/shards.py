"""Weights in several files against the index that says which tensor lies in which."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from lastro import strictjson
from lastro.closeout.reload.tensors import HeaderDamaged, read_header
from lastro.locale import _

#: As transformers names them: model.safetensors.index.json.
INDEX = ".safetensors.index.json"
#: How many tensors a sentence names.
_NAMED = 3


def shard_faults(folder: Path) -> tuple[str, ...]:
    """Return where the shards below a folder and their index differ, a sentence each."""
    return tuple(
        _("{index}: {fault}").format(index=index.name, fault=fault)
        for index in sorted(folder.glob(f"*{INDEX}"))
        for fault in _faults(index)
    )


def _faults(index: Path) -> Iterator[str]:
    try:
        said: Mapping[str, str] = strictjson.loads(index.read_bytes())["weight_map"]
        files = sorted(set(said.values()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        yield _("it cannot be read: {why}").format(why=error)
        return
    for name in files:
        if Path(name).name != name or not (index.parent / name).is_file():
            yield _("it names {shard}, which is not there").format(shard=name)
            continue
        wanted = {tensor for tensor, file in said.items() if file == name}
        yield from _faults_of(index.parent / name, wanted)
    prefix = index.name.removesuffix(INDEX)
    others = sorted(file.name for file in index.parent.glob(f"{prefix}-*.safetensors"))
    for name in others:
        if name not in files:
            yield _("it does not name {shard}").format(shard=name)


def _faults_of(shard: Path, wanted: set[str]) -> Iterator[str]:
    try:
        with shard.open("rb") as file:
            there = {tensor.name for tensor in read_header(file).tensors}
    except HeaderDamaged as error:
        yield _("{shard} is damaged: {why}").format(shard=shard.name, why=error)
        return
    if absent := wanted - there:
        yield _("{shard} lacks {count} of its tensors: {names}").format(
            shard=shard.name, count=len(absent), names=_some(absent)
        )
    if extra := there - wanted:
        yield _("{shard} holds {count} tensors that the index places elsewhere: {names}").format(
            shard=shard.name, count=len(extra), names=_some(extra)
        )


def _some(names: set[str]) -> str:
    shown = ", ".join(sorted(names)[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown}, ..."
