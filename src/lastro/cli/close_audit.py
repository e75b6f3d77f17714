"""What `lastro close --audit` prints."""

from __future__ import annotations

import click

from lastro.cli.render import print_json
from lastro.closeout.audit import FAILED, NOT_REPEATED, OK, OPEN, Audit
from lastro.locale import _


def tell_audit(found: Audit, *, as_json: bool) -> int:
    """Print an audit, and return its exit code."""
    if as_json:
        print_json(found.as_json())
        return found.exit_code
    marks = {OK: _("ok"), FAILED: _("BAD"), NOT_REPEATED: _("not repeated"), OPEN: _("open")}
    names = {
        "chains": _("journal"),
        "files": _("files"),
        "cost": _("cost"),
        "conclusion": _("conclusion"),
        "signature": _("signature"),
        "predictions": _("predictions"),
        "reload": _("reload"),
        "copy": _("second copy"),
    }
    click.echo(found.campaign)
    for check in found.checks:
        click.echo(f"  {names.get(check.name, check.name)}: {marks[check.state]}: {check.why}")
        for damage in check.damage:
            click.echo(f"    {damage.path}: {damage.why}")
    if not found.closed:
        click.echo(_not_closed(found))
    if found.root_digest is not None:
        click.echo(_("root digest {digest}").format(digest=found.root_digest))
    return found.exit_code


#: More names than this say less; `--json` has all.
_NAMES_SHOWN = 5


def _not_closed(found: Audit) -> str:
    """Return the verdict on a campaign that was cut off, with what it does not speak of."""
    if not found.whole:
        names = sorted({one.path for one in found.damage}) or [found.folder]
        return _("not closed: what is there is not whole: {names}").format(names=", ".join(names))
    text = _("not closed: what is there is whole")
    if found.unheld:
        names = [*found.unheld[:_NAMES_SHOWN], *(["..."] if len(found.unheld) > _NAMES_SHOWN else [])]
        text += "; " + _("nothing is known of {names}").format(names=", ".join(names))
    return text
