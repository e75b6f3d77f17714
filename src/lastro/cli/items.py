"""`lastro items`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from lastro.cli.options import Translated, as_json_option, option
from lastro.cli.render import print_json
from lastro.errors import LastroError, UsageError
from lastro.locale import _, ngettext

if TYPE_CHECKING:
    from lastro.job.item_commands import Made

#: So many failed items are named; all of them stand in the JSON.
_MOST_NAMED = 20


class _WithCommand(Translated):
    """Everything after `--` is the command to call, and no business of ours."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        at = args.index("--") if "--" in args else len(args)
        ctx.obj = tuple(args[at + 1 :])
        return super().parse_args(ctx, args[:at])

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "-- COMMAND..."]


@click.command(cls=_WithCommand)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@option("--out", required=True, metavar="NAME", help="Name of each item, such as 'frames/{id}.png'.")
@option(
    "--from",
    "source",
    type=click.File(encoding="utf-8"),
    help="A file of ids, one a line; - is standard input.",
)
@option("--batch", default=1, show_default=True, help="How many items become durable together.")
@option("--keep-going", is_flag=True, help="Go on after an item that failed; list them at the end.")
@as_json_option
@click.pass_context
def items(ctx: click.Context, /, as_json: bool, **wish: Any) -> None:
    """Call a command for each item that is missing: render, convert, infer.

    In the command {id} stands for the item's id and {path} for the file or folder that it has to make. The
    item counts, under its NAME below the run's outputs, when the command ends with 0 and has written
    something; it is never made again. Ids are arguments, or lines of a file or of standard input.

    In a job of `lastro run` the items belong to its run; elsewhere they are kept in ./lastro-run.

    \b
    Example:
      lastro items --out 'frames/{id}.png' 1 2 3 -- ./render.sh {id} {path}
      seq 1 100 | lastro items --out 'frames/{id}.png' -- ./render.sh {id} {path}
    """
    from lastro.job.item_commands import Wish, make_items

    if not ctx.obj:
        raise UsageError(
            _("there is no command to call"),
            hint=_("write it after --, such as: lastro items --out 'out/{id}.png' 1 2 -- convert {path}"),
        )
    told = Wish(
        ids=_ids(wish.pop("ids"), wish.pop("source")), command=ctx.obj, output=2 if as_json else 1, **wish
    )
    last: list[Made] = []
    show = _progress() if sys.stderr.isatty() else last.append

    def tell(made: Made) -> None:
        last[:] = [made]
        show(made)

    try:
        made = make_items(told, tell)
    except SystemExit as left:
        if as_json:
            print_json({**(_as_json(last[0]) if last else {}), "exit_code": left.code})
        raise
    _finish(ctx, made, as_json)


def _ids(given: tuple[str, ...], source: Any) -> tuple[str, ...]:
    if given and source is not None:
        raise UsageError(_("ids are given as arguments and by --from"), hint=_("use one of the two"))
    if given:
        return given
    if source is None and sys.stdin.isatty():
        raise UsageError(_("there are no ids"), hint=_("give them as arguments, by --from, or in a pipe"))
    try:
        return tuple(line.rstrip("\r\n") for line in source or sys.stdin if line.strip())
    except UnicodeDecodeError as error:
        raise UsageError(_("the ids are no text in UTF-8: {error}").format(error=error)) from error


def _progress() -> Callable[[Made], None]:
    def show(made: Made) -> None:
        text = _("{done} of {total} items").format(done=made.done, total=made.total)
        if made.failed:
            text += ", " + _("{count} failed").format(count=len(made.failed))
        click.echo(f"\r\x1b[K{text}", err=True, nl=made.done + len(made.failed) == made.total)

    return show


def _finish(ctx: click.Context, made: Made, as_json: bool) -> None:
    code = LastroError.exit_code if made.failed else 0
    if as_json:
        print_json({**_as_json(made), "exit_code": code})
        ctx.exit(code)
    text = ngettext("{count} item in {folder}", "{count} items in {folder}", made.done)
    click.echo(text.format(count=made.done, folder=made.outputs), err=True)
    for failure in made.failed[:_MOST_NAMED]:
        click.echo(_("item {id}: {why}").format(id=failure.id, why=failure.why), err=True)
    if made.failed:
        raise LastroError(
            ngettext(
                "{count} item could not be made", "{count} items could not be made", len(made.failed)
            ).format(count=len(made.failed)),
            hint=_("the same command makes only what is missing"),
        )


def _as_json(made: Made) -> dict[str, Any]:
    return {
        "done": made.done,
        "total": made.total,
        "skipped": made.skipped,
        "failed": [{"id": failure.id, "why": failure.why} for failure in made.failed],
        "outputs": str(made.outputs),
    }
