"""A Slurm cluster of this computer alone: its own munge, controller and two nodes, gone when a test ends.

Nothing of the system's own Slurm or munge is touched: keys, sockets, ports and state lie in one folder.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shlex
import shutil
import signal
import socket
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

DEADLINE_SECONDS = 90.0
NODES = ("n1", "n2")
#: What tells one box from another.
_OF_A_BOX = ("/proc/sys/kernel/random/boot_id", "/etc/machine-id")

_CONF = """\
ClusterName=lastro
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort={ctld}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=5
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdTimeout=10
SlurmctldTimeout=10
KillWait=10
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,bf_interval=3
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
MinJobAge=300
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SwitchType=switch/none
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={n1} CPUs=2 RealMemory=1000
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={n2} CPUs=2 RealMemory=1000
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=1:00:00 State=UP PriorityTier=1 PreemptMode=REQUEUE
PartitionName=urgent Nodes=n1,n2 MaxTime=1:00:00 State=UP PriorityTier=10 PreemptMode=OFF
PartitionName=shut Nodes=n1,n2 MaxTime=1:00:00 State=DOWN PriorityTier=1 PreemptMode=OFF
"""


@dataclass(frozen=True)
class Cluster:
    """`folder` holds everything of it."""

    folder: Path

    @property
    def environment(self) -> Mapping[str, str]:
        """What Slurm's commands need to talk to this cluster and no other."""
        return {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def call(self, *argv: str) -> str:
        """Run a command of Slurm, and return what it prints."""
        done = subprocess.run(
            argv, env={**os.environ, **self.environment}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def jobs(self) -> dict[str, str]:
        """Return the state of every job that is remembered, by its number."""
        lines = self.call("squeue", "--noheader", "--states=all", "--format=%i %T").splitlines()
        return dict(line.split() for line in lines)

    def stop_controller(self) -> None:
        """Freeze the controller: it answers nobody, and forgets nothing."""
        os.kill(self._pid("slurmctld"), signal.SIGSTOP)

    def go_on(self) -> None:
        os.kill(self._pid("slurmctld"), signal.SIGCONT)

    def lose(self, node: str) -> None:
        """Take a node away at once, with everything on it."""
        mine = str(self.folder / "slurm.conf")  # beside it may be others, whose nodes have the same names

        def there(environment: Mapping[str, str]) -> bool:
            return environment.get("SLURMD_NODENAME") == node and environment.get("SLURM_CONF") == mine

        victims = [self._pid(f"slurmd-{node}"), *_processes(there), *_named("slurmstepd: [", there)]
        for pid in victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def begin(self, node: str) -> None:
        """Start a node, in which everything sees another boot and another machine id than elsewhere."""
        binds = []
        for target in _OF_A_BOX:
            own = self.folder / f"{Path(target).name}-{node}"
            own.write_text(f"{uuid.uuid5(uuid.NAMESPACE_DNS, f'{own}')}\n")
            binds.append(f"mount --bind {shlex.quote(str(own))} {target}")
        start = shlex.join(["slurmd", "-f", str(self.folder / "slurm.conf"), "-N", node])
        script = " && ".join([*binds, f"exec {start}"])
        subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", script], check=True)

    def wait_idle(self) -> None:
        """Return when every node is there and has nothing to do."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while self.call("sinfo", "--noheader", "--format=%T", "--partition=main").split() != ["idle"]:
            assert time.monotonic() < deadline, (self.folder / "slurmctld.log").read_text()[-2000:]
            time.sleep(0.1)

    def _pid(self, name: str) -> int:
        return int((self.folder / f"{name}.pid").read_text())

    def end(self) -> None:
        """End every process of the cluster and of its jobs."""
        mine = str(self.folder / "slurm.conf")
        for name in ("slurmctld", *(f"slurmd-{node}" for node in NODES), "munge"):
            with contextlib.suppress(OSError, ValueError):
                os.kill(self._pid(name), signal.SIGKILL)
        jobs = _processes(lambda env: env.get("SLURM_CONF") == mine and "SLURM_JOB_ID" in env)
        for pid in (*jobs, *_working_in(self.folder)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _processes(wanted: Callable[[Mapping[str, str]], bool]) -> list[int]:
    pids = (int(path.name) for path in Path("/proc").glob("[0-9]*"))
    return [pid for pid in pids if wanted(_environment(pid))]


def _environment(pid: int) -> Mapping[str, str]:
    """Return the environment with which a process began; none of one that has ended, or hides it."""
    with contextlib.suppress(OSError):
        pairs = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0")
        return dict(pair.split("=", 1) for pair in pairs if "=" in pair)
    return {}


def _working_in(folder: Path) -> list[int]:
    """Return who works in a folder: step daemons hide their environment and their arguments."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (path / "cwd").readlink().is_relative_to(folder):
                found.append(int(path.name))
    return found


def _named(prefix: str, wanted: Callable[[Mapping[str, str]], bool]) -> list[int]:
    """Return the step daemons of what is wanted: they are known by their parents' name only."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (path / "cmdline").read_bytes().decode(errors="replace").startswith(prefix):
                children = (path / f"task/{path.name}/children").read_text().split()
                if any(wanted(_environment(int(child))) for child in children):
                    found.append(int(path.name))
    return found


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Start a cluster in a folder; what cannot be done here is skipped by name."""
    missing = [name for name in ("munged", "slurmctld", "slurmd", "sbatch") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}: make system installs them")
    if os.geteuid() != 0:
        pytest.skip("a cluster of its own needs root")
    for name in ("munge", "state", *(f"spool-{node}" for node in NODES)):
        (folder / name).mkdir(parents=True)
    (folder / "munge").chmod(0o700)
    key = folder / "munge" / "key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    names = ("ctld", *NODES)
    conf = _CONF.format(host=platform.node().partition(".")[0], folder=folder, **_ports(names))
    (folder / "slurm.conf").write_text(conf)
    made = Cluster(folder)
    try:
        _start(made)
        yield made
    finally:
        made.end()


def _start(made: Cluster) -> None:
    folder = made.folder
    places = {
        "key-file": "munge/key",
        "socket": "munge/socket",
        "pid-file": "munge.pid",
        "log-file": "munge/log",
        "seed-file": "munge/seed",
    }
    options = [f"--{name}={folder / place}" for name, place in places.items()]
    subprocess.run(["munged", "--force", *options], check=True, capture_output=True)
    subprocess.run(["slurmctld", "-f", folder / "slurm.conf"], check=True)
    for node in NODES:
        made.begin(node)
    made.wait_idle()


def _ports(names: tuple[str, ...]) -> dict[str, int]:
    """Return ports that nobody listens at, all held at once so that they differ."""
    sockets = [socket.socket() for _name in names]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return {name: one.getsockname()[1] for name, one in zip(names, sockets, strict=True)}
    finally:
        for one in sockets:
            one.close()
