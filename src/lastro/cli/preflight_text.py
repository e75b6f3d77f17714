"""A preflight as people read it: what was asked, what was found, and what to do about it."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lastro.locale import _
from lastro.preflight.check import Finding, Level
from lastro.preflight.run import Report, unwell
from lastro.units import show_bytes

_TONE = {"pass": "green", "warn": "yellow", "fail": "bold red", "no_answer": "dim"}


def show_report(screen: Console, report: Report) -> None:
    """Print a report as a table, what each finding costs, and the verdict."""
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
        if finding.consequence and finding.level is not Level.PASS:
            _show(screen, finding)
    screen.print(Text(_steps(report)))
    screen.print(
        Text(
            _("{verdict}: {sum} ({seconds:.1f} s).").format(
                verdict=_verdict(report.verdict), sum=unwell(report), seconds=report.seconds
            )
        )
    )


def _show(screen: Console, finding: Finding) -> None:
    screen.print(Text(f"{finding.fact}: {finding.consequence} ({finding.code})"))
    if finding.threshold:
        screen.print(Text(_("  by: {source}").format(source=finding.threshold)))
    if finding.next_step:
        screen.print(Text(_("  next: {hint}").format(hint=finding.next_step)))


def _verdict(verdict: Level) -> str:
    return {
        Level.PASS: _("pass"),
        Level.WARN: _("pass, with care"),
        Level.FAIL: _("fail"),
        Level.NO_ANSWER: _("no answer to what is required"),
    }[verdict]


def _steps(report: Report) -> str:
    """Return what each step took of its budget, in one line."""
    parts = [
        _("{name} {seconds:.1f} of {budget:.0f} s").format(
            name=step.name, seconds=step.seconds, budget=step.budget_seconds
        )
        for step in report.steps
    ]
    return _("steps: {parts}").format(parts=", ".join(parts))


def _machine(report: Report) -> str:
    stack = report.stack
    gpus = ", ".join(gpu.name for gpu in stack.gpus or ()) or stack.gpu_reason or _("no GPU")
    memory = show_bytes(stack.memory_bytes) if stack.memory_bytes else _("unknown")
    return _("{os}, {cpu} × {count}, {memory} of memory; {gpus}; node {node}").format(
        os=stack.os, cpu=stack.cpu_model, count=stack.cpu_count, memory=memory, gpus=gpus, node=report.node_id
    )
