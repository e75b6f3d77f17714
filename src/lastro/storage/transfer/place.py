"""Where data is sent to or fetched from: a bucket of a store that speaks S3, or a folder reached by ssh."""

from __future__ import annotations

import re
from typing import TypeAlias

from lastro.errors import UsageError
from lastro.locale import _
from lastro.records import dataclass

_S3 = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(.*))?", re.S)
_SSH = re.compile(
    r"ssh://(?:([A-Za-z0-9._-]+)@)?([A-Za-z0-9._-]+|\[[0-9a-fA-F:]+\])(?::([0-9]{1,5}))?(/.+)", re.S
)


@dataclass(frozen=True, kw_only=True)
class Bucket:
    """`s3://bucket/key`: the key of one object, or what the keys of several begin with; it may be empty."""

    bucket: str
    key: str

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.key}"

    def below(self, name: str) -> Bucket:
        """Return the place of a file below this one."""
        return Bucket(bucket=self.bucket, key=f"{self.key.rstrip('/')}/{name}" if self.key else name)


@dataclass(frozen=True, kw_only=True)
class Remote:
    """`ssh://user@host:port/path`: an absolute path on another machine."""

    host: str
    path: str
    user: str | None = None
    port: int | None = None

    def __str__(self) -> str:
        user = f"{self.user}@" if self.user else ""
        port = f":{self.port}" if self.port else ""
        return f"ssh://{user}{self.host}{port}{self.path}"


Place: TypeAlias = "Bucket | Remote"


def parse_place(text: str) -> Place:
    """Read `s3://bucket/key` or `ssh://user@host:port/path`.

    Raises:
        UsageError: it is neither.
    """
    if match := _S3.fullmatch(text):
        return Bucket(bucket=match[1], key=(match[2] or "").lstrip("/"))
    if (match := _SSH.fullmatch(text)) and not match[2].startswith("-"):
        port = int(match[3]) if match[3] else None
        if port is None or 0 < port < 65536:
            return Remote(user=match[1], host=match[2], port=port, path=match[4])
    raise UsageError(
        _("{text!r} is no place that lastro can reach").format(text=text),
        hint=_("write s3://bucket/path or ssh://user@host:port/path"),
    )


def is_place(text: str) -> bool:
    """Say whether a text names a place elsewhere rather than a path here."""
    return text.startswith(("s3://", "ssh://"))
