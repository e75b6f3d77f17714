"""What is mounted where, as the kernel tells it: /proc/self/mountinfo (proc_pid_mountinfo(5))."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from lastro.records import dataclass

#: File systems whose content is gone with the machine, whatever lies on them.
TEMPORARY = frozenset({"overlay", "tmpfs", "ramfs", "squashfs", "aufs", "rootfs", "devtmpfs", "hugetlbfs"})
#: File systems on another machine, or in front of one: apart from this machine's own storage.
REMOTE = frozenset({"nfs", "nfs4", "ceph", "lustre", "9p", "virtiofs", "beegfs", "wekafs", "cifs", "smb3",
                    "gpfs", "glusterfs", "afs"})  # fmt: skip
#: What a user-space file system is told by; behind it is mostly a bucket or a drive.
FUSE = ("fuse.", "fuseblk", "fuse")
#: Windows of the kernel: no file of a person lies there.
KERNEL = frozenset({
    "proc", "sysfs", "cgroup", "cgroup2", "devpts", "mqueue", "debugfs", "tracefs", "securityfs", "pstore",
    "bpf", "configfs", "fusectl", "binfmt_misc", "autofs", "efivarfs", "nsfs", "selinuxfs", "rpc_pipefs",
    "devtmpfs", "hugetlbfs",
})  # fmt: skip
_ESCAPE = re.compile(rb"\\([0-7]{3})")


@dataclass(frozen=True, kw_only=True)
class Mount:
    """One line of mountinfo.

    `device`: major:minor, as `st_dev` tells it. `root`: the folder of the file system that is shown at
    `point`; another one than `/` is a bind mount or a subvolume. `source`: what the file system calls it.
    """

    device: str
    root: str
    point: str
    fs_type: str
    source: str
    read_only: bool

    @property
    def is_temporary(self) -> bool:
        """Whether its content is gone with the machine for certain."""
        return self.fs_type in TEMPORARY

    @property
    def is_remote(self) -> bool:
        """Whether it is a file system of another machine, or of a program in user space."""
        return self.fs_type in REMOTE or self.fs_type.startswith(FUSE)

    @property
    def is_kernel(self) -> bool:
        """Whether it shows the kernel's own tables, where no file of a person lies."""
        return self.fs_type in KERNEL


def parse(table: bytes) -> list[Mount]:
    """Return the mounts of a mountinfo table, in its order; lines that are none are passed over. Pure."""
    found = []
    for line in table.splitlines():
        fields = line.split(b" ")
        if b"-" not in fields[6:] or len(fields) < 10:
            continue
        tail = fields[fields.index(b"-", 6) + 1 :]
        options = set(fields[5].split(b",")) | set(tail[2].split(b",") if len(tail) > 2 else ())
        found.append(
            Mount(
                device=fields[2].decode(),
                root=_plain(fields[3]),
                point=_plain(fields[4]),
                fs_type=tail[0].decode(),
                source=_plain(tail[1]),
                read_only=b"ro" in options,
            )
        )
    return found


def _plain(field: bytes) -> str:
    r"""Return a path of the table with its blanks, tabs, line breaks and backslashes (`\040`) in place."""
    return os.fsdecode(_ESCAPE.sub(lambda match: bytes([int(match[1], 8)]), field))


def read_mounts(table: Path = Path("/proc/self/mountinfo")) -> list[Mount]:
    """Return what is mounted; empty where the kernel has no such table."""
    try:
        return parse(table.read_bytes())
    except OSError:
        return []


def mount_of(path: str, mounts: Sequence[Mount]) -> Mount | None:
    """Return the mount that a path lies on: the longest point around it, of two at one point the later.

    Args:
        path: absolute, without links.
        mounts: as `read_mounts` gives them.
    """
    around = [mount for mount in mounts if _holds(mount.point, path)]
    return max(enumerate(around), key=lambda item: (len(item[1].point), item[0]))[1] if around else None


def _holds(point: str, path: str) -> bool:
    return path == point or path.startswith(point.rstrip("/") + "/")


def visible(mounts: Iterable[Mount]) -> list[Mount]:
    """Return the mounts that can be reached: of several at one point, the one that was mounted last."""
    return list({mount.point: mount for mount in mounts}.values())


def device_of(status: os.stat_result) -> str:
    """Return the device of a file as mountinfo spells it."""
    return f"{os.major(status.st_dev)}:{os.minor(status.st_dev)}"


def promised_points(fstab: Path = Path("/etc/fstab")) -> list[str]:
    """Return the mount points that /etc/fstab promises; empty without one."""
    try:
        lines = fstab.read_bytes().splitlines()
    except OSError:
        return []
    fields = [line.split() for line in lines if line.strip() and not line.lstrip().startswith(b"#")]
    return [_plain(each[1]) for each in fields if len(each) > 1 and each[1].startswith(b"/")]
