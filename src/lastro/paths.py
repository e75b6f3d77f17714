"""The only speller of paths. Nothing else in lastro joins these names.

Two roots: *home* (streams, locks; on the user's own machine) and the *disk* (everything of value; it
outlives the machine). The same run has the same relative path on every disk.
"""

from __future__ import annotations

import os
from pathlib import Path

from lastro.records import dataclass


def home_root() -> Path:
    """Return lastro's home: `$LASTRO_HOME`, else `$XDG_DATA_HOME/lastro`, else `~/.local/share/lastro`."""
    named = os.environ.get("LASTRO_HOME")
    if named:
        return Path(named).expanduser().absolute()
    shared = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(shared).expanduser().absolute() / "lastro"


@dataclass(frozen=True)
class Home:
    """What lastro keeps on the user's own machine."""

    root: Path

    @property
    def identity(self) -> Path:
        """`home.json`: the id that names this home's streams."""
        return self.root / "home.json"

    @property
    def local_provider(self) -> Path:
        """Records of the machines of the embedded local provider."""
        return self.root / "local"

    @property
    def local_machines(self) -> Path:
        return self.local_provider / "machines"

    def local_machine(self, machine_id: str) -> MachineFolder:
        return MachineFolder(self.local_machines / machine_id)

    def fired_faults(self, key: str) -> Path:
        """Claims of scripted faults that have fired; `key` names a disk and a campaign."""
        return self.local_provider / "faults" / key

    def fired_fault(self, key: str, fault: str) -> Path:
        return self.fired_faults(key) / f"{fault}.json"

    @property
    def here_machines(self) -> Path:
        """Records of this box in its role as the rented machine."""
        return self.root / "here"

    def here_machine(self, machine_id: str) -> MachineFolder:
        return MachineFolder(self.here_machines / machine_id)

    @property
    def transfers(self) -> Path:
        """What was moved this month, which copies there are, and uploads that are not complete."""
        return self.root / "transfers"

    @property
    def moved(self) -> Path:
        """What all transfers have moved this month, and the cap that they draw from."""
        return self.transfers / "moved.json"

    def ssh_machine(self, machine_id: str) -> MachineFolder:
        """Records of a machine that is reached by ssh; on that machine itself its own folder."""
        return MachineFolder(self.root / "ssh" / machine_id)

    @property
    def ssh_machines(self) -> Path:
        return self.root / "ssh"

    def slurm_machine(self, machine_id: str) -> MachineFolder:
        """Records of a machine that is a job of a cluster; its spool lies on the disk."""
        return MachineFolder(self.root / "slurm" / machine_id)

    @property
    def slurm_machines(self) -> Path:
        return self.root / "slurm"

    def replica(self, key: str) -> Path:
        """Home's copy of what it needs of a disk on another computer; `key` names computer and path."""
        return self.root / "replicas" / key

    def drill(self, key: str) -> Path:
        """Where a job's lives are drilled; `key` names the job."""
        return self.root / "drill" / key

    @property
    def passed(self) -> Path:
        """`passed.json`: which kinds of machines have passed preflight here."""
        return self.root / "passed.json"

    def trial(self, key: str) -> Path:
        """Where preflight tries a campaign's job; `key` names the campaign and its folder."""
        return self.root / "trial" / key

    def drill_record(self, key: str) -> Path:
        """What the last drill of a job has shown."""
        return self.root / "drill" / f"{key}.json"

    def drill_records(self) -> list[Path]:
        return sorted((self.root / "drill").glob("*.json"))

    def profile(self, key: str) -> Path:
        """Where a job's loop is looked into; `key` names the job."""
        return self.root / "profile" / key

    def speed(self, key: str) -> Path:
        """What processors like one have shown of their speed; `key` names model and node."""
        return self.root / "speed" / f"{key}.json"

    def notes(self, key: str) -> Path:
        """What people have written of one machine, a file for each note; `key` names the machine."""
        return self.root / "notes" / key

    def all_notes(self) -> list[Path]:
        return sorted((self.root / "notes").glob("*/*.json"))

    @property
    def probes(self) -> Path:
        """The stream of machines that were taken only to see how long that takes."""
        return self.root / "probes" / "probes.jsonl"

    def smoke(self, key: str) -> Path:
        """The home of a campaign's smoke runs, with their disk; `key` names the campaign and its folder."""
        return self.root / "smoke" / key

    def rehearsal(self, key: str) -> RehearsalFolder:
        """The place of a campaign's rehearsals; `key` names the campaign and its folder."""
        return RehearsalFolder(self.root / "rehearsal" / key)

    def let_go(self, machine: str) -> Path:
        """What a person has told the guard to let go of on a machine."""
        return self.root / "guard" / f"{machine}.json"

    @property
    def local_disks(self) -> Path:
        """Records, and by default the content, of the local provider's disks."""
        return self.local_provider / "disks"

    def local_disk(self, name: str) -> LocalDiskFolder:
        return LocalDiskFolder(self.local_disks / name)

    def disk_seen_at(self, key: str) -> Path:
        """Which disk was at a path when it was used last; `key` names the path."""
        return self.root / "disks" / "seen" / f"{key}.json"

    @property
    def index(self) -> Path:
        """A cache of what the journals were folded into; it may be removed at any time."""
        return self.root / "index.sqlite"

    @property
    def campaigns(self) -> Path:
        return self.root / "campaigns"

    def campaign(self, key: str) -> HomeCampaign:
        """`key` is the campaign's name and the start of its disk's uuid."""
        return HomeCampaign(self.campaigns / key)


@dataclass(frozen=True)
class RehearsalFolder:
    """A campaign in small, twice: undisturbed, and with faults. Each has a home of its own, with its disk."""

    root: Path

    @property
    def undisturbed(self) -> Path:
        return self.root / "undisturbed"

    @property
    def disturbed(self) -> Path:
        return self.root / "disturbed"

    @property
    def faults(self) -> Path:
        """What was drawn, as `lastro run --faults` takes it."""
        return self.root / "faults.yaml"


@dataclass(frozen=True)
class MachineFolder:
    """What is kept of one machine; the scratch is the machine's own."""

    root: Path

    @property
    def home(self) -> Home:
        """The home that a local machine belongs to."""
        return Home(self.root.parent.parent.parent)

    @property
    def record(self) -> Path:
        """`machine.json`: what was asked for; its claim is what makes the tag unique."""
        return self.root / "machine.json"

    @property
    def host(self) -> Path:
        """`host.json`: identity of the one process that is this machine."""
        return self.root / "host.json"

    @property
    def state(self) -> Path:
        return self.root / "state.json"

    @property
    def deletion(self) -> Path:
        """`deletion.json`: the wish that the machine ends."""
        return self.root / "deletion.json"

    @property
    def end(self) -> Path:
        """`end.json`: when and why it ended; from here on nothing of it lives."""
        return self.root / "end.json"

    @property
    def log(self) -> Path:
        return self.root / "machine.log"

    @property
    def question(self) -> Path:
        """`question.json`: what home wants to know of the machine."""
        return self.root / "question.json"

    @property
    def facts(self) -> Path:
        """`facts.json`: what the machine has answered."""
        return self.root / "facts.json"

    @property
    def beat(self) -> Path:
        """Touched once a second by the process that is the machine, where others look whether it lives."""
        return self.root / "beat"

    @property
    def script(self) -> Path:
        """The batch script of a machine that is a job of a cluster."""
        return self.root / "job.sbatch"

    @property
    def job(self) -> Path:
        """`job.json`: the number that the cluster has given the job."""
        return self.root / "job.json"

    @property
    def requests(self) -> Path:
        """Spool of processes to start."""
        return self.root / "requests"

    def request(self, token: str) -> Path:
        return self.requests / f"{token}.json"

    def taken_request(self, token: str) -> Path:
        return self.requests / f"{token}.taken"

    def answer(self, token: str) -> Path:
        return self.requests / f"{token}.answer"

    @property
    def scratch(self) -> Path:
        return self.root / "scratch"

    @property
    def jail_ready(self) -> Path:
        """Written inside a jailed machine when it can be used, and touched while something runs there."""
        return self.scratch / "jail.ready"

    @property
    def user_home(self) -> Path:
        return self.scratch / "home"

    @property
    def tmp(self) -> Path:
        return self.scratch / "tmp"

    @property
    def work(self) -> Path:
        return self.scratch / "work"

    @property
    def notice(self) -> Path:
        """`notice.json`: that the machine will be taken away, for those who run on it."""
        return self.scratch / "notice.json"

    @property
    def release(self) -> Path:
        """`release.json`: the wish of those who run on it that the machine ends, home or no home."""
        return self.scratch / "release.json"


@dataclass(frozen=True)
class LocalDiskFolder:
    """What is kept of one disk of the local provider."""

    root: Path

    @property
    def record(self) -> Path:
        """`disk.json`: what was asked for."""
        return self.root / "disk.json"

    @property
    def content(self) -> Path:
        """What lies on the disk: it is attached by a link to here."""
        return self.root / "content"

    @property
    def attachment(self) -> Path:
        """`attached.json`: who has attached it, and where."""
        return self.root / "attached.json"


@dataclass(frozen=True)
class HomeCampaign:
    """One campaign as this home knows it: its own stream, and copies of the machines' streams."""

    root: Path

    @property
    def journal(self) -> Path:
        return self.root / "journal"

    def stream(self, name: str) -> Path:
        return self.journal / f"{name}.jsonl"

    @property
    def lock(self) -> Path:
        """Held (flock) by the one process that may write home's stream."""
        return self.root / "lock"

    @property
    def halt(self) -> Path:
        """`halt.json`: the wish of a person that nothing more is started."""
        return self.root / "halt.json"

    @property
    def facts(self) -> Path:
        """`campaign.json`: where the campaign file and the disk are, so that `status` needs no arguments."""
        return self.root / "campaign.json"

    @property
    def work(self) -> Path:
        """Scratch of home itself: copies that are being reloaded."""
        return self.root / "work"

    @property
    def second_copy(self) -> Path:
        """`copy/<campaign>`: what was closed, where home lies on another file system than the disk."""
        return self.root / "copy"


@dataclass(frozen=True)
class Disk:
    """A disk that outlives machines."""

    root: Path

    @property
    def facts(self) -> Path:
        """`disk.json`: uuid and every machine that has seen the disk."""
        return self.root / ".lastro" / "disk.json"

    @property
    def reserve(self) -> Path:
        """Room that is held for last words, and let go when the disk is full."""
        return self.root / ".lastro" / "reserve"

    def marker_of(self, key: str) -> Path:
        """Which disk a computer has, where this one is the copy of several; `key` names the computer."""
        return self.root / ".lastro" / "hosts" / f"{key}.json"

    @property
    def mirror(self) -> Path:
        """`mirror.json`: the place elsewhere that holds what this disk does, as it goes with its machine."""
        return self.root / ".lastro" / "mirror.json"

    @property
    def mirror_uploads(self) -> Path:
        """Uploads to the mirror that are not complete."""
        return self.root / ".lastro" / "mirror-uploads"

    def allotted(self, machine_id: str) -> MachineFolder:
        """The spool of a machine whose node sees this disk as the computer does that lastro runs on."""
        return MachineFolder(self.root / ".lastro" / "machines" / machine_id)

    def hold(self, campaign: str, run: str) -> Path:
        """Room that is held for the checkpoints of a run while it trains."""
        return self.root / ".lastro" / f"hold-{campaign}-{run}"

    def dataset(self, name: str) -> Path:
        return self.root / "data" / name

    @property
    def usage_samples(self) -> Path:
        """How much was used at which moment: a line for each look."""
        return self.root / ".lastro" / "usage.jsonl"

    def archive(self, name: str) -> Path:
        """A closed campaign as one compressed file."""
        return self.root / "archive" / f"{name}.tar.gz"

    @property
    def caches(self) -> Path:
        """Caches of models, data sets and packages."""
        return self.root / "cache"

    @property
    def wheelhouse(self) -> Path:
        """Packages as they are installed: a machine without a network installs from here."""
        return self.caches / "wheelhouse"

    def wheels_complete(self, key: str) -> Path:
        """Says that every package of a list is in the wheelhouse."""
        return self.wheelhouse / f"{key}.complete"

    def compiled(self, key: str) -> Path:
        """The archive of compiled kernels for one card, driver and framework."""
        return self.caches / "compiled" / f"{key}.tar"

    def compiled_digest(self, key: str) -> Path:
        return self.caches / "compiled" / f"{key}.sha256"

    def rescued(self, machine: str) -> Path:
        """What was copied here from a machine's own storage, below its path there."""
        return self.root / "rescued" / machine

    def rescue_record(self, machine: str) -> Path:
        """`rescued.jsonl`: a line for each file that was copied from a machine."""
        return self.root / "rescued" / f"{machine}.jsonl"

    def code_archives(self) -> list[Path]:
        """The code snapshots of all runs."""
        return sorted(self.root.glob("campaigns/*/runs/*/code/*.tar"))

    def campaign(self, name: str) -> CampaignFolder:
        return CampaignFolder(self.root / "campaigns" / name)


@dataclass(frozen=True)
class CampaignFolder:
    """`<disk>/campaigns/<campaign>`: complete enough to be audited by a stranger."""

    root: Path

    @property
    def disk(self) -> Disk:
        """The disk that the campaign lies on."""
        return Disk(self.root.parent.parent)

    @property
    def plan(self) -> Path:
        return self.root / "plan.json"

    @property
    def frozen_file(self) -> Path:
        """`campaign.yaml`, as frozen."""
        return self.root / "campaign.yaml"

    @property
    def lock(self) -> Path:
        """A copy of `lastro.lock`, which lies beside the campaign file."""
        return self.root / "lastro.lock"

    @property
    def journal(self) -> Path:
        return self.root / "journal"

    def stream(self, name: str) -> Path:
        return self.journal / f"{name}.jsonl"

    @property
    def home_beat(self) -> Path:
        """Touched by the home that drives the campaign: its last sign of life, for the machines."""
        return self.root / "home.beat"

    @property
    def owners(self) -> Path:
        return self.root / "owners"

    def owner(self, number: int) -> Path:
        """`owners/<n>.json`: which home drives the campaign; the highest number counts."""
        return self.owners / f"{number}.json"

    @property
    def runs(self) -> Path:
        return self.root / "runs"

    def run(self, run_id: str) -> RunFolder:
        return RunFolder(self.runs / run_id)

    @property
    def shells(self) -> Path:
        """A folder for each terminal that is open on a machine."""
        return self.root / "shells"

    def shell(self, token: str) -> ShellFolder:
        return ShellFolder(self.shells / token)

    @property
    def close(self) -> Path:
        return self.root / "close"

    @property
    def close_manifest(self) -> Path:
        return self.close / "manifest.json"

    @property
    def close_seal(self) -> Path:
        """`close/seal.json`: where all stood that the manifest cannot list, the journal's end first."""
        return self.close / "seal.json"

    @property
    def close_signature(self) -> Path:
        """`close/manifest.json.sig`: a person's signature, made by `ssh-keygen`, where one was asked for."""
        return self.close / "manifest.json.sig"

    @property
    def how_to_reload(self) -> Path:
        """`close/how-to-reload.txt`: what a stranger types to use the outputs again."""
        return self.close / "how-to-reload.txt"

    @property
    def sealed(self) -> Path:
        """`close/measurements`: what the runs measured, to be read fast; `index.json` lists it."""
        return self.close / "measurements"

    @property
    def report_html(self) -> Path:
        return self.close / "report.html"

    @property
    def report_json(self) -> Path:
        return self.close / "report.json"


@dataclass(frozen=True)
class ShellFolder:
    """`shells/<token>`: a terminal on a machine, while it is open."""

    root: Path

    @property
    def order(self) -> Path:
        """`order.json`: what home asks for."""
        return self.root / "order.json"

    @property
    def sign(self) -> Path:
        """`sign`: 64 bytes that the machine rewrites in place while the shell is there; 0 says good-bye."""
        return self.root / "sign"

    @property
    def heard(self) -> Path:
        """`heard`: touched by home while the terminal that belongs to it is there."""
        return self.root / "heard"

    @property
    def start_file(self) -> Path:
        """`start.sh`: what an interactive bash reads when it begins."""
        return self.root / "start.sh"


@dataclass(frozen=True)
class RunFolder:
    """`runs/<run>`: what one run is, and everything it made, over all attempts."""

    root: Path

    @property
    def config(self) -> Path:
        return self.root / "config.json"

    @property
    def order(self) -> Path:
        """`order.json`: what home asks a supervisor to carry out."""
        return self.root / "order.json"

    def code(self, digest: str) -> Path:
        return self.root / "code" / f"{digest}.tar"

    @property
    def claims(self) -> Path:
        return self.root / "claims"

    def claim(self, number: int) -> Path:
        return self.claims / f"{number}.json"

    @property
    def attempts(self) -> Path:
        return self.root / "attempts"

    def attempt(self, number: int) -> AttemptFolder:
        return AttemptFolder(self.attempts / str(number))

    @property
    def checkpoints(self) -> Path:
        return self.root / "checkpoints"

    def checkpoint(self, step: int, attempt: int) -> Path:
        return self.checkpoints / f"{step}-a{attempt}"

    @property
    def outputs(self) -> Path:
        return self.root / "outputs"

    @property
    def items_index(self) -> Path:
        """`outputs/items.jsonl`: a line for each item that was published."""
        return self.outputs / "items.jsonl"

    @property
    def tensorboard(self) -> Path:
        """Where the job may write for TensorBoard, over all attempts."""
        return self.root / "tensorboard"

    @property
    def stop_request(self) -> Path:
        """Written by `lastro stop`, read and removed by the supervisor."""
        return self.root / "stop.json"

    @property
    def setup(self) -> Path:
        """`setup/<machine>-<digest>`: marks that a machine has done the set-up for this run."""
        return self.root / "setup"

    @property
    def seats(self) -> Path:
        return self.root / "seats"

    def seat(self, number: int) -> Path:
        """`seats/<n>.json`: which process supervises the run; the highest number counts."""
        return self.seats / f"{number}.json"

    @property
    def supervisor_beat(self) -> Path:
        """The supervisor's last sign of life, rewritten in place."""
        return self.root / "supervisor.beat"

    @property
    def supervisor_log(self) -> Path:
        return self.root / "supervisor.log"


@dataclass(frozen=True)
class AttemptFolder:
    """`attempts/<n>`: one life of a run's process."""

    root: Path

    @property
    def number(self) -> int:
        return int(self.root.name)

    @property
    def run(self) -> RunFolder:
        return RunFolder(self.root.parent.parent)

    def records(self) -> list[Path]:
        """Return what is written of this life, and of its items by the run: all of it grows until it ends."""
        own = sorted(self.root.glob("[!.]*")) if self.root.is_dir() else []
        return [path for path in (*own, self.run.items_index) if path.is_file()]

    @property
    def attempt(self) -> Path:
        """`attempt.json`: what this life of the process was told."""
        return self.root / "attempt.json"

    @property
    def process(self) -> Path:
        """`process.json`: identity of shim and job, written by the shim before the job runs."""
        return self.root / "process.json"

    @property
    def exit(self) -> Path:
        """`exit.json`: how the job ended, written by the shim."""
        return self.root / "exit.json"

    def measurements(self, rank: int = 0) -> Path:
        return self.root / f"measurements.{rank}.jsonl"

    @property
    def signals(self) -> Path:
        return self.root / "signals.jsonl"

    def rank_signals(self, rank: int) -> Path:
        """`signals.<rank>.jsonl`: what a process says that is not the first; nobody acts upon it.

        But for a full disk: of that all have to hear, and it is told in `signals`.
        """
        return self.root / f"signals.{rank}.jsonl"

    @property
    def heartbeat(self) -> Path:
        """Fixed-size record of the step being done, rewritten in place."""
        return self.root / "heartbeat"

    def rank_heartbeat(self, rank: int) -> Path:
        return self.root / f"heartbeat.{rank}"

    @property
    def telemetry(self) -> Path:
        return self.root / "telemetry.jsonl"

    @property
    def saves_before(self) -> Path:
        """`saves.json`: what a program that lastro knows nothing of had saved before this attempt."""
        return self.root / "saves.json"

    @property
    def resume(self) -> Path:
        """A copy of the save that this attempt goes on from, where it could not be put in its own place."""
        return self.root / "resume"

    @property
    def log(self) -> Path:
        return self.root / "log.txt"


def stream_of_attempt(run_id: str, number: int) -> str:
    """Return the name of the stream that one attempt's supervisor writes."""
    return f"{run_id}-{number}"


def stream_of_shell(token: str) -> str:
    """Return the name of the stream that one shell on a machine writes."""
    return f"shell-{token}"


def stream_of_home(home_id: str) -> str:
    """Return the name of the stream that one home writes."""
    return f"home-{home_id}"
