"""`lastro offers`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import click

from lastro.billing import LeaseKind
from lastro.cli.given import given_by
from lastro.cli.options import Translated, TranslatedGroup, as_json_option, option
from lastro.cli.render import print_json, show
from lastro.clock import SystemClock
from lastro.flow.offers.as_json import imported_json, listing_json
from lastro.flow.offers.found import offers_file
from lastro.flow.offers.importing import FORMS, import_offers, write
from lastro.flow.offers.listing import ORDERS, list_offers
from lastro.flow.offers.told import imported_lines
from lastro.flow.offers.wanted import Wanted
from lastro.locale import _
from lastro.spec.load import load_offers_file
from lastro.units import parse_bytes, parse_money

_FILTERS = (
    option("--gpu", metavar="NAME", help="Only with this GPU: '4090' finds 'RTX 4090'."),
    option("--memory", metavar="SIZE", callback=given_by(parse_bytes), help="At least so much in each GPU."),
    option(
        "--kind",
        "kinds",
        multiple=True,
        type=click.Choice([kind.value for kind in LeaseKind]),
        help="Only of this kind; may be given again.",
    ),
    option("--region", metavar="NAME", help="Only where region or zone contains this."),
    option("--jurisdiction", metavar="CODE", help="Only in this country, or in EU."),
    option(
        "--max-price",
        "price",
        metavar="MONEY",
        callback=given_by(parse_money),
        help="At most this, as quoted: for an hour, or for a lot's term.",
    ),
)


def _filtered(provider_help: str) -> Callable[[Any], Any]:
    """Give a command the options that choose among offers."""

    def decorate(function: Any) -> Any:
        for add in reversed((*_FILTERS, option("--provider", metavar="NAME", help=provider_help))):
            function = add(function)
        return function

    return decorate


def _wanted(kinds: tuple[str, ...], **given: Any) -> Wanted:
    return Wanted(kinds=tuple(LeaseKind(kind) for kind in kinds), **given)


@click.command(cls=Translated)
@click.argument("file", required=False, type=click.Path(path_type=Path))
@_filtered("Only from this provider.")
@option(
    "--sort",
    type=click.Choice(ORDERS),
    default="price",
    show_default=True,
    help="Within a card: the cheapest, the newest, or by name.",
)
@as_json_option
def listed(file: Path | None, sort: str, as_json: bool, **given: Any) -> None:
    """List what can be rented, by card, the cheapest first. Rents nothing.

    FILE: without it, the offers file of the campaign in this folder, or offers.yaml. A price stands as it is
    quoted; what is worked out from it says that it is derived. `lastro offers import` makes such a file of a
    catalogue.

    \b
    Example:
      lastro offers
      lastro offers --gpu 4090 --memory "24 GB" --jurisdiction EU
      lastro offers examples/offers/offers.yaml --kind lot --max-price "110 USD"
    """
    path = offers_file(file, Path())
    offers = load_offers_file(path)
    wanted = _wanted(**given)
    listing = list_offers(offers, wanted, SystemClock().now().date(), order=sort)
    if as_json:
        print_json({**listing_json(listing, offers, path), "exit_code": 0})
        return
    from lastro.cli.offers_text import listing_text  # late: rich takes a while

    show(listing_text(listing, offers, whole=wanted == Wanted()))


class OrImport(TranslatedGroup):
    """Takes a subcommand when its name is the first word, and lists offers with everything else."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if args and args[0] in self.commands:
            return super().make_context(info_name, args, parent, **extra)
        return listed.make_context(info_name, args, parent, **extra)


@click.group(cls=OrImport)
def offers() -> None:
    """List what can be rented, or make a file of it."""


def _day(_ctx: click.Context, _option: click.Parameter, text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text is not None else None
    except ValueError as error:
        raise click.BadParameter(_("{text!r} is not a date such as 2026-11-30").format(text=text)) from error


@offers.command("import", cls=Translated)
@click.argument("form", type=click.Choice(list(FORMS)))
@click.argument(
    "files",
    nargs=-1,
    required=True,
    metavar="CSV...",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
)
@_filtered("Whose prices these are; without it, the folder's or the file's name.")
@option("--seen", metavar="DATE", callback=_day, help="The day on which the catalogue was read.")
@option("-o", "--output", type=click.Path(path_type=Path), help="Write there; without it, to the screen.")
@as_json_option
def import_(
    form: str,
    files: tuple[Path, ...],
    provider: str | None,
    seen: date | None,
    output: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Make an offers file of a public catalogue, and say what was mended in it.

    FORM: skypilot (catalogs/v8/CLOUD/vms.csv) or gpuhunt (PROVIDER.csv). Known defects are mended and
    counted; a price that is not there becomes unknown. Prices are USD, as the catalogues have them.

    \b
    Example:
      lastro offers import skypilot runpod/vms.csv --gpu H100 -o offers.yaml
      lastro offers import gpuhunt aws.csv gcp.csv --memory "80 GB" --kind spot
    """
    imported = import_offers(form, files, _wanted(**given), provider=provider, seen=seen)
    if output is not None:
        write(imported, output)
    if as_json:
        print_json({**imported_json(imported), "file": str(output) if output else None, "exit_code": 0})
        return
    if output is None:
        click.echo(imported.text, nl=False)
    for line in imported_lines(imported, output):
        click.echo(line, err=True)
