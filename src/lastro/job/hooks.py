"""What happens when the training script dies of an exception, or worse."""

from __future__ import annotations

import contextlib
import faulthandler
import io
import sys
from collections.abc import Callable
from types import TracebackType

from lastro import atomic
from lastro.errors import LastroError
from lastro.locale import _

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
                told(f"{kind.__name__}: {error}"[:_LONGEST], _found_no_room(error))
        if not isinstance(error, LastroError):
            before(kind, error, traceback)
            return
        sys.stderr.write(_("error: {message}").format(message=error.message) + "\n")
        if error.hint:
            sys.stderr.write("  " + _("next: {hint}").format(hint=error.hint) + "\n")
        sys.stderr.flush()
        raise SystemExit(error.exit_code)

    sys.excepthook = hook
    with contextlib.suppress(io.UnsupportedOperation, AttributeError, ValueError):  # stderr may be no file
        faulthandler.enable()


def _found_no_room(error: BaseException | None) -> bool:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if atomic.is_full(error):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False
