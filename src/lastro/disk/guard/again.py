"""What can be had again from where it came: files that are named after their own content, and their caches.

A path alone says little: of what looks like weights only a name that is the digest of the bytes is believed.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Collection

from lastro.disk.guard.scan import Candidate
from lastro.locale import _

_BLOB = re.compile(r"/blobs/(?:sha256[-:])?([0-9a-f]{64}|[0-9a-f]{40})$")
#: torch.hub's rule: `<name>-<the first digits of the SHA-256>.pth`.
_TORCH_HUB = re.compile(r"-([0-9a-f]{8,64})\.(?:pth|pt|safetensors|bin)$")
_PART = re.compile(r"/blobs/[0-9a-f]{40,64}(\.[0-9a-f]+)?\.incomplete$")
_PIP = re.compile(r"/http(?:-v\d)?/(?:[0-9a-f]/){5}[0-9a-f]{56}(?:\.body)?$")
_UV = re.compile(r"/(?:archive|wheels|sdists|simple|built-wheels|interpreter|builds|binaries)-v\d+/")
_TAG = b"Signature: 8a477f597d28d172789f06886806bc55"
_PIECE = 1 << 20


def had_again(file: Candidate, tagged: Collection[str], *, strong: bool) -> str | None:
    """Return why a file can be had again; None when nothing says so.

    Args:
        file: a candidate.
        tagged: folders that call themselves a cache by a `CACHEDIR.TAG`.
        strong: its kind counts wherever it lies, so only its digest is believed.
    """
    named = _BLOB.search(file.path) or (
        _TORCH_HUB.search(file.path) if "/checkpoints/" in file.path or "/torch/" in file.path else None
    )
    if named is not None and _is_named_after_itself(file, named[1]):
        return _("named after its own digest in a cache: it can be downloaded again")
    if _PART.search(file.path):
        return _("a part of a download")
    if _PIP.search(file.path) or _UV.search(file.path):
        return None if strong else _("in a cache of packages")
    if not strong and any(_is_below(file.path, folder) for folder in tagged):
        return _("in a folder that calls itself a cache")
    return None


def is_cache_tag(path: str) -> bool:
    """Tell whether a `CACHEDIR.TAG` is one (bford.info/cachedir)."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return file.read(len(_TAG)) == _TAG
    except OSError:
        return False


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")


def _is_named_after_itself(file: Candidate, told: str) -> bool:
    """Compare a name with the content: SHA-256, or git's digest of a blob where it has 40 digits."""
    if len(told) == 40:
        return _hexdigest(file.path, lambda: _git_blob(file.size)) == told
    found = _hexdigest(file.path, hashlib.sha256)
    return found is not None and found.startswith(told)


def _git_blob(size: int) -> hashlib._Hash:
    return hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)


def _hexdigest(path: str, begin: Callable[[], hashlib._Hash]) -> str | None:
    digest = begin()
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        while piece := os.read(descriptor, _PIECE):
            digest.update(piece)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return digest.hexdigest()
