"""`python -m lastro.storage.pack`: writes the shards that it is asked for, until its input ends."""

from __future__ import annotations

import json
import sys

from lastro.errors import StorageError
from lastro.storage.pack.work import answer

#: Told about after so many bytes.
_TELL = 16 * 10**6


def main() -> None:
    """Answer each line by how far it is, and last by `done` or `error`."""
    for line in sys.stdin:
        untold = 0

        def tell(count: int) -> None:
            nonlocal untold
            untold += count
            if untold >= _TELL:
                print(json.dumps({"bytes": untold}), flush=True)
                untold = 0

        try:
            answer(json.loads(line), tell)
            print(json.dumps({"bytes": untold, "done": True}), flush=True)
        except StorageError as error:
            print(json.dumps({"error": error.message, "hint": error.hint}), flush=True)


if __name__ == "__main__":
    main()
