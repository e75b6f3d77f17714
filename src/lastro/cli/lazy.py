"""A group whose commands stand in a table: each is loaded when it is called; help needs the table only."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

from lastro.cli.commands import Command
from lastro.cli.options import Translated
from lastro.locale import _


class LazyGroup(Translated, click.Group):
    """Knows every command's name and first line; loads a command's module when it is called."""

    def __init__(self, *args: Any, table: Mapping[str, Command], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._table:
            return None
        name = self._table[cmd_name].module
        command = getattr(importlib.import_module(f"lastro.cli.{name}"), name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self._table:
            import difflib

            near = difflib.get_close_matches(args[0], list(self._table), n=1)
            guess = _(" Did you mean '{name}'?").format(name=near[0]) if near else ""
            ctx.fail(_("No such command '{name}'.").format(name=args[0]) + guess)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section(_("Commands")):
            formatter.write_dl([(name, _(command.text)) for name, command in self._table.items()])
