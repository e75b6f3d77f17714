"""What a pickle would call when it is loaded, read from its instructions; nothing of it is executed.

A scan is a tripwire and no proof: what it finds is refused, and what it does not find is still loaded only in
a jail. A pickle that it cannot read to the end is refused too.
"""

from __future__ import annotations

import pickletools
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from lastro.locale import _
from lastro.records import dataclass

_ANYTHING = ".bin"
_SUFFIXES = frozenset({".pkl", ".pickle", ".joblib", ".pt", ".pth", _ANYTHING, ".ckpt"})
#: From protocol 2 on a pickle begins with this and the protocol's number.
_PROTOCOL, _NUMBERS = 0x80, range(2, 6)
_AFTER_EACH_OTHER = 8
#: torch's older format begins with the pickle of this number (`torch.serialization.MAGIC_NUMBER`), has four
#: more (version, machine, object, keys), and then the bytes of tensors, whatever these look like.
_TORCH_BEGINS = b"\x8a\x0a" + 0x1950A86A20F9469CFC6C.to_bytes(10, "little") + b"."
_TORCH_PICKLES = 5
#: All that a file of tensors takes, by the documentation of `torch.load(weights_only=True)`.
_TENSORS = re.compile(
    r"collections\.OrderedDict|torch\.(?:\w*Storage|Size|device|float\d+|bfloat16|u?int\d+|bool|complex\d+"
    r"|nn\.parameter\.Parameter|storage\.(?:Untyped|Typed|_\w+)?Storage)"
    r"|torch\._utils\._rebuild_(?:tensor|tensor_v2|parameter|parameter_with_state)"
    r"|torch\._tensor\._rebuild_from_type_v2|torch\.serialization\._get_layout"
)
#: What starts programs, opens files or connections, or runs a text: no weights need it.
_DANGEROUS = re.compile(
    r"(?:os|posix|nt|subprocess|pty|shutil|socket|ctypes|runpy|importlib|webbrowser|sys|code|codeop|marshal|types"
    r"|multiprocessing|asyncio|urllib|http|ftplib|smtplib|requests|httpx|pip|timeit|bdb|pdb|cProfile|profile"
    r"|commands|_posixsubprocess|torch\.hub|torch\.utils\.cpp_extension)(?:\.|$)"
    r"|(?:builtins|__builtin__)\.(?:eval|exec|compile|open|__import__|execfile|input|breakpoint|globals|vars)$"
)


@dataclass(frozen=True)
class PickleFacts:
    """What a scan has found. `calls`: what it would import, sorted. `problem`: why it could not be read."""

    calls: tuple[str, ...] = ()
    problem: str | None = None

    @property
    def only_tensors(self) -> bool:
        """Say whether it holds tensors and nothing else: torch loads these without executing anything."""
        return self.problem is None and all(_TENSORS.fullmatch(name) for name in self.calls)

    @property
    def dangerous(self) -> tuple[str, ...]:
        """Return what no output has a reason to call."""
        return tuple(name for name in self.calls if _DANGEROUS.match(name))


def scan(path: Path) -> PickleFacts | None:
    """Return what a file would call when it is unpickled; None for a file that is no pickle.

    Known by what is in it, whatever its name; by its name only where the oldest protocols leave no mark.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        first = file.read(2)
    if first[:2] == b"PK":
        return _of_zip(path)
    marked = len(first) == 2 and first[0] == _PROTOCOL and first[1] in _NUMBERS
    by_name = path.suffix.lower() in _SUFFIXES
    if not marked and not by_name:
        return None
    found: set[str] = set()
    with path.open("rb") as file:
        try:
            found.update(_of_stream(file))
        except ValueError as error:
            # Other formats may begin with these two bytes (safetensors with a header of 640 bytes), and a
            # `.bin` may be anything. What has called nothing before it broke is taken for one of those.
            is_other = not found and (not by_name or path.suffix.lower() == _ANYTHING)
            return None if is_other else PickleFacts(tuple(sorted(found)), problem=str(error))
    return PickleFacts(tuple(sorted(found)))


def _of_zip(path: Path) -> PickleFacts | None:
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.endswith(".pkl")]
            found: set[str] = set()
            for name in names:
                with archive.open(name) as member:
                    found.update(_of_stream(member))  # type: ignore[arg-type]
            return PickleFacts(tuple(sorted(found))) if names else None
    # zipfile raises the last two for a compression and for an encryption that it does not know.
    except (zipfile.BadZipFile, ValueError, NotImplementedError, RuntimeError) as error:
        return PickleFacts(problem=str(error))


def _of_stream(file: BinaryIO) -> Iterator[str]:
    """Yield the names that pickles in a stream import. Raises ValueError when one cannot be read."""
    is_torch = _begins_as_torch(file)
    for number in range(_AFTER_EACH_OTHER):
        if is_torch and number == _TORCH_PICKLES:
            return
        yield from _of_one(file)
        # What follows is another pickle, or the bytes of tensors.
        position = file.tell()
        mark = file.read(1)
        if mark != bytes([_PROTOCOL]):
            return
        file.seek(position)
    raise ValueError(
        _("it holds more than {count} pickles, one after the other").format(count=_AFTER_EACH_OTHER)
    )


def _begins_as_torch(file: BinaryIO) -> bool:
    start = file.tell()
    begun = file.read(2 + len(_TORCH_BEGINS))
    file.seek(start)
    return begun[:1] == bytes([_PROTOCOL]) and begun[2:] == _TORCH_BEGINS


_PUTS = ("PUT", "BINPUT", "LONG_BINPUT")
_GETS = ("GET", "BINGET", "LONG_BINGET")


def _of_one(file: BinaryIO) -> Iterator[str]:
    # Texts that were pushed right before this instruction, one after the other. Anything else in between,
    # such as a POP, could make the name another one than the texts say.
    texts: list[str] = []
    kept: dict[int, str | None] = {}
    for operation, argument, _place in pickletools.genops(file):
        name = operation.name
        if name in ("FRAME", "PROTO"):
            continue
        if name == "MEMOIZE" or name in _PUTS:
            kept[len(kept) if name == "MEMOIZE" else _number(argument)] = texts[-1] if texts else None
            continue
        if name in ("GLOBAL", "INST"):
            yield str(argument).replace(" ", ".", 1)
        elif name == "STACK_GLOBAL":
            if len(texts) < 2:
                raise ValueError(_("it imports something that is named only while it is loaded"))
            yield ".".join(texts[-2:])
        elif name.startswith("EXT"):
            raise ValueError(_("it uses a register of extensions that only its writer has"))
        pushed = kept.get(_number(argument)) if name in _GETS else argument if "UNICODE" in name else None
        texts = [*texts[-1:], pushed] if isinstance(pushed, str) else []


def _number(argument: object) -> int:
    return argument if isinstance(argument, int) else -1
