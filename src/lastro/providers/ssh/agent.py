"""Lastro's hands on a machine: does what home asks through the connection, and ends with it.

What it starts outlives it. Standard library only, like everything on the machine's side.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lastro import atomic, strictjson
from lastro.clock import SystemClock, boot_id, iso
from lastro.disk.facts import open_disk, read_disk
from lastro.disk.prove import Who, prove
from lastro.disk.reserve import keep_reserve
from lastro.errors import LastroError, StorageError, UsageError
from lastro.locale import _
from lastro.paths import Disk, Home, MachineFolder, home_root
from lastro.procs.detach import start_detached
from lastro.procs.identity import ProcessId, is_alive
from lastro.procs.killtree import end_tree
from lastro.providers import environment
from lastro.providers.here import host_node
from lastro.providers.ssh import wire
from lastro.providers.ssh.looking import Looker
from lastro.storage.digest import sha256_file

#: Shells that take a command with `-lc`; others are not asked for the environment of a login.
_SHELLS = ("bash", "zsh", "ksh", "dash", "sh")

Answer = tuple[Mapping[str, Any], bytes]


class Agent:
    """Answers one question after the other. `root`: the folder in which lastro lies."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._disk: Disk | None = None
        self._lookers: dict[str, Looker] = {}
        self._answers: Mapping[str, Callable[[Mapping[str, Any], bytes], Answer]] = {
            "hello": self._hello,
            "disk": self._open_disk,
            "machine": self._machine,
            "put": self._put,
            "drop": self._drop,
            "touch": self._touch,
            "know": self._know,
            "look": self._look,
            "list": self._list,
            "get": self._get,
            "receive": self._receive,
            "digest": self._digest,
            "start": self._start,
            "shell": self._shell,
            "end": self._end,
            "facts": self._facts,
            "rescue": self._rescue,
            "traces": self._traces,
        }

    def answer(self, head: Mapping[str, Any], body: bytes) -> Answer:
        """Return the answer to one question; what goes wrong is an answer too."""
        try:
            return self._answers[head["ask"]](head, body)
        except LastroError as error:
            return {"error": error.message, "hint": error.hint, "kind": type(error).__name__}, b""
        except OSError as error:
            what = f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)
            return {"error": what, "hint": None, "kind": "OSError", "full": atomic.is_full(error)}, b""

    # --- the machine ----------------------------------------------------------------------------------

    def _hello(self, head: Mapping[str, Any], body: bytes) -> Answer:
        return {
            "node": host_node(),
            "boot": boot_id(),
            "python": sys.executable,
            "version": platform.python_version(),
            "at": iso(SystemClock().now()),
        }, b""

    def _machine(self, head: Mapping[str, Any], body: bytes) -> Answer:
        folder = self._folder(head["machine"])
        atomic.make_folder(folder.work)
        return {"work": str(folder.work.absolute())}, b""

    def _folder(self, machine: str) -> MachineFolder:
        return Home(home_root()).ssh_machine(machine)

    def _given(self, head: Mapping[str, Any]) -> dict[str, str]:
        """Return the environment of what is started under a machine's name, but for what a login adds."""
        marked = environment.on_machine(os.environ, head["machine"], head["node"])
        parts = [str(self._root), *filter(None, [marked.get("PYTHONPATH")])]
        return {**marked, "PYTHONPATH": os.pathsep.join(parts)}

    def _start(self, head: Mapping[str, Any], body: bytes) -> Answer:
        folder, given = self._folder(head["machine"]), self._given(head)
        python = [sys.executable] if head["python"] else []
        argv = [*_at_login(given, self._also(folder)), *python, *head["argv"]]
        process = start_detached(argv, cwd=folder.root, env=given, log=folder.log)
        return {"process": process.as_json()}, b""

    def _shell(self, head: Mapping[str, Any], body: bytes) -> Answer:
        """Tell the command by which a connection of its own has what `start` gives."""
        folder, given = self._folder(head["machine"]), self._given(head)
        return {"argv": [*_at_login(given, self._also(folder)), sys.executable, *head["argv"]]}, b""

    def _also(self, folder: MachineFolder) -> Path:
        """Return a folder with a `python`, for machines that have none under that name."""
        also = folder.root / "bin"
        if not (also / "python").is_symlink():
            atomic.make_folder(also)
            with contextlib.suppress(FileExistsError):
                (also / "python").symlink_to(sys.executable)
        return also

    def _end(self, head: Mapping[str, Any], body: bytes) -> Answer:
        end_tree(environment.marker(head["machine"]))
        return {}, b""

    def _traces(self, head: Mapping[str, Any], body: bytes) -> Answer:
        """Tell which machines of whatever home have processes here."""
        from lastro.providers.traces import traces_on_this_box  # late, as in `_facts`

        return {"found": [vars(one) for one in traces_on_this_box("ssh-")]}, b""

    # --- the disk -------------------------------------------------------------------------------------

    def _open_disk(self, head: Mapping[str, Any], body: bytes) -> Answer:
        path = Path(os.path.expanduser(head["path"]))  # noqa: PTH111 - a user that is not known stays as it is
        disk = Disk(path if path.is_absolute() else Path.home() / path)
        open_disk(disk, declared=head["declared"])
        proof = prove(disk.root, Home(home_root()), SystemClock(), Who(node=host_node()), probing=False)
        keep_reserve(disk)
        self._disk = disk
        told = {
            "path": str(disk.root),
            "state": proof.verdict.state.value,
            "why": proof.verdict.why,
            "fs_type": proof.me.fs_type,
            "source": proof.me.source,
            "on_root": proof.me.on_root,
            "troubles": [each.as_json() for each in proof.verdict.troubles],
        }
        return told, disk.facts.read_bytes()

    def _facts(self, head: Mapping[str, Any], body: bytes) -> Answer:
        """Tell what this machine is, as the job would find it."""
        from lastro.providers.telling import tell  # late: asked once, and each connection would wait for it

        folder, given = self._folder(head["machine"]), self._given(head)
        told = tell(
            head["command"],
            head["packages"],
            head["variables"],
            disk=self._at(""),
            before=_at_login(given, self._also(folder)),
            environment=given,
        )
        told = {**told, "node": host_node(), "at": iso(SystemClock().now())}
        return {}, strictjson.dumps(told).encode()

    def _rescue(self, head: Mapping[str, Any], body: bytes) -> Answer:
        """Copy what of value lies beside the disk to the disk."""
        if self._disk is None:
            raise UsageError(_("no disk was opened"))
        from lastro.providers.ssh.valuables import rescue_here  # late, as in `_facts`

        work, own = self._folder(head["machine"]).work, home_root()
        return rescue_here(head["machine"], work, own, self._disk, float(head["age"])), b""

    def _at(self, name: str) -> Path:
        """Return a place on the disk; nothing outside of it can be named."""
        if self._disk is None:
            raise UsageError(_("no disk was opened"))
        path = Path(name)
        if path.is_absolute() or ".." in path.parts:
            raise UsageError(_("{name} does not lie on the disk").format(name=name))
        return self._disk.root / path

    def _put(self, head: Mapping[str, Any], body: bytes) -> Answer:
        """Publish a file, or the end of one; `claim`: only where there is none with other bytes."""
        path = self._at(head["path"])
        atomic.make_folder(path.parent)
        if head["how"] == "claim":
            return {"done": atomic.claim(path, body) or path.read_bytes() == body}, b""
        if head["how"] == "append":
            if not path.exists() or path.stat().st_size != head["offset"]:
                return {"done": False}, b""
            with path.open("ab") as file:
                file.write(body)
                file.flush()
                os.fsync(file.fileno())
            return {"done": True}, b""
        atomic.write_bytes(path, body)
        return {"done": True}, b""

    def _drop(self, head: Mapping[str, Any], body: bytes) -> Answer:
        self._at(head["path"]).unlink(missing_ok=True)
        return {}, b""

    def _touch(self, head: Mapping[str, Any], body: bytes) -> Answer:
        self._at(head["path"]).touch()
        return {}, b""

    # --- looking --------------------------------------------------------------------------------------

    def _know(self, head: Mapping[str, Any], body: bytes) -> Answer:
        """Be told what home has already, after a connection was made."""
        root = self._at(f"campaigns/{head['campaign']}")
        self._lookers[head["campaign"]] = Looker(root, head["mine"], strictjson.loads(body))
        return {}, b""

    def _look(self, head: Mapping[str, Any], body: bytes) -> Answer:
        """Tell what is new of a campaign, which processes live, and which disk this is."""
        assert self._disk is not None
        # Before the files: who is told to be dead has said everything, and what it said is told with it.
        living = [is_alive(ProcessId.from_json(one)) for one in head["processes"]]
        found = self._lookers[head["campaign"]].look(int(head["most"]))
        try:
            uuid: str | None = read_disk(self._disk).uuid
        except (OSError, StorageError):
            uuid = None
        return {
            "files": found.files,
            "gone": found.gone,
            "more": found.more,
            "living": [lives or found.more for lives in living],
            "boot": boot_id(),
            "disk": uuid,
        }, found.body

    # --- whole files ----------------------------------------------------------------------------------

    def _list(self, head: Mapping[str, Any], body: bytes) -> Answer:
        """Name the files below a folder with their sizes; what is unfinished has no name yet."""
        root = self._at(head["path"])
        files = [
            (str(path.relative_to(root)), path.stat().st_size)
            for path in sorted(root.rglob("*"))
            if path.is_file() and not any(part.startswith(atomic.TEMPORARY) for part in path.parts)
        ]
        return {}, strictjson.dumps(files).encode()

    def _get(self, head: Mapping[str, Any], body: bytes) -> Answer:
        with self._at(head["path"]).open("rb") as file:
            file.seek(head["offset"])
            return {}, file.read(head["most"])

    def _receive(self, head: Mapping[str, Any], body: bytes) -> Answer:
        """Take a piece of a file that grows beside its place; publish it when its digest is right."""
        path = self._at(head["path"])
        atomic.make_folder(path.parent)
        aside = path.with_name(f"{atomic.TEMPORARY}arriving-{path.name}")
        if head["offset"] is None:  # how far did it come?
            return {"size": aside.stat().st_size if aside.exists() else 0, "there": path.exists()}, b""
        with aside.open("r+b" if aside.exists() else "wb") as file:
            file.truncate(head["offset"])
            file.seek(head["offset"])
            file.write(body)
        if head["sha256"] is None:
            return {"done": False}, b""
        if sha256_file(aside) != head["sha256"]:
            aside.unlink()
            return {"done": False}, b""
        atomic.sync_file(aside)
        aside.replace(path)
        atomic.sync_folder(path.parent)
        return {"done": True}, b""

    def _digest(self, head: Mapping[str, Any], body: bytes) -> Answer:
        return {"sha256": sha256_file(self._at(head["path"]))}, b""


def _at_login(given: Mapping[str, str], also: Path) -> list[str]:
    """Return what stands before a command so that it has the environment of a login, and a `python`."""
    shell = shutil.which(given.get("SHELL") or "sh") or "/bin/sh"
    if Path(shell).name not in _SHELLS:
        shell = "/bin/sh"
    # What the profile sets may hide what was given: the marks and the place of lastro come after it.
    kept = [
        f"{name}={given[name]}"
        for name in (environment.MACHINE, environment.NODE, "PYTHONPATH")
        if name in given
    ]
    words = 'PATH="$PATH:$0" exec env "$@"'
    return [shell, "-lc", words, str(also), *kept]


def serve(root: str) -> None:
    """Answer until the connection ends."""
    agent = Agent(Path(root))
    given, out = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what anything here prints is no frame
    while (asked := wire.read_frame(given)) is not None:
        head, body = agent.answer(*asked)
        out.write(wire.frame(head, body))
        out.flush()
