"""The command line that reaches a machine, and what ssh's complaints mean. Pure, but for the environment."""

from __future__ import annotations

import base64
import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from lastro.errors import ProviderError
from lastro.locale import _
from lastro.spec.addresses import Target

#: Names another ssh configuration than the user's own.
CONFIG = "LASTRO_SSH_CONFIG"
#: Said by the script below where no Python is new enough.
NO_PYTHON = 91
#: Said by `boot` before the folder and the reason.
_NO_ROOM = "lastro cannot be put into "
_NAMES = ("python3", *(f"python3.{minor}" for minor in range(15, 9, -1)), "python")


class Unreachable(ProviderError):
    """Nobody answers at the address. What runs on the machine goes on, and it may bill on."""


class Refused(ProviderError):
    """The machine, or its ssh, will not have us: trying again changes nothing."""


def ssh_command(environment: Mapping[str, str], *, terminal: bool = False) -> tuple[str, ...]:
    """Return how ssh is called: never asking anything, and hearing within 20 s that a cable was cut.

    Everything else (keys, agents, jump hosts, names) is the user's own configuration. `terminal`: it has one.
    """
    config = environment.get(CONFIG)
    return (
        "ssh",
        *(("-F", str(Path(config).expanduser())) if config else ()),
        *("-t" if terminal else "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15"),
        *("-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=4"),
        *("-o", "ControlMaster=no", "-o", "ForwardX11=no"),
    )


def agent_command(target: Target, digest: str) -> list[str]:
    """Return the command that makes a Python on the machine its agent; see `boot`.

    Ports that the user's own configuration forwards are left to the user's own terminals.
    """
    alone = ("-o", "ClearAllForwardings=yes")
    return [*ssh_command(os.environ), *alone, *address(target), remote_script(digest)]


def address(target: Target) -> list[str]:
    """Return the address as arguments of ssh."""
    return [*(("-p", str(target.port)) if target.port else ()), "--", target.login]


def remote_script(digest: str) -> str:
    """Return what is typed on the machine: one line that every login shell understands in the same way."""
    source = Path(__file__).with_name("boot.py").read_bytes()
    packed = base64.b64encode(source).decode()
    # Each Python says itself whether it is new enough, in words that an old one understands: asked before, it
    # would be started twice for each connection.
    check = f"import sys; sys.version_info < (3, 10) and sys.exit({NO_PYTHON}); import base64"
    boot = f'{check}; exec(base64.b64decode("{packed}"))'
    script = (
        f'for p in {" ".join(_NAMES)}; do command -v "$p" >/dev/null 2>&1 || continue; '
        f'"$p" -u -c {shlex.quote(boot)} {digest}; code=$?; '
        f'[ "$code" -eq {NO_PYTHON} ] || exit "$code"; done; exit {NO_PYTHON}'
    )
    return f"exec sh -c {shlex.quote(script)}"


def explain(target: Target, code: int | None, words: str) -> ProviderError:
    """Return the error for a connection that ended with this code after these words of ssh."""
    lines = [line.strip() for line in words.splitlines() if line.strip() and not line.startswith("Warning:")]
    last = lines[-1] if lines else _("no word")
    where = target.spec
    if "REMOTE HOST IDENTIFICATION HAS CHANGED" in words:
        return Refused(
            _("{where} has another host key than before; nothing was sent").format(where=where),
            hint=_(
                "if the machine was made anew, forget the old key: ssh-keygen -R {host}; "
                "if not, somebody may stand between"
            ).format(host=f"'[{target.host}]:{target.port}'" if target.port else target.host),
        )
    if "Host key verification failed" in words:
        return Refused(
            _("the host key of {where} is not known here").format(where=where),
            hint=_("log in once and look at the key that it shows: {typed}").format(typed=target.typed),
        )
    if "Permission denied" in words or "Too many authentication failures" in words:
        return Refused(
            _("{where} accepts none of your keys").format(where=where),
            hint=_("lastro types no password; make this work first: {typed} true").format(typed=target.typed),
        )
    if code == NO_PYTHON:
        return Refused(
            _("{where} has no Python that is 3.10 or newer").format(where=where),
            hint=_("install one there, for example: apt-get install python3"),
        )
    if _NO_ROOM in last:
        return Refused(
            _("{where} does not take lastro: {why}").format(where=where, why=last.partition(_NO_ROOM)[2]),
            hint=_("make room there, or have LASTRO_HOME of its logins name a folder that can be written"),
        )
    if "Could not resolve hostname" in words:
        return Unreachable(
            _("{where} does not answer: {why}").format(where=where, why=last),
            hint=_("check its name, and that this computer has a network"),
        )
    if code == 255 or code is None:
        return Unreachable(
            _("{where} does not answer: {why}").format(where=where, why=last),
            hint=_("what runs there goes on; `lastro run` tries again"),
        )
    return Refused(
        _("nothing can be started on {where}: {why}").format(where=where, why=last),
        hint=_("try it by hand: {typed}").format(typed=target.typed),
    )
