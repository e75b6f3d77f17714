"""Copying outputs away from where they were made, and checking that they are the ones that were published."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from lastro.closeout.controls import Refusal
from lastro.closeout.inventory import links_out, output_files
from lastro.locale import _
from lastro.storage.digest import digest_of_sums, sha256_file


def copy_outputs(outputs: Path, paths: Iterable[str], target: Path) -> Mapping[str, str]:
    """Copy promised files and folders into a fresh folder; return the SHA-256 of each copied file by path.

    What is not there, and what is a link that leaves the outputs, is not copied and has no digest.
    """
    digests: dict[str, str] = {}
    target.mkdir(parents=True, exist_ok=True)
    for path in dict.fromkeys(paths):
        links = links_out(outputs, path)
        for name in output_files(outputs, path):
            if name in links or name in digests:
                continue
            copy = target / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(outputs / name, copy)
            digests[name] = sha256_file(copy)
    return digests


def digests_of(path: str, digests: Mapping[str, str]) -> Mapping[str, str]:
    """Return the digests of one output: of the file, or of the files below the folder. Pure."""
    return {name: digest for name, digest in digests.items() if name == path or name.startswith(f"{path}/")}


def tree_digest(path: str, digests: Mapping[str, str]) -> str | None:
    """Return the SHA-256 of an output, as `storage.digest.digest_of` computes it; None without a file."""
    own = digests_of(path, digests)
    if path in own or not own:
        return own.get(path)
    return digest_of_sums((name[len(path) + 1 :], digest) for name, digest in own.items())


def not_published(path: str, digests: Mapping[str, str], published: Mapping[str, str]) -> tuple[Refusal, ...]:
    """Return the refusals of bytes that are not the ones that the journal says were published. Pure.

    Args:
        path: of the output.
        digests: of every file that was copied, by path.
        published: what the journal says.
    """
    own, promised = digests_of(path, digests), digests_of(path, published)
    reasons = []
    for name, digest in own.items():
        expected = promised.get(name)
        if expected is None:
            text = _("{path} lies in the outputs, but no attempt has published it").format(path=name)
            reasons.append(Refusal("unpublished", text))
        elif digest != expected:
            text = _("{path} was changed after it was published: its SHA-256 is {now}, it was {then}").format(
                path=name, now=digest[:16], then=expected[:16]
            )
            reasons.append(Refusal("changed", text))
    if path not in promised and own:
        gone = [name for name in promised if name not in own]
        text = _("{path} was published and is not there")
        reasons.extend(Refusal("missing", text.format(path=name)) for name in gone)
    return tuple(reasons)
