"""What a file is, by its first bytes; its name helps only where there is no other mark. Pure.

Magic numbers are those of the formats' own descriptions; what has none (text, notebooks) is told by content.
"""

from __future__ import annotations

import re
from enum import Enum

from lastro.locale import _
from lastro.records import dataclass

#: Bytes that are read of the beginning and of the end of each candidate.
HEAD_BYTES, TAIL_BYTES = 4096, 512


class Tier(int, Enum):
    """How much a kind counts. ALWAYS: wherever it lies. OWN: where people keep things. NEVER: rebuilt."""

    ALWAYS = 0
    OWN = 1
    NEVER = 2


class Kind(str, Enum):
    """Kinds of files, the most valuable first."""

    WEIGHTS = "weights"
    CHECKPOINT = "checkpoint"
    STATE = "training state"
    GIT = "git"
    EVENTS = "events"
    NOTEBOOK = "notebook"
    TABLE = "table"
    ARRAY = "array"
    PICKLE = "pickle"
    DATABASE = "database"
    IMAGE = "image"
    MEDIA = "media"
    ARCHIVE = "archive"
    TEXT = "text"
    UNKNOWN = "unknown"
    PROGRAM = "program"

    @property
    def tier(self) -> Tier:
        """How much it counts."""
        if self in _ALWAYS:
            return Tier.ALWAYS
        return Tier.NEVER if self is Kind.PROGRAM else Tier.OWN

    @property
    def rank(self) -> int:
        """Its place in the order of value; 0 is the most valuable."""
        return list(Kind).index(self)

    @property
    def text(self) -> str:
        """The kind as people read it."""
        return _words()[self]


_ALWAYS = frozenset(
    {Kind.WEIGHTS, Kind.CHECKPOINT, Kind.STATE, Kind.GIT, Kind.EVENTS, Kind.NOTEBOOK, Kind.TABLE}
)


def _words() -> dict[Kind, str]:
    return {
        Kind.WEIGHTS: _("weights"),
        Kind.CHECKPOINT: _("checkpoint"),
        Kind.STATE: _("training state"),
        Kind.GIT: _("git tree"),
        Kind.EVENTS: _("metrics"),
        Kind.NOTEBOOK: _("notebook"),
        Kind.TABLE: _("table"),
        Kind.ARRAY: _("array"),
        Kind.PICKLE: _("pickle"),
        Kind.DATABASE: _("database"),
        Kind.IMAGE: _("image"),
        Kind.MEDIA: _("sound or film"),
        Kind.ARCHIVE: _("archive"),
        Kind.TEXT: _("text"),
        Kind.UNKNOWN: _("unknown"),
        Kind.PROGRAM: _("program"),
    }


@dataclass(frozen=True)
class Magic:
    """Bytes at a place that tell a kind."""

    kind: Kind
    mark: bytes
    offset: int = 0


_MAGIC = (
    Magic(Kind.WEIGHTS, b"GGUF"),
    Magic(Kind.WEIGHTS, b"tjgg"),  # GGML's earlier files: ggjt, ggla, ggml, byte-swapped
    Magic(Kind.WEIGHTS, b"algg"),
    Magic(Kind.WEIGHTS, b"lmgg"),
    Magic(Kind.WEIGHTS, b"TFL3", 4),
    Magic(Kind.WEIGHTS, b"\x89HDF\r\n\x1a\n"),
    # torch.save before its zip files: a pickle of the number 0x1950a86a20f9469cfc6c.
    Magic(Kind.CHECKPOINT, b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."),
    Magic(Kind.EVENTS, b":W&B"),
    Magic(Kind.TABLE, b"PAR1"),
    Magic(Kind.TABLE, b"ARROW1"),
    Magic(Kind.TABLE, b"ORC"),
    Magic(Kind.TABLE, b"Obj\x01"),
    Magic(Kind.ARRAY, b"\x93NUMPY"),
    Magic(Kind.DATABASE, b"SQLite format 3\0"),
    Magic(Kind.DATABASE, b"DUCK", 8),
    Magic(Kind.DATABASE, b"\xde\xc0\xef\xbe", 16),  # LMDB
    Magic(Kind.IMAGE, b"\x89PNG\r\n\x1a\n"),
    Magic(Kind.IMAGE, b"\xff\xd8\xff"),
    Magic(Kind.IMAGE, b"GIF8"),
    Magic(Kind.IMAGE, b"II*\0"),
    Magic(Kind.IMAGE, b"MM\0*"),
    Magic(Kind.IMAGE, b"WEBP", 8),
    Magic(Kind.IMAGE, b"v/1\x01"),  # OpenEXR
    Magic(Kind.IMAGE, b"%PDF-"),
    Magic(Kind.IMAGE, b"DICM", 128),
    Magic(Kind.MEDIA, b"ftyp", 4),
    Magic(Kind.MEDIA, b"WAVE", 8),
    Magic(Kind.MEDIA, b"AVI ", 8),
    Magic(Kind.MEDIA, b"fLaC"),
    Magic(Kind.MEDIA, b"OggS"),
    Magic(Kind.MEDIA, b"ID3"),
    Magic(Kind.MEDIA, b"\x1aE\xdf\xa3"),  # Matroska
    Magic(Kind.ARCHIVE, b"\x1f\x8b"),
    Magic(Kind.ARCHIVE, b"BZh"),
    Magic(Kind.ARCHIVE, b"\xfd7zXZ\0"),
    Magic(Kind.ARCHIVE, b"\x28\xb5\x2f\xfd"),
    Magic(Kind.ARCHIVE, b"7z\xbc\xaf\x27\x1c"),
    Magic(Kind.ARCHIVE, b"Rar!"),
    Magic(Kind.ARCHIVE, b"ustar", 257),
    Magic(Kind.PROGRAM, b"\x7fELF"),
    Magic(Kind.PROGRAM, b"!<arch>\n"),
    Magic(Kind.PROGRAM, b"\0asm"),
)
_EVENT = b"brain.Event:"
#: Keys of what trainers leave beside their weights.
_STATE = (b'"log_history"', b'"global_step"', b'"best_metric"')
_NOTEBOOK = (b'"nbformat"',)
#: Names that tell a kind where the bytes do not: ONNX and optimizer states have no magic number.
_NAMES = (
    (re.compile(r"\.onnx$|\.tflite$|\.mlmodel$|\.engine$", re.I), Kind.WEIGHTS),
    (re.compile(r"\.(ckpt|pt|pth|pdparams|distcp)$", re.I), Kind.CHECKPOINT),
    (re.compile(r"^(trainer_state|training_args|optimizer|scheduler|rng_state)\b", re.I), Kind.STATE),
    (re.compile(r"\btfevents\b", re.I), Kind.EVENTS),
)


def kind_of(name: str, head: bytes, tail: bytes = b"") -> Kind:
    """Return what a file is.

    Args:
        name: the last part of its path.
        head: its first bytes, `HEAD_BYTES` where it has so many.
        tail: its last bytes.
    """
    if _is_safetensors(head):
        return Kind.WEIGHTS
    if head[:4] == b"PK\x03\x04":
        return _of_zip(head)
    for magic in _MAGIC:
        if head[magic.offset : magic.offset + len(magic.mark)] == magic.mark:
            return magic.kind
    if _EVENT in head[:64]:
        return Kind.EVENTS
    if head[2:4] == b"\r\n" and name.endswith(".pyc"):
        return Kind.PROGRAM
    by_name = next((kind for pattern, kind in _NAMES if pattern.search(name)), None)
    if by_name is not None:
        return by_name
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return Kind.PICKLE
    return _of_text(head, tail) if _is_text(head) else Kind.UNKNOWN


def _is_safetensors(head: bytes) -> bool:
    """Eight bytes tell the length of the header, which is a JSON object; 100 MB is the format's limit."""
    length = int.from_bytes(head[:8], "little")
    return len(head) > 9 and head[8:9] == b"{" and 2 <= length <= 100_000_000 and head[9:10] in b'"} \n'


def _of_zip(head: bytes) -> Kind:
    """Tell a zip by its first name: torch's and NumPy's have one that no other program writes."""
    first = head[30 : 30 + int.from_bytes(head[26:28], "little")]
    if first.endswith((b"/data.pkl", b"/.format_version", b"/byteorder", b"/version")):
        return Kind.CHECKPOINT
    if first.endswith(b".npy"):
        return Kind.ARRAY
    if first in (b"metadata.json", b"config.json") and b"model.weights.h5" in head:
        return Kind.WEIGHTS
    return Kind.ARCHIVE


def _is_text(head: bytes) -> bool:
    if b"\0" in head:
        return False
    try:
        head.decode()
    except UnicodeDecodeError as error:
        # The beginning of a longer file may end within a character.
        return error.start >= len(head) - 3 and len(head) >= HEAD_BYTES
    return True


def _of_text(head: bytes, tail: bytes) -> Kind:
    if head.lstrip()[:1] != b"{":
        return Kind.TEXT
    if any(key in tail or key in head for key in _NOTEBOOK) and b'"cells"' in head + tail:
        return Kind.NOTEBOOK
    if sum(key in head for key in _STATE) > 1:
        return Kind.STATE
    return Kind.TEXT
