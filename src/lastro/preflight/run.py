"""Runs the checks and sums them up."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lastro.errors import PreflightFailed
from lastro.locale import _
from lastro.preflight import (
    command,
    disk_space,
    disk_write,
    isolation,
    memory,
    packages,
    python_version,
    shared_memory,
)
from lastro.preflight.check import Check, Finding, Level, Subject
from lastro.preflight.interpreter import ask_versions
from lastro.spec.campaign import Campaign
from lastro.stack import Stack, capture

#: Every check, in the order of the report.
CHECKS: tuple[Check, ...] = (
    command.check,
    python_version.check,
    packages.check,
    isolation.check,
    memory.check,
    shared_memory.check,
    disk_space.check,
    disk_write.check,
)


@dataclass(frozen=True, kw_only=True)
class Report:
    """What preflight found. `seconds`: how long it took."""

    verdict: Level
    findings: tuple[Finding, ...]
    stack: Stack
    seconds: float

    @property
    def node(self) -> str:
        return self.stack.node

    @property
    def failed(self) -> tuple[Finding, ...]:
        """The findings because of which the machine must not be trusted."""
        return tuple(finding for finding in self.findings if finding.level is Level.FAIL)

    @property
    def summary(self) -> str:
        """What is not well, in one line; empty when all is."""
        return "; ".join(
            finding.text for finding in self.findings if finding.level in (Level.FAIL, Level.WARN)
        )

    def as_json(self) -> dict[str, Any]:
        """Return the report; its keys are the facts of the event `preflight.done` too."""
        return {
            "verdict": self.verdict.value,
            "summary": self.summary,
            "findings": [finding.as_json() for finding in self.findings],
            "stack": self.stack.as_json(),
            "node": self.node,
            "seconds": self.seconds,
        }

    def require_trust(self) -> None:
        """Raise PreflightFailed, naming what failed, when the machine must not be trusted."""
        if self.failed:
            steps = [finding.next_step for finding in self.failed if finding.next_step]
            raise PreflightFailed(
                "; ".join(finding.text for finding in self.failed), hint="; ".join(steps) or None
            )


def verdict_of(findings: tuple[Finding, ...]) -> Level:
    """Return the worst level; a check without an answer takes nothing away from the others."""
    levels = {finding.level for finding in findings}
    return next((level for level in (Level.FAIL, Level.WARN) if level in levels), Level.PASS)


def preflight(campaign: Campaign, folder: Path, disk: Path) -> Report:
    """Check this machine for a campaign. Writes only into a folder on the disk that it removes again.

    Args:
        campaign: what is to run here.
        folder: the folder of the campaign file, where the command starts.
        disk: where everything of value will be kept; it need not be there yet.
    """
    began = time.monotonic()
    subject = look(campaign, folder, disk)
    findings = tuple(finding for check in CHECKS for finding in check(subject))
    return Report(
        verdict=verdict_of(findings),
        findings=findings,
        stack=subject.stack,
        seconds=time.monotonic() - began,
    )


def look(campaign: Campaign, folder: Path, disk: Path) -> Subject:
    """Gather what the checks look at."""
    wanted = packages.wanted_packages(campaign.want)
    argv = campaign.runs()[0].argv
    return Subject(
        stack=capture(wanted),
        versions=ask_versions(argv, folder, wanted),
        command=argv,
        workdir=folder,
        disk=disk.absolute(),
        want=campaign.want,
        corpus_bytes=_corpus_bytes(folder / campaign.corpus.path) if campaign.corpus else None,
        setup=campaign.setup,
    )


def _corpus_bytes(path: Path) -> int | None:
    try:
        if path.is_dir():
            return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        return path.stat().st_size
    except OSError:
        return None


def unwell(report: Report) -> str:
    """Return the line that says how many checks were not well."""
    count = len(report.findings)
    bad = [finding for finding in report.findings if finding.level is not Level.PASS]
    if not bad:
        return _("{count} checks, all well").format(count=count)
    return _("{count} checks, {bad} of them not well").format(count=count, bad=len(bad))
