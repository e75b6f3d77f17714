"""What commands share when they print: errors, JSON, and one console."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from lastro.errors import LastroError
from lastro.locale import _

if TYPE_CHECKING:
    from rich.console import Console


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


def narrator(*, stderr: bool) -> Callable[[str], None]:
    """Return a function that tells what happens, a line each, with the time of day."""

    def tell(text: str) -> None:
        click.echo(f"{datetime.now().astimezone():%H:%M:%S}  {text}", err=stderr)

    return tell
