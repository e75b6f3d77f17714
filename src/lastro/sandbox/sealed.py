"""A jail without network, home, caches or other people's processes: what is not given is not there.

Inside are the system's programs and libraries (`/usr`, `/etc`, read-only), a Python with its packages, an
empty `/tmp`, and what the caller gives. The machine's name, its users' folders and its disks are absent, so
a path into them fails, whatever hides it. Devices of graphics cards are shown where there are any.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path

from lastro.records import dataclass
from lastro.sandbox.bubblewrap import TOOL, read_only
from lastro.sandbox.bubblewrap import why_not as cannot

_APART = ("--unshare-all", "--die-with-parent", "--hostname", "reload")
_OWN = ("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/dev/shm", "--tmpfs", "/tmp")
_LIBRARIES = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
#: Where Nix keeps everything, and what the libraries of graphics cards ask.
_WHERE_THERE = ("/nix/store", "/sys")
_CARDS = ("nvidia*", "kfd", "dri")


@dataclass(frozen=True, kw_only=True)
class Given:
    """What a jail shows beside the system.

    read_only, writable: path inside -> path outside. empty: folders inside that can be written and are lost.
    roots: shown read-only at their own places. cwd: where the process begins, inside.
    """

    cwd: str
    read_only: Mapping[str, Path] = field(default_factory=dict)
    writable: Mapping[str, Path] = field(default_factory=dict)
    empty: tuple[str, ...] = ()
    roots: tuple[Path, ...] = ()


def why_not() -> str | None:
    """Return why there can be no such jail here; None when there can."""
    return cannot(*_APART, *_system(), *_OWN, "--remount-ro", "/", "--")


def sealed(command: Iterable[str], given: Given) -> list[str]:
    """Return the command line that runs `command` in a jail. It ends with whoever starts it."""
    words = [TOOL, *_APART, *_system(), *_OWN, *_cards()]
    words += read_only(*(root for root in given.roots if not _is_system(root)))
    for inside in given.empty:
        words += ["--tmpfs", inside]
    # What lies deeper is mounted later: a link of the code's inputs into the code itself.
    for inside, outside in sorted(given.writable.items()):
        words += ["--bind", str(outside), inside]
    for inside, outside in sorted(given.read_only.items()):
        words += ["--ro-bind", str(outside), inside]
    return [*words, "--remount-ro", "/", "--chdir", given.cwd, "--", *command]


def _system() -> list[str]:
    words = read_only("/usr", "/etc")
    for name in _LIBRARIES:
        path = Path(name)
        if path.is_symlink():
            words += ["--symlink", str(path.readlink()), name]
        elif path.is_dir():
            words += read_only(name)
    for name in _WHERE_THERE:
        words += ["--ro-bind-try", name, name]
    return words


def _is_system(root: Path) -> bool:
    return any(root == Path(name) or Path(name) in root.parents for name in ("/usr", *_LIBRARIES))


def _cards() -> list[str]:
    devices = sorted(str(path) for pattern in _CARDS for path in Path("/dev").glob(pattern))
    return [word for device in devices for word in ("--dev-bind-try", device, device)]
