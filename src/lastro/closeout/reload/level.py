"""How far from this machine an output is reloaded: the three levels, and which one can be had."""

from __future__ import annotations

from collections.abc import Mapping

from lastro.locale import _
from lastro.sandbox.sealed import why_not

#: In a jail; in a process with folders of its own; in the process that closes, where the copy lies.
JAILED, FRESH, AT_HOME = "jailed", "fresh process", "at home"
#: Asks for the weaker level with the value `fresh`, where what a reload needs cannot be shown in a jail.
WISH = "LASTRO_RELOAD_LEVEL"


def level_for(environment: Mapping[str, str]) -> tuple[str, str | None]:
    """Return the level of reloads that are made now, and why it is not the strongest; None when it is."""
    if environment.get(WISH) == "fresh":
        return FRESH, _("{name}=fresh asks for it").format(name=WISH)
    why = why_not()
    return (JAILED, None) if why is None else (FRESH, why)
