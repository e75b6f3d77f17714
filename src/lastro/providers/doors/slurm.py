"""The door of a machine that is a job of a cluster: a step of its own beside what runs in the job."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from lastro.clock import Clock
from lastro.errors import ProviderError
from lastro.locale import _
from lastro.paths import Disk, MachineFolder
from lastro.providers import environment
from lastro.providers.doors.door import Forward, NearDisk, Way, leads_to, options_of
from lastro.providers.records import read_or_none, read_record
from lastro.providers.slurm.cluster import Cluster, without_marks

#: Seconds for a node to let somebody in by ssh, asked before a port is led there.
_SSH_SECONDS = 10


class SlurmDoor(NearDisk):
    """Leads to the first node of a job, where its machine is."""

    def __init__(self, folder: MachineFolder, disk: Disk, clock: Clock) -> None:
        super().__init__(disk)
        self._folder, self._clock = folder, clock

    def way(self, words: Sequence[str], forwards: Sequence[Forward], *, terminal: bool) -> Way:
        record = read_record(self._folder)
        job = read_or_none(self._folder.job)
        told = read_or_none(Disk(self.disk).allotted(record.id).state)
        if job is None or told is None:
            raise ProviderError(
                _("machine {id} has not begun yet").format(id=record.id),
                hint=_("`lastro status` says what its job waits for"),
            )
        own = MachineFolder(Path(told["work"]).parent.parent)
        base = environment.in_scratch(without_marks(os.environ), own.user_home, own.tmp)
        given = {
            **environment.on_machine(base, record.id, str(told["node"])),
            environment.NOTICE: str(own.notice),
            environment.RELEASE: str(own.release),
        }
        step = ("srun", f"--jobid={job['job']}", "--overlap", "--relative=0", "--nodes=1", "--ntasks=1")
        shown = ("--pty",) if terminal else ("--unbuffered",)
        return Way(
            argv=(*step, *shown, f"--chdir={own.scratch}", sys.executable, *words),
            environment=given,
            cwd=self._folder.root,
            told=tuple(leads_to(one, record.id) for one in forwards),
            beside=self._beside(int(job["job"]), forwards) if forwards else None,
        )

    def _beside(self, number: int, forwards: Sequence[Forward]) -> tuple[str, ...]:
        """Return the command that leads ports to the job's node. Raises ProviderError where ssh cannot."""
        jobs = Cluster(self._clock).jobs()
        nodes = jobs[number].nodes if number in jobs else ""
        node = _first_line(["scontrol", "show", "hostnames", nodes]) if nodes else ""
        asked = ("ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5")
        if not node or _first_line([*asked, "--", node, "echo", "there"]) != "there":
            raise ProviderError(
                _("no port can be led to node {node}: it lets nobody in by ssh").format(node=node or nodes),
                hint=_("ask who runs the cluster for ssh to the nodes of your own jobs"),
            )
        return (*asked, "-N", *options_of(forwards), "--", node)


def _first_line(argv: Sequence[str]) -> str:
    """Return the first line of what a command prints; nothing where it fails."""
    try:
        done = subprocess.run(
            list(argv),
            env=without_marks(os.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SSH_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.splitlines()[0].strip() if done.returncode == 0 and done.stdout.strip() else ""
