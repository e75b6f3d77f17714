"""Predictable work on rented GPUs: plan, prove, run, resume, close.

A training script needs one name from here::

    import lastro

    attempt = lastro.attach()

Importing this package loads nothing heavy; `attach` imports what it needs when it is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lastro.job.attempt import Attempt

__version__ = "0.1.0"
__all__ = ["__version__", "attach"]


def attach() -> Attempt:
    """Return the attempt that `lastro run` started, or a plain local one when the script is run by hand.

    Raises:
        UsageError: called twice in one process with different attempts in the environment.
        StorageError: the attempt's folder cannot be read or written.
    """
    from lastro.job.attempt import attach as attach_to_attempt

    return attach_to_attempt()
