"""The identity of a run: what it is, and nothing of where it runs. Test vectors: docs/run-id.md."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import rfc8785


def canonical_json(value: Any) -> bytes:
    """Return the one spelling of a JSON value by RFC 8785. Raises ValueError for what JSON cannot hold."""
    return rfc8785.dumps(value)


def run_id(
    *,
    config: Mapping[str, Any],
    command: str,
    corpus_digest: str | None,
    code_digest: str,
    seed: int = 0,
) -> str:
    """Return the id of a run: 16 hex characters of a SHA-256 over its canonical JSON.

    Args:
        config: the merged configuration, as JSON values.
        command: the rendered command, as one text.
        corpus_digest: SHA-256 of the corpus in hex; None for a campaign without one.
        code_digest: SHA-256 of the code folder's snapshot in hex.
        seed: the campaign's seed; 0, the default, adds nothing to the identity.
    """
    identity: dict[str, Any] = {
        "code": code_digest,
        "command": command,
        "config": dict(config),
        "corpus": corpus_digest,
    }
    if seed:
        identity["seed"] = seed
    return hashlib.sha256(canonical_json(identity)).hexdigest()[:16]
