"""A bar for work that is measured in bytes: on a terminal only, on standard error, never with --json."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from lastro.cli.render import console


@contextlib.contextmanager
def bytes_bar(what: str, *, shown: bool = True) -> Iterator[Callable[[int, int], None]]:
    """Give a function that is told (bytes done, bytes in all)."""
    if not shown or not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
