"""Names of machines inside an output, which mean nothing elsewhere. Pure."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence

#: Schemes whose first part is a machine; in `s3://bucket` and `hf://org/name` it is not.
_SCHEMES = "https?|wss?|ftp|sftp|ssh|tcp|grpc|redis|postgres(?:ql)?|mysql|mongodb|amqp|nfs|smb|rsync"
_URL = re.compile(rf"\b(?:{_SCHEMES})://(?:[^/\s@]*@)?(\[[0-9a-f:.]+\]|[^/\s:?#'\"<>,]+)", re.IGNORECASE)
#: `ana@gpu7:/data`, as scp and rsync take it.
_ACCOUNT = re.compile(r"[\w.-]+@([\w.-]+):\S+")
_ADDRESS = re.compile(r"(\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?")
_SHORTEST = 4
#: Endings that no public name server answers for (RFC 6761, RFC 6762, RFC 8375, and common custom).
_PRIVATE = (".local", ".localhost", ".internal", ".intranet", ".lan", ".corp", ".home.arpa", ".cluster")


def foreign_host(value: str, hosts: Sequence[str]) -> str | None:
    """Return the first name or address in `value` that only some network knows; None when there is none.

    Args:
        value: one value of a configuration.
        hosts: names of the run's own machines; one that is short, or has no digit, dash or dot, may be any
            word, and is passed over.
    """
    for found in _URL.finditer(value):
        if _is_private(found[1].strip("[]")):
            return found[0]
    stripped = value.strip()
    account, address = _ACCOUNT.fullmatch(stripped), _ADDRESS.fullmatch(stripped)
    if account is not None or (address is not None and _is_private(address[1])):
        return stripped
    for host in hosts:
        if (
            len(host) >= _SHORTEST
            and re.search(r"[\d.-]", host)
            and re.search(rf"(?<![\w.-]){re.escape(host)}(?![\w-])", value)
        ):
            return host
    return None


def _is_private(host: str) -> bool:
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host or host.lower().endswith(_PRIVATE)
