"""Refuses to freeze what holds a secret: plan, campaign file and code are copied to the disk, and kept."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from lastro.errors import CampaignInvalid, UsageError
from lastro.locale import _
from lastro.storage.secrets import files_with_secrets, find, secret_values

#: More files than this say less.
_SHOWN = 5


def refuse_secrets(file: Path, text: str, commands: Collection[str], code: Collection[str]) -> None:
    """See that nothing which is about to be frozen holds what looks like a key.

    Args:
        file: the campaign file; its folder holds the code.
        text: what the file says.
        commands: what will be run, each as one text.
        code: the files of the code, relative to the folder.

    Raises:
        CampaignInvalid: the campaign file, or a command, holds one; its line is named, the key is not.
        UsageError: a file of the code does.
    """
    values = secret_values()
    way_out = _(
        "take it from the environment: a job inherits the variables of `lastro run`, and they are never "
        "written down"
    )
    for found in find(text, values):
        message = _("this line holds {what}, and the file is kept with the plan").format(what=found.what)
        line = text.count("\n", 0, found.start) + 1
        raise CampaignInvalid(message, hint=way_out, file=str(file), line=line)
    for found in (one for command in commands for one in find(command, values)):
        raise CampaignInvalid(
            _("a command holds {what}, and commands are kept with the plan").format(what=found.what),
            hint=way_out,
            file=str(file),
        )
    in_code = files_with_secrets(file.parent, code, values)
    if in_code:
        places = [_("{name}:{line} holds {what}").format(name=n, line=at, what=w) for n, at, w in in_code]
        raise UsageError(
            _("the code would be copied to the disk with a secret in it: {places}").format(
                places="; ".join([*places[:_SHOWN], *(["..."] if len(places) > _SHOWN else [])])
            ),
            hint=way_out + _("; a file that is no code is left out by .gitignore"),
        )
