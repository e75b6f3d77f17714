"""`lastro preflight`."""

from __future__ import annotations

from pathlib import Path

import click

from lastro.cli.options import as_json_option, campaign_argument, command, disk_option
from lastro.cli.render import console, print_json
from lastro.errors import PreflightFailed
from lastro.flow.freeze import DEFAULT_DISK
from lastro.locale import _
from lastro.preflight.run import Report, unwell
from lastro.preflight.run import preflight as check_machine
from lastro.spec.load import load_campaign
from lastro.units import show_bytes

_TONE = {"pass": "green", "warn": "yellow", "fail": "bold red", "no_answer": "dim"}


@command()
@campaign_argument
@disk_option
@as_json_option
@click.pass_context
def preflight(ctx: click.Context, campaign_file: Path, disk: Path | None, as_json: bool) -> None:
    """Check this machine against what the campaign wants.

    Looks at the command's own Python and packages, memory, shared memory and the disk; writes only a probe
    on the disk, which is removed again. Ends with code 4 when the machine must not be trusted.

    \b
    Example:
      lastro preflight
      lastro preflight campaign.yaml --disk /mnt/disk --json
    """
    loaded = load_campaign(campaign_file)
    place = disk or loaded.disk_path or loaded.folder / DEFAULT_DISK
    report = check_machine(loaded.spec, loaded.folder, place)
    code = PreflightFailed.exit_code if report.failed else 0
    if as_json:
        print_json({**report.as_json(), "exit_code": code})
    else:
        _show(report)
    ctx.exit(code)


def _show(report: Report) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    screen = console()
    words = {"pass": _("well"), "warn": _("careful"), "fail": _("failed"), "no_answer": _("no answer")}
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in ("", _("what"), _("found"), _("expected")):
        table.add_column(name, overflow="fold")
    for finding in report.findings:
        level = Text(words[finding.level.value], style=_TONE[finding.level.value])
        table.add_row(level, finding.fact, finding.value, finding.expected or "–")
    screen.print(_machine(report))
    screen.print(table)
    for finding in report.findings:
        if finding.consequence:
            screen.print(Text(f"{finding.fact}: {finding.consequence}"))
            screen.print(Text(_("  next: {hint}").format(hint=finding.next_step)))
    screen.print(Text(_("{sum} ({seconds:.1f} s).").format(sum=unwell(report), seconds=report.seconds)))


def _machine(report: Report) -> str:
    stack = report.stack
    gpus = ", ".join(gpu.name for gpu in stack.gpus or ()) or stack.gpu_reason or _("no GPU")
    memory = show_bytes(stack.memory_bytes) if stack.memory_bytes else _("unknown")
    return _("{os}, {cpu} × {count}, {memory} of memory; {gpus}; node {node}").format(
        os=stack.os, cpu=stack.cpu_model, count=stack.cpu_count, memory=memory, gpus=gpus, node=report.node
    )
