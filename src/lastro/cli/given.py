"""What is given to an option as people write it: a size, a price, a duration."""

from __future__ import annotations

from collections.abc import Callable

import click


def given_by(parse: Callable[[str], object]) -> Callable[..., object]:
    """Return the callback of an option whose text is read by `parse`; what it refuses is a wrong use."""

    def convert(_ctx: click.Context, _option: click.Parameter, text: str | None) -> object:
        if text is None:
            return None
        try:
            return parse(text)
        except ValueError as error:
            raise click.BadParameter(str(error)) from error

    return convert
