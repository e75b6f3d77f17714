"""What `lastro disk push` and `pull` share: their options, and how a transfer is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lastro.cli.bar import bytes_bar
from lastro.cli.given import given_by
from lastro.cli.options import option
from lastro.cli.render import print_json
from lastro.clock import SystemClock
from lastro.locale import _
from lastro.paths import Home, home_root
from lastro.units import parse_bytes, parse_money, show_bytes, show_duration

if TYPE_CHECKING:
    from lastro.flow.transfers.move import Mover, MoveResult, Wish
    from lastro.flow.transfers.price import Estimate
    from lastro.storage.transfer.ledger import Cap


def _cap(text: str) -> Cap:
    """Read a size, a sum of money, or `none`."""
    from lastro.storage.transfer.ledger import Cap

    if text == "none":
        return Cap()
    try:
        return Cap(money=parse_money(text))
    except ValueError:
        return Cap(bytes=parse_bytes(text))


def moving(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of every transfer."""
    for one in (
        option("--workers", type=click.IntRange(1, 64), default=8, show_default=True, help="Parts at once."),
        option(
            "--cap",
            callback=given_by(_cap),
            metavar="SIZE|MONEY|none",
            help="The most that all transfers of a month may move; it is kept.",
        ),
        option(
            "--offers",
            type=click.Path(path_type=Path, dir_okay=False, exists=True),
            help="The offers file with the prices of egress.",
        ),
        option("--to", "to", metavar="REGION", help="Where the data arrives, as the offers file names it."),
        option("--from", "origin", metavar="REGION", help="Which place the data leaves."),
    ):
        function = one(function)
    return function


def wish_of(
    origin: str | None,
    to: str | None,
    offers: Path | None,
    cap: Cap | None,
    workers: int,
    *,
    compress: bool = False,
) -> Wish:
    """Return what was asked for."""
    from lastro.flow.transfers.move import Wish
    from lastro.flow.transfers.price import Ends

    ends = Ends(origin=origin, to=to)
    return Wish(ends=ends, offers=offers, cap=cap, workers=workers, compress=compress)


def move(label: str, wish: Wish, act: Callable[[Mover], MoveResult], *, as_json: bool) -> None:
    """Carry a transfer out before a bar, and tell what came of it."""
    from lastro.flow.transfers.move import Mover

    with bytes_bar(label, shown=not as_json) as told:
        ahead = (lambda _told: None) if as_json else show_estimate
        result = act(Mover(Home(home_root()), SystemClock(), wish, told=told, ahead=ahead))
    if as_json:
        print_json({**result.as_json(), "exit_code": 0})
    else:
        show_result(result)


def show_estimate(told: Estimate) -> None:
    """Say what is about to move and cost, on standard error: it comes before the first byte."""
    cost = str(told.cost.amount) if told.cost.amount is not None else _("unknown")
    line = _("{size} to move, cost {cost}: {why}")
    click.echo(line.format(size=show_bytes(told.bytes), cost=cost, why=told.cost.why), err=True)
    for one in told.findings:
        click.echo(_("note: {text}").format(text=one.text), err=True)


def show_result(result: MoveResult) -> None:
    """Say what was moved, and how it was checked."""
    from datetime import timedelta

    tally = result.tally
    moved = show_bytes(tally["moved_bytes"])
    click.echo(
        _("{place}: {files} files, moved {moved}; checked by {how}").format(
            place=result.place, files=tally["files"], moved=moved, how=result.verified
        )
    )
    if result.why:
        click.echo(_("this copy, because: {why}").format(why=result.why))
    if result.digest:
        click.echo(_("digest sha256:{digest}").format(digest=result.digest))
    if tally.get("bytes_there_before"):
        click.echo(_("{size} were there already").format(size=show_bytes(tally["bytes_there_before"])))
    if tally.get("part_seconds_p50") is not None:
        times = {
            "p50": show_duration(timedelta(seconds=tally["part_seconds_p50"])),
            "p99": show_duration(timedelta(seconds=tally["part_seconds_p99"])),
        }
        click.echo(
            _("a part took {p50} (p99 {p99}); {count} calls were made again").format(
                count=tally["retried_calls"], **times
            )
        )
    packed = [one for one in result.compression if one["compressed"]]
    if result.compression:
        text = _("compressed {count} of {all} files; {path}: {why}")
        first = (packed or result.compression)[0]
        click.echo(
            text.format(
                count=len(packed), all=len(result.compression), path=first["path"] or "-", why=first["why"]
            )
        )
    for one in result.left_out:
        click.echo(_("not sent: {path}: {why}").format(path=one["path"], why=one["why"]))
