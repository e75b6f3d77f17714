"""`lastro close`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lastro.cli.close_audit import tell_audit
from lastro.cli.close_export import hand_on
from lastro.cli.options import as_json_option, campaign_option, command, option
from lastro.cli.render import narrator, print_json, show
from lastro.clock import SystemClock
from lastro.errors import UsageError
from lastro.flow.auditing import audit
from lastro.flow.closing import Closing, close_session, page_again
from lastro.flow.copying import copy_to, do_without, tell_copied
from lastro.flow.session import find_session
from lastro.flow.taking_over import session_to_take, take_over
from lastro.locale import _
from lastro.paths import Home, home_root
from lastro.records import dataclass
from lastro.view.as_json import page_json
from lastro.view.terminal import summary

_Folder = click.Path(path_type=Path, file_okay=False)
_File = click.Path(path_type=Path, exists=True, dir_okay=False)
_Page = click.Path(path_type=Path, dir_okay=False)
_Target = click.Path(path_type=Path)


@command()
@option("--audit", "audited", type=_Folder, help="Check a campaign's folder, of anywhere, and close nothing.")
@option("--no-reload", is_flag=True, help="With --audit: run no command of the campaign.")
@option("--signers", type=_File, help="With --audit: whose signatures are believed, as ssh-keygen has it.")
@option("--sign", "key", type=_File, help="Sign with this key of SSH, by ssh-keygen.")
@option("--copy", "copied", type=_Folder, help="Make a second copy in this folder, and read it again.")
@option("--no-second-copy", is_flag=True, help="Do without one; say --why.")
@option("--why", metavar="TEXT", help="Why there is no second copy.")
@option(
    "--synthesis",
    "notes",
    type=_Page,
    is_flag=False,
    flag_value="synthesis.md",
    metavar="[FILE]",
    help="Write the page for the notebook (Markdown); by itself to synthesis.md.",
)
@option(
    "--take-over",
    "taking_over",
    is_flag=True,
    help="Take the campaign from the home that drives it: save and end what runs, let its machines go.",
)
@option("--crate", type=_Target, help="Hand the campaign on as an RO-Crate: a new folder, or a .zip.")
@campaign_option
@as_json_option
@click.pass_context
def close(
    ctx: click.Context,
    /,
    audited: Path | None,
    campaign_file: Path,
    taking_over: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Reload every output, add up the cost, conclude; or audit what was closed.

    Also before every run has ended: what is missing then is told, and the answer may be `undecided`. It is
    sealed, and closed once a second copy on another file system was read again, or was done without. A home
    on another file system than the disk gets that copy by itself.

    \b
    Example:
      lastro close
      lastro close --copy /mnt/other
      lastro close --no-second-copy --why "the folder is in the nightly backup"
      lastro close --take-over
      lastro close --synthesis notes/digits.md --crate digits.zip
      lastro close --audit /mnt/disk/campaigns/digits --json
    """
    asked = _Asked(**given)
    clock = SystemClock()
    if audited is not None:
        if asked.closes or taking_over:
            raise UsageError(_("an audit changes nothing"), hint=_("leave the other options out"))
        found = audit(audited, clock, reload=not asked.no_reload, signers=asked.signers)
        ctx.exit(tell_audit(found, as_json=as_json))
    if not asked.holds_together:
        raise UsageError(
            _("--no-second-copy and --why belong together, and there is no copy then"),
            hint=_('lastro close --no-second-copy --why "the folder is in the nightly backup"'),
        )
    home, tell = Home(home_root()), narrator(stderr=as_json)
    if taking_over:
        session = session_to_take(home, clock, campaign_file)
        take_over(session, clock, tell)
    else:
        session = find_session(home, clock, campaign_file)
    copying = asked.copied is None and asked.why is None
    closing = close_session(session, clock, tell, key=asked.key, copying=copying)
    if asked.copied is not None:
        tell_copied(copy_to(session, asked.copied), tell)
    if asked.why is not None:
        do_without(session, asked.why)
    if asked.copied is not None or asked.why is not None:
        closing = Closing(page_again(session), closing.exit_code)
    hand_on(session, closing.page, tell, notes=asked.notes, crate=asked.crate)
    if as_json:
        print_json({**page_json(closing.page), "exit_code": closing.exit_code})
    else:
        show(summary(closing.page))
        if closing.page.closing_state == "sealed":
            click.echo(_("sealed: one copy is no copy; `lastro close --copy FOLDER` makes a second one"))
    ctx.exit(closing.exit_code)


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """What was asked for beside the closing itself."""

    no_reload: bool
    signers: Path | None
    key: Path | None
    copied: Path | None
    no_second_copy: bool
    why: str | None
    notes: Path | None
    crate: Path | None

    @property
    def closes(self) -> bool:
        asked = (self.key, self.copied, self.notes, self.crate)
        return self.no_second_copy or any(one is not None for one in asked)

    @property
    def holds_together(self) -> bool:
        return self.no_second_copy == (self.why is not None) and not (self.no_second_copy and self.copied)
