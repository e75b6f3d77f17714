"""Copying outputs away from where they were made, and checking that they are the ones that were published."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from lastro.closeout.controls import Refusal
from lastro.closeout.inventory import link_out
from lastro.locale import _
from lastro.storage.digest import sha256_file


def copy_outputs(outputs: Path, paths: tuple[str, ...], target: Path) -> Mapping[str, str]:
    """Copy promised files into a fresh folder, and return the SHA-256 of each copy by path.

    What is not there, and what is a link that leaves the outputs, is not copied and has no digest.
    """
    digests = {}
    target.mkdir(parents=True, exist_ok=True)
    for path in paths:
        source = outputs / path
        if link_out(outputs, path) is not None or not source.is_file():
            continue
        copy = target / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)
        digests[path] = sha256_file(copy)
    return digests


def not_published(path: str, digest: str | None, published: Mapping[str, str]) -> tuple[Refusal, ...]:
    """Return the refusal of bytes that are not the ones that the journal says were published. Pure."""
    if digest is None:
        return ()
    expected = published.get(path)
    if expected is None:
        text = _("{path} lies in the outputs, but no attempt has published it").format(path=path)
        return (Refusal("unpublished", text),)
    if digest != expected:
        text = _("{path} was changed after it was published: its SHA-256 is {now}, it was {then}").format(
            path=path, now=digest[:16], then=expected[:16]
        )
        return (Refusal("changed", text),)
    return ()
