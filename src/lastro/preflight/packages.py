"""Are the packages there that the campaign wants, in the versions that it wants?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lastro.locale import _
from lastro.preflight.check import Finding, Level, Subject
from lastro.spec.want import OF_MACHINE, parse_version


def wanted_packages(subject_want: Mapping[str, str]) -> list[str]:
    """Return the names of packages among the wants."""
    return [name for name in subject_want if name not in (*OF_MACHINE, "python")]


def check(subject: Subject) -> Iterator[Finding]:
    """Compare each wanted package with what is installed for the command's own Python."""
    for name in wanted_packages(subject.want):
        yield _judge(subject, name, subject.want[name])


def _judge(subject: Subject, name: str, wanted: str) -> Finding:
    fact = _("package {name}").format(name=name)
    if subject.versions.python is None:
        return Finding(
            code="packages",
            level=Level.NO_ANSWER,
            fact=fact,
            value=subject.versions.reason or _("unknown"),
            expected=wanted,
        )
    found = subject.versions.packages.get(name)
    # A local label (2.13.0+cpu) is part of what is installed, not of what was asked for.
    if found is not None and parse_version(wanted).contains(found.partition("+")[0]):
        return Finding(code="packages", level=Level.PASS, fact=fact, value=found, expected=wanted)
    if subject.setup:
        next_step = _("run the campaign's setup for {python}: {setup}").format(
            python=subject.versions.path, setup=subject.setup
        )
    else:
        next_step = _("install it for {python}, or change `want.{name}`").format(
            python=subject.versions.path, name=name
        )
    return Finding(
        code="packages",
        level=Level.FAIL,
        fact=fact,
        value=found or _("not installed"),
        expected=wanted,
        consequence=_("results and checkpoints of other versions may differ"),
        next_step=next_step,
    )
