"""Where people keep things, and where programs do: weak kinds of files count in the former only. Pure."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from lastro.locale import _

#: Folders of the system, below the root of a machine (Filesystem Hierarchy Standard 3.0).
SYSTEM = (
    "bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "run", "sbin", "snap", "sys",
    "usr", "var",
)  # fmt: skip
#: What lies below these is a person's all the same: a service's data, and shared memory.
NOT_SYSTEM = ("dev/shm/", "var/www/", "usr/local/src/", "var/tmp/")
#: Folders in which programs keep settings and caches, wherever they lie.
TOOLS = frozenset({
    ".cache", ".config", ".local", ".ssh", ".gnupg", ".ipython", ".jupyter", ".nv", ".triton", ".npm",
    ".cargo", ".rustup", ".conda", ".mamba", ".docker", ".kube", ".aws", ".dbus", ".java", ".vscode-server",
    ".cursor-server", ".keras", ".lastro", ".pki", ".mozilla", ".nvm", ".pyenv", ".gradle", ".m2",
    "__pycache__", "node_modules", ".ipynb_checkpoints", ".pytest_cache", ".mypy_cache", ".ruff_cache",
    "ComputeCache",
})  # fmt: skip
#: Files that shells and programs write by themselves.
_NOISE = re.compile(
    r"^(\.\w*_?history|\.\w*hst|\.wget-hsts|\.viminfo|\.bashrc|\.profile|\.bash_profile|\.bash_logout|\.zshrc"
    r"|\.netrc|\.gitconfig|\.Xauthority|\.DS_Store|\.gitignore|\.lock|pyvenv\.cfg|activate(_this\.py|\.\w+)?"
    r"|deactivate(\.\w+)?|CACHEDIR\.TAG|.*\.pyc|.*\.pid|tmp[a-z0-9_]{8}|sem\..*|nccl-.*"
    r"|torch_\d+_\d+.*|psm_[0-9a-f]+|\.nfs[0-9a-f]+)$"
)
_INDUCTOR = re.compile(r"^torchinductor_\w+$|^triton$|^torch_extensions$")
#: An environment's own folders: what its packages own is known by their records.
_ENVIRONMENT = frozenset({"site-packages", "dist-packages"})


def programs_own(path: str, root: str, *, has_system: bool) -> str | None:
    """Return why a file of a weak kind lies where programs keep theirs; None where people do.

    Args:
        path: of the file.
        root: of what was scanned.
        has_system: `root` is the root of a machine, so that its first folders are the system's.
    """
    parts = PurePosixPath(path).relative_to(root).parts
    if _NOISE.match(parts[-1]):
        return _("written by programs themselves")
    inside = "/".join(parts)
    if has_system and parts[0] in SYSTEM and not inside.startswith(NOT_SYSTEM):
        return _("in a folder of the system")
    for part in parts[:-1]:
        if part in TOOLS or _INDUCTOR.match(part):
            return _("in a folder in which programs keep settings and caches")
        if part in _ENVIRONMENT:
            return _("in an environment of packages")
    return None
