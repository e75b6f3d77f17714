"""Which kinds of machines have passed preflight at this home: by provider, region and image."""

from __future__ import annotations

import contextlib

from lastro import atomic, strictjson
from lastro.errors import StorageError
from lastro.paths import Home
from lastro.records import dataclass

#: The newest are enough to know a kind of machine by.
_MOST = 200


@dataclass(frozen=True, kw_only=True)
class Passed:
    """One machine that has passed. `region`, `image` None: not told."""

    at: str
    node_id: str
    provider: str
    region: str | None
    image: str | None


def passed_machines(home: Home) -> tuple[Passed, ...]:
    """Return what has passed, the oldest first; a record that cannot be read is none."""
    with contextlib.suppress(OSError, StorageError, KeyError, TypeError):
        return tuple(
            Passed(
                at=str(one["at"]),
                node_id=str(one["node_id"]),
                provider=str(one["provider"]),
                region=one["region"],
                image=one["image"],
            )
            for one in strictjson.read(home.passed)["machines"]
        )
    return ()


def keep_passed(home: Home, one: Passed) -> None:
    """Remember a machine that has passed; of two such records at one moment one is kept."""
    others = [each for each in passed_machines(home) if _kind(each) != _kind(one)]
    atomic.make_folder(home.root)
    atomic.write_text(
        home.passed, strictjson.pretty({"machines": [vars(each) for each in [*others, one][-_MOST:]]})
    )


def _kind(one: Passed) -> tuple[str, str, str | None, str | None]:
    return (one.node_id, one.provider, one.region, one.image)
