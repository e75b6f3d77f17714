"""Arguments and options that several commands share, so that they are spelled the same everywhere."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from lastro.errors import UsageError
from lastro.locale import _
from lastro.units import parse_duration


class Translated(click.Command):
    """A command whose help is looked up in the catalogue when it is shown; its docstring is the id."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with _spoken(self):
            super().format_help_text(ctx, formatter)

    def get_short_help_str(self, limit: int = 45) -> str:
        with _spoken(self):
            return super().get_short_help_str(limit)


class TranslatedGroup(Translated, click.Group):
    """A group of commands, translated like them."""


@contextmanager
def _spoken(shown: click.Command | click.Option) -> Iterator[None]:
    untranslated = shown.help
    if untranslated:
        shown.help = inspect.cleandoc(untranslated)
        shown.help = _(shown.help)
    try:
        yield
    finally:
        shown.help = untranslated


#: Where the words after `--` are kept until the command is called.
_COMMAND = "lastro.cli.command"


class WithCommand(Translated):
    """Takes everything after `--` as the command to run, whatever it looks like."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            place = args.index("--")
            ctx.meta[_COMMAND] = tuple(args[place + 1 :])
            args = args[:place]
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_usage(ctx, formatter)
        formatter.write_usage(ctx.command_path, "[OPTIONS] -- COMMAND [ARGS]...", prefix=_("   or: "))


def command_after_dashes(ctx: click.Context) -> tuple[str, ...] | None:
    """Return the words after `--`; None when there is no `--`."""
    command: tuple[str, ...] | None = ctx.meta.get(_COMMAND)
    return command


def refuse_saves_without_command(*saves: str | None) -> None:
    """Refuse `--checkpoints` and `--resume-arg` where there is no command that they could be of."""
    if any(value is not None for value in saves):
        raise UsageError(
            _("--checkpoints and --resume-arg are for a command, and there is none after `--`"),
            hint=_("a campaign file has the keys checkpoints and resume_arg"),
        )


class Option(click.Option):
    """An option whose help is looked up in the catalogue when it is shown."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        with _spoken(self):
            return super().get_help_record(ctx)


def command() -> Callable[[Callable[..., Any]], click.Command]:
    """Make a command of a function."""
    return click.command(cls=Translated)


def option(*names: str, **settings: Any) -> Callable[[Any], Any]:
    """Give a command an option."""
    return click.option(*names, cls=Option, **settings)


def seconds_of(name: str, value: str) -> float:
    """Return the seconds of an option's value such as `20min`. Raises UsageError for anything else."""
    try:
        return parse_duration(value).total_seconds()
    except ValueError as error:
        raise UsageError(_("{name}: {error}").format(name=name, error=error)) from error


DEFAULT_FILE = Path("campaign.yaml")

campaign_argument = click.argument(
    "campaign_file", type=click.Path(path_type=Path), default=DEFAULT_FILE, metavar="[CAMPAIGN]"
)
campaign_option = option(
    "--campaign",
    "campaign_file",
    type=click.Path(path_type=Path),
    default=DEFAULT_FILE,
    show_default=True,
    help="The campaign file; without one here, the campaign that was used last.",
)
checkpoints_option = option(
    "--checkpoints", metavar="GLOB", help="With a command: its own saves, as in 'out/checkpoint-*'."
)
resume_arg_option = option(
    "--resume-arg",
    metavar="ARG",
    help="With a command: what it gets to go on from a save, as in '--resume {latest}'.",
)
disk_option = option(
    "--disk",
    type=click.Path(path_type=Path, file_okay=False),
    help="The persistent disk. Wins over the campaign file.",
)


def _use_ssh_config(_ctx: click.Context, _parameter: click.Parameter, value: Path | None) -> None:
    """Let every ssh that this command starts read that file."""
    from lastro.providers.ssh.transport import CONFIG  # late: the help of all commands needs no provider

    if value is not None:
        os.environ[CONFIG] = str(value.absolute())


ssh_config_option = option(
    "--ssh-config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    expose_value=False,
    callback=_use_ssh_config,
    help="Another configuration of ssh than your own; else $LASTRO_SSH_CONFIG names it.",
)
as_json_option = option("--json", "as_json", is_flag=True, help="Print one JSON object.")
