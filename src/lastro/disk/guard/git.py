"""Git work trees: what is committed and not pushed is somebody's work; what is clean can be cloned again.

git runs programs that a repository's own settings name, so it is asked only in trees of this user.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from lastro.locale import _
from lastro.records import dataclass

_SECONDS = 60
_SAFE = (
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.untrackedCache=false"),
    *("-c", "protocol.allow=never"),
)


@dataclass(frozen=True, kw_only=True)
class Tree:
    """A work tree. `clean`: files that are as they were committed. `work`: what was not pushed, if anything.

    Where git could not be asked, nothing is clean and `work` says why.
    """

    path: str
    clean: frozenset[str]
    work: str | None


def look_at(path: str) -> Tree:
    """Ask git about a work tree."""
    status = _status(path)
    if status is not None:
        return Tree(path=path, clean=frozenset(), work=status)
    tracked = _lines(path, "ls-files", "-z", "--cached", "--recurse-submodules")
    changed = _lines(path, "diff", "-z", "--name-only", "HEAD")
    untold = tracked is None or changed is None
    clean = frozenset() if untold else frozenset(tracked or ()) - frozenset(changed or ())
    return Tree(
        path=path,
        clean=frozenset(f"{path}/{name}" for name in clean),
        work=_("git cannot list it") if untold else _unpushed(path),
    )


def _status(path: str) -> str | None:
    """Return why a tree is not asked; None when it can be."""
    try:
        if os.stat(path).st_uid != os.geteuid():  # noqa: PTH116 - a scan's string
            return _("it belongs to another user, so git was not asked")
    except OSError as error:
        return str(error.strerror)
    found = _run(path, "rev-parse", "--is-inside-work-tree")
    if found is None:
        return _("git is not installed, so it was not asked")
    return None if found.returncode == 0 else _("git does not read it")


def _unpushed(path: str) -> str | None:
    """Say what is committed or stashed and lies nowhere else; None when everything was pushed."""
    remotes = _lines(path, "remote", separator=b"\n")
    commits = _lines(path, "log", "--format=%h", "--branches", "--tags", "HEAD", "--not", "--remotes",
                     separator=b"\n")  # fmt: skip
    stashed = _lines(path, "stash", "list", "--format=%h", separator=b"\n")
    parts = []
    if not remotes and commits:
        parts.append(_("{count} commits, and no remote that has them").format(count=len(commits)))
    elif commits:
        parts.append(_("{count} commits that were not pushed").format(count=len(commits)))
    elif commits is None:
        parts.append(_("git cannot say what was pushed"))
    if stashed:
        parts.append(_("{count} stashed changes").format(count=len(stashed)))
    return "; ".join(parts) or None


def bundle(path: str, target: Path) -> str | None:
    """Write every commit of a tree into one file that git can clone from; return what went wrong."""
    made = _run(path, "bundle", "create", str(target), "--all", "HEAD")
    if made is None or made.returncode != 0:
        return _failure(made)
    checked = _run(path, "bundle", "verify", "--quiet", str(target))
    return None if checked is not None and checked.returncode == 0 else _failure(checked)


def _failure(ran: subprocess.CompletedProcess[bytes] | None) -> str:
    if ran is None:
        return _("git did not answer")
    last = ran.stderr.decode(errors="replace").strip().splitlines()[-1:]
    return last[0] if last else _("git failed")


def _lines(path: str, *arguments: str, separator: bytes = b"\0") -> list[str] | None:
    found = _run(path, *arguments)
    if found is None or found.returncode != 0:
        # A tree without a commit has no HEAD: nothing in it is committed.
        return None
    return [os.fsdecode(each) for each in found.stdout.split(separator) if each]


def _run(path: str, *arguments: str) -> subprocess.CompletedProcess[bytes] | None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    try:
        return subprocess.run(
            ["git", *_SAFE, "-C", path, *arguments],
            capture_output=True,
            env=environment,
            stdin=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
