"""Sizes of a repository of the Hugging Face hub, from its public metadata: asked on request, never needed.

Address and fields: huggingface.co/docs/hub/api (`/api/models/NAME/revision/REVISION?blobs=true`; `siblings`
with `rfilename` and `size`, `safetensors.parameters` by element type). Nothing is downloaded but that.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from lastro import strictjson
from lastro.errors import LastroError
from lastro.locale import _
from lastro.plan.disk_need import Found
from lastro.plan.state import Weights
from lastro.procs.child import run_with_deadline
from lastro.records import dataclass
from lastro.spec.data import Hub
from lastro.units import show_bytes

SECONDS = 15.0
#: The hub's own variable for another address, such as a mirror.
ENDPOINT = "HF_ENDPOINT"
_HUB = "https://huggingface.co"
_MOST_BYTES = 32 * 10**6
#: In a process of its own, which can be killed: looking a name up cannot be given a limit otherwise.
_ASK = """
import sys, urllib.error, urllib.request
request = urllib.request.Request(sys.argv[1], headers={"User-Agent": "lastro"})
try:
    with urllib.request.urlopen(request, timeout=float(sys.argv[2])) as answer:
        sys.stdout.buffer.write(answer.read(int(sys.argv[3])))
except urllib.error.HTTPError as error:
    sys.exit("HTTP %d" % error.code)
except Exception as error:
    sys.exit(str(getattr(error, "reason", None) or error))
"""


@dataclass(frozen=True, kw_only=True)
class HubFound:
    """What a repository holds. `weights` None: it does not say."""

    found: Found
    weights: Weights | None


def ask_hub(hub: Hub, *, seconds: float = SECONDS) -> HubFound | str:
    """Return what a repository holds; a text: why that is not known. Takes `seconds` at most.

    The address is `$HF_ENDPOINT`, else the public hub. No token is sent: what is private stays unknown.
    """
    endpoint = os.environ.get(ENDPOINT, "").rstrip("/") or _HUB
    place = f"{hub.kind}s/{quote(hub.repository)}/revision/{quote(hub.revision, safe='')}"
    name = urlsplit(endpoint).hostname or endpoint
    try:
        done = run_with_deadline(
            [
                sys.executable,
                "-I",
                "-c",
                _ASK,
                f"{endpoint}/api/{place}?blobs=true",
                str(seconds),
                str(_MOST_BYTES),
            ],
            seconds=seconds,
            cwd=Path("/"),
            env=os.environ,
            keep_bytes=_MOST_BYTES,
        )
    except LastroError as error:
        return _("{name} was not reachable: {why}").format(name=name, why=error)
    if done.timed_out:
        return _("{name} was not reachable: no answer in {seconds:.0f} s").format(name=name, seconds=seconds)
    if done.code != 0:
        last = (done.err.strip().splitlines() or [_("it said nothing")])[-1]
        if last in ("HTTP 401", "HTTP 403", "HTTP 404"):
            return _("{name} does not show {repository} ({why}): it is not there, private or gated").format(
                name=name, repository=hub.repository, why=last
            )
        return _("{name} was not reachable: {why}").format(name=name, why=last)
    try:
        return read_answer(hub, strictjson.loads(done.out))
    except (ValueError, KeyError, TypeError, AttributeError):
        return _("{name} said nothing that can be read about {repository}").format(
            name=name, repository=hub.repository
        )


def read_answer(hub: Hub, answer: Mapping[str, Any]) -> HubFound:
    """Return what the metadata of a repository says. Pure.

    Raises:
        ValueError, KeyError, TypeError, AttributeError: it is no such metadata.
    """
    files = {str(one["rfilename"]): one.get("size") for one in answer["siblings"]}
    wanted = {name: size for name, size in files.items() if _is_wanted(name, hub)}
    sizes = [size for size in wanted.values() if _is_size(size)]
    why = _("metadata of {repository}, {revision}").format(
        repository=hub.repository, revision=str(answer.get("sha") or hub.revision)[:12]
    )
    safetensors = sum(
        size for name, size in wanted.items() if name.endswith(".safetensors") and _is_size(size)
    )
    if not hub.only and 0 < safetensors < sum(sizes):
        why = _("{why}; {part} of it are safetensors (`only:` takes less)").format(
            why=why, part=show_bytes(safetensors)
        )
    silent = len(wanted) - len(sizes)
    if silent:
        why = _("at least: {why}; {silent} files have no size there").format(why=why, silent=silent)
    return HubFound(
        found=Found(bytes=sum(sizes), files=len(wanted), why=why, at_least=silent > 0),
        weights=_weights(answer, why, safetensors),
    )


def _is_wanted(name: str, hub: Hub) -> bool:
    return not hub.only or any(fnmatch(name, pattern) for pattern in hub.only)


def _is_size(value: object) -> bool:
    return type(value) is int and value >= 0


def _weights(answer: Mapping[str, Any], why: str, size: int) -> Weights | None:
    told = (answer.get("safetensors") or {}).get("parameters")
    if not told or not size or not all(_is_size(count) for count in told.values()):
        return None
    return Weights(elements={str(name): count for name, count in told.items()}, bytes=size, why=why)
