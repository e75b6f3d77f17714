"""What commands share when they print: errors, JSON, and one console."""

from __future__ import annotations

import contextlib
import os
import select
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from lastro.errors import LastroError
from lastro.locale import _

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


def fail(error: LastroError, *, as_json: bool) -> None:
    """Print an error: for people on standard error, for programs as one object on standard output."""
    if as_json:
        print_json(error.as_json())
        return
    click.echo(_("error: {message}").format(message=error.message), err=True)
    if error.hint:
        click.echo(_("  next: {hint}").format(hint=error.hint), err=True)


def print_json(value: Any) -> None:
    """Print one strict JSON object."""
    from lastro import strictjson  # late, like rich: the help needs neither

    sys.stdout.write(strictjson.pretty(value))
    sys.stdout.flush()


def console(*, stderr: bool = False) -> Console:
    """Return a console: colour on a terminal, plain text in a pipe."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, soft_wrap=False)


def show(content: RenderableType) -> None:
    """Print what was laid out for this width; a line that has to stay whole (a path) may be longer."""
    console().print(content, crop=False)


def narrator(*, stderr: bool) -> Callable[[str], None]:
    """Return a function that tells what happens, a line each, with the time of day.

    When whoever read it has gone (`lastro run | head`), what is told goes nowhere from then on: a campaign is
    not left alone for want of an audience.
    """

    def tell(text: str) -> None:
        with unread():
            click.echo(f"{datetime.now().astimezone():%H:%M:%S}  {text}", err=stderr)

    return tell


def echo(line: str) -> None:
    """Show a line that a job has printed."""
    with unread():
        click.echo(line)


@contextlib.contextmanager
def unread() -> Iterator[None]:
    """Let output that nobody reads any more go nowhere, so that what follows goes on and keeps its code."""
    try:
        yield
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for descriptor in (sys.stdout.fileno(), sys.stderr.fileno()):
            if _is_broken(descriptor):
                os.dup2(nowhere, descriptor)
        os.close(nowhere)


def _is_broken(descriptor: int) -> bool:
    """Tell whether nobody holds the other end of a pipe any more."""
    asked = select.poll()
    asked.register(descriptor, 0)
    return any(events & select.POLLERR for _descriptor, events in asked.poll(0))
