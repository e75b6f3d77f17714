"""Is the Python of the job the one that the campaign wants?"""

from __future__ import annotations

from collections.abc import Iterator

from lastro.locale import _
from lastro.preflight.check import Finding, Level, Subject
from lastro.spec.want import parse_version


def check(subject: Subject) -> Iterator[Finding]:
    """Compare the version of the command's own Python with `want.python`."""
    wanted = subject.want.get("python")
    found = subject.versions.python
    if found is None:
        yield Finding(
            code="python_version",
            level=Level.NO_ANSWER if wanted is None else Level.FAIL,
            fact=_("Python of the job"),
            value=subject.versions.reason or _("unknown"),
            expected=wanted,
            consequence=_("nothing is known of what the job will import") if wanted else None,
            next_step=_("name a Python that is there in `command`") if wanted else None,
        )
        return
    well = wanted is None or parse_version(wanted).contains(found)
    yield Finding(
        code="python_version",
        level=Level.PASS if well else Level.FAIL,
        fact=_("Python of the job"),
        value=found,
        expected=wanted,
        consequence=None if well else _("the job was not proven on this version"),
        next_step=None if well else _("use another environment or image, or change `want.python`"),
    )
