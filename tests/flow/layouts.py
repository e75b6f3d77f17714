"""Rented machines laid out as their providers' pages tell: where the disk is, and what stop and delete keep.

A machine is a real sshd with a root of its own, in which these paths are mounted. What a page does not say is
taken at its worst: it is not kept.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from lastro.procs.killtree import members
from tests.providers.ssh.sshd import Rented, rented


@dataclass(frozen=True, kw_only=True)
class Layout:
    """One provider's machine.

    home: of the user who logs in. disk: what `--disk` names. stop_keeps: what is there after a stop and a
    start, None where there is no stop. delete_keeps: what can be attached to the next machine.
    """

    home: str
    disk: str
    stop_keeps: tuple[str, ...] | None
    delete_keeps: tuple[str, ...]

    @property
    def places(self) -> tuple[str, ...]:
        return (self.home, self.disk)


LAYOUTS = {
    "gpubrasil": Layout(home="/root", disk="/mnt/disk", stop_keeps=None, delete_keeps=("/mnt/disk",)),
    "iteragpu": Layout(home="/root", disk="/root/lastro-disk", stop_keeps=None, delete_keeps=()),
    "hivenet": Layout(
        home="/home/ubuntu",
        disk="/home/ubuntu/lastro-disk",
        stop_keeps=("/home/ubuntu", "/home/ubuntu/lastro-disk"),
        delete_keeps=(),
    ),
    "runpod, volume disk": Layout(
        home="/root", disk="/workspace", stop_keeps=("/workspace",), delete_keeps=()
    ),
    "runpod, network volume": Layout(
        home="/root", disk="/workspace", stop_keeps=("/workspace",), delete_keeps=("/workspace",)
    ),
    "vast": Layout(home="/root", disk="/workspace", stop_keeps=("/root", "/workspace"), delete_keeps=()),
    "lambda": Layout(
        home="/home/ubuntu", disk="/lambda/nfs/lastro", stop_keeps=None, delete_keeps=("/lambda/nfs/lastro",)
    ),
}

#: Makes a root with every folder of this one, but for the places of the layout, and begins in it.
_ROOT = """
set -e
mount -t tmpfs tmpfs "$NEW"
for each in /*; do
  case " $OWN " in *" $each "*) continue;; esac
  if [ -L "$each" ]; then cp -P "$each" "$NEW$each"
  elif [ -d "$each" ]; then mkdir "$NEW$each"; mount --rbind "$each" "$NEW$each"; fi
done
%s
exec chroot "$NEW" "$@"
"""


@dataclass
class Place:
    """A machine of a layout; `store` holds what lies at its places."""

    layout: Layout
    store: Path
    machine: Rented

    def at(self, place: str) -> Path:
        return self.store / place.strip("/").replace("/", "-")

    def halt(self) -> None:
        """End everything on it at once, as a stop or a delete on the provider's page does."""
        self.machine.down()
        marks = [path.name for path in self.at(self.layout.home).glob(".local/share/lastro/ssh/*")]
        for name in marks:
            for process in members(("LASTRO_MACHINE", name)).all:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)

    def stop_and_start(self) -> None:
        """Stop it and start it again: what the provider does not keep is as it was in the image."""
        assert self.layout.stop_keeps is not None
        self.halt()
        for place in self.layout.places:
            if place not in self.layout.stop_keeps:
                _empty(self.at(place))
        self.machine.up()


@contextlib.contextmanager
def machine_of(layout: Layout, folder: Path, before: Place | None = None) -> Iterator[Place]:
    """Give a machine; `before`: the one that was deleted, whose disk is attached here, if it was kept."""
    if os.geteuid() != 0:
        pytest.skip("a root of its own needs root")
    place = Place(layout, folder / "store", Rented(folder, 0, None))  # type: ignore[arg-type]
    for one in layout.places:
        place.at(one).mkdir(parents=True)
    if before is not None:
        for one in layout.delete_keeps:
            shutil.copytree(before.at(one), place.at(one), dirs_exist_ok=True, symlinks=True)
    mounts = [f'mkdir -p "$NEW{one}"; mount --bind {place.at(one)} "$NEW{one}"' for one in layout.places]
    (folder / "root").mkdir()
    tops = " ".join(sorted({"/" + one.split("/")[1] for one in layout.places}))
    given = f"NEW={shlex.quote(str(folder / 'root'))} OWN={shlex.quote(tops)}"
    script = f"{given}\n{_ROOT % chr(10).join(mounts)}"
    inside = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh"]
    lastro = f"{layout.home}/.local/share/lastro"
    with rented(folder / "sshd", inside, apart=True, HOME=layout.home, LASTRO_HOME=lastro) as machine:
        place.machine = machine
        yield place
        place.halt()


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
