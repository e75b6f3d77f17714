"""Outputs: published durably, whole or not at all, under the run's folder of outputs."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from lastro import atomic
from lastro.errors import Fenced, UsageError
from lastro.locale import _

_CHUNK = 1 << 20


@contextlib.contextmanager
def publish_output(
    outputs: Path, name: str, fence: Callable[[], Fenced | None], told: Callable[[str, int, str], None]
) -> Iterator[Path]:
    """Give a path to write one output to; publish it when the block ends well.

    Args:
        outputs: the folder of the run's outputs.
        name: relative to it; `/` separates folders. An output of that name is replaced whole.
        fence: asked when every byte is durable, right before the output gets its name; an error that it
            returns is raised.
        told: called with the name, the bytes and the SHA-256 of what was published.

    Raises:
        UsageError: the name leads out of the folder.
        StorageError: the block wrote nothing.
        Fenced: the run belongs to a later attempt.
    """
    relative = PurePosixPath(name)
    if relative.is_absolute() or ".." in relative.parts or not relative.parts:
        raise UsageError(
            _("an output is named {name!r}, which leads out of the folder of outputs").format(name=name),
            hint=_("name it relative to that folder, such as 'predictions.csv'"),
        )
    final = outputs / relative
    atomic.make_folder(final.parent)
    for leftover in final.parent.glob(f"{atomic.TEMPORARY}*-{final.name}"):
        leftover.unlink(missing_ok=True)  # of an attempt that died while it wrote this output

    def last_check() -> None:
        if (refusal := fence()) is not None:
            raise refusal

    with atomic.publish_file(final, last_check) as path:
        yield path
        size, digest = _measure(path) if path.is_file() else (0, "")
    told(str(relative), size, digest)


def _measure(path: Path) -> tuple[int, str]:
    hasher, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            hasher.update(chunk)
            size += len(chunk)
    return size, hasher.hexdigest()
