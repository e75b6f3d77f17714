"""The last act on a machine that ends itself: what of value lies on its own storage goes to the disk first.

Nobody is there who could be asked, and nobody would look again.
"""

from __future__ import annotations

import os
import sys

from lastro.clock import Clock
from lastro.disk.guard.find import find, spelled
from lastro.disk.guard.rescue import rescue
from lastro.errors import LastroError
from lastro.locale import _
from lastro.paths import Disk
from lastro.providers.own_storage import scope_within


def rescue_own_storage(disk: Disk, clock: Clock) -> int:
    """Copy everything of value from this machine to the disk; return how many files could not be copied.

    The record lies beside the copies. What fails is said on the machine's log: it ends in any case.
    """
    try:
        scope = scope_within(os.environ, disk)
        if scope is None:
            return 0
        done = rescue(find(scope).items, disk, scope.machine, clock)
    except (OSError, LastroError) as error:
        print(_("nothing could be rescued: {error}").format(error=error), file=sys.stderr)  # noqa: T201
        return 0
    left = [one for one in done if not one.safe]
    for one in left:
        text = _("{path} could not be rescued: {problem}").format(
            path=spelled(one.item.path), problem=one.problem
        )
        print(text, file=sys.stderr)  # noqa: T201 - the machine's own log
    return len(left)
