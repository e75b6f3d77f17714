"""What happens when the training script dies of an exception, or worse."""

from __future__ import annotations

import contextlib
import faulthandler
import io
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from lastro import atomic
from lastro.errors import LastroError
from lastro.journal.signals import STACKS_SIGNAL
from lastro.locale import _
from lastro.storage.secrets import redacted

_LONGEST = 500


def install_hooks(told: Callable[[str, bool], None]) -> None:
    """Report an uncaught exception as `Type: message` before its traceback is printed.

    `told` also gets whether a full disk was behind it.

    lastro's own errors are shown without a traceback and end the process with their exit code. A crash of
    the interpreter itself leaves its stack on stderr.
    """
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        if not isinstance(error, KeyboardInterrupt):
            with contextlib.suppress(OSError):  # a full disk must not hide what went wrong
                told(redacted(f"{kind.__name__}: {error}")[:_LONGEST], _found_no_room(error))
        if not isinstance(error, LastroError):
            if before is sys.__excepthook__:
                _print(error)
            else:  # the script has one of its own
                before(kind, error, traceback)
            return
        sys.stderr.write(redacted(_("error: {message}").format(message=error.message)) + "\n")
        if error.hint:
            sys.stderr.write("  " + _("next: {hint}").format(hint=error.hint) + "\n")
        sys.stderr.flush()
        raise SystemExit(error.exit_code)

    sys.excepthook = hook
    with contextlib.suppress(io.UnsupportedOperation, AttributeError, ValueError):  # stderr may be no file
        faulthandler.enable()


_stacks: list[BinaryIO] = []


def answer_with_stacks(log: Path) -> None:
    """Let every thread's stack be written into the log when a supervisor asks: even out of a C call.

    Nothing is done where something else has a handler for that signal already.
    """
    if STACKS_SIGNAL is None or signal.getsignal(STACKS_SIGNAL) is not signal.SIG_DFL or _stacks:
        return
    with contextlib.suppress(OSError, ValueError):
        _stacks.append(log.open("ab", buffering=0))  # kept open for good: the handler writes by descriptor
        faulthandler.register(STACKS_SIGNAL, file=_stacks[0])


def _found_no_room(error: BaseException | None) -> bool:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if atomic.is_full(error):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def _print(error: BaseException) -> None:
    """Print the traceback as Python does, without the secrets that a message may hold: the log is kept."""
    import traceback

    sys.stderr.write(redacted("".join(traceback.format_exception(error))))
    sys.stderr.flush()
