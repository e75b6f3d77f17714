"""The parent of a job: keeps its exit status where a later supervisor finds it.

A script of its own, without imports from lastro, so that it starts in about 20 ms and needs little memory:
`python -I -S shim.py PROCESS EXIT LOG CWD -- ARGV...`.

1. The job is forked into its own session and waits at a gate.
2. `process.json` is published once, with both identities, durably. Whoever finds it knows whom to look for;
   whoever publishes it first in the shim's place (`job.take_over`) has forbidden the start.
3. The gate opens, the job runs. When the shim dies before that, the gate breaks and the job ends unstarted.
4. The job ends, what it left behind is ended too, and `exit.json` is published.

So: no `process.json`, no job. Both processes dead without `exit.json`: how it ended is lost.
TERM, INT and HUP are ignored: a supervisor signals the job itself.
"""

import json
import os
import signal
import sys
import time

_IGNORED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_RESET = (*_IGNORED, signal.SIGPIPE, signal.SIGXFSZ)
_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
#: Space for the last words is taken at the start: a full disk can still record how the job ended.
_EXIT_BYTES = 512
_SECONDS_TO_END_THE_REST = 5.0
#: In the kernel's order of killing, from -1000 to 1000, where 0 is usual: proc(5) oom_score_adj.
_JOB_GOES_FIRST = 500


def become_subreaper() -> None:
    """Make orphans of the job this process's children. Where that is refused, they go to init."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass


def stat_fields(pid: int | str) -> list[str]:
    """Return the fields of /proc/PID/stat after the command's name; empty when there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", errors="replace") as file:
            text = file.read()
    except OSError:
        return []
    return text[text.rindex(")") + 2 :].split()


def identity(pid: int) -> dict[str, object]:
    """Return boot id, pid and start ticks as `identity.ProcessId` writes them."""
    with open("/proc/sys/kernel/random/boot_id") as file:
        boot = file.read().strip()
    return {"boot_id": boot, "pid": pid, "start_ticks": int(stat_fields(pid)[19])}


def sync_folder_of(path: str) -> None:
    """Make the name of a file durable."""
    descriptor = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)
    os.fsync(descriptor)
    os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write and make durable."""
    while data:
        data = data[os.write(descriptor, data) :]
    os.fsync(descriptor)


def aside(path: str) -> str:
    """Return a name that means nothing to readers (see `lastro.atomic`)."""
    return os.path.join(os.path.dirname(path), f".tmp-{os.path.basename(path)}-{os.getpid()}")


def publish_once(path: str, record: dict[str, object]) -> bool:
    """Publish a record under a name that nobody has taken; False when somebody has."""
    temporary = aside(path)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    write_all(descriptor, json.dumps(record).encode())
    os.close(descriptor)
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    finally:
        os.unlink(temporary)
    sync_folder_of(path)
    return True


def reserve(path: str) -> int:
    """Take the space of a record that is published later."""
    descriptor = os.open(aside(path), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        os.posix_fallocate(descriptor, 0, _EXIT_BYTES)
    except OSError:
        pass  # a file system without the call, or one that is full already: the write will tell
    return descriptor


def publish_reserved(descriptor: int, path: str, record: dict[str, object]) -> None:
    """Publish the record whose space was reserved."""
    data = json.dumps(record).encode()
    write_all(descriptor, data)
    os.ftruncate(descriptor, len(data))
    os.fsync(descriptor)
    os.close(descriptor)
    os.rename(aside(path), path)
    sync_folder_of(path)


def go_first() -> None:
    """When memory runs out, let the kernel end the job before its supervisor; children inherit this."""
    try:
        with open("/proc/self/oom_score_adj", "r+") as file:
            if int(file.read()) < _JOB_GOES_FIRST:
                file.write(str(_JOB_GOES_FIRST))
    except (OSError, ValueError):
        pass  # no such file here: the kernel chooses by size alone


def run_job(gate: int, log: str, cwd: str, argv: list[str]) -> None:
    """Turn the forked child into the job, once the gate opens. Does not return."""
    code = 126
    try:
        os.setsid()
        if os.read(gate, 1) != b"1":
            os._exit(0)
        for number in _RESET:
            signal.signal(number, signal.SIG_DFL)
        go_first()
        null = os.open(os.devnull, os.O_RDONLY)
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(null, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(cwd)
        os.execvp(argv[0], argv)  # noqa: S606 - a list, and no shell is wanted
    except OSError as error:
        missing = isinstance(error, (FileNotFoundError, NotADirectoryError))
        code = 127 if missing else 126
        what = error.filename or argv[0]
        os.write(2, f"lastro: {argv[0]} could not be started: {error.strerror}: {what}\n".encode())
    finally:
        os._exit(code)


def wait_for(job: int) -> int:
    """Wait for the job, reaping orphans meanwhile; return its exit code, or minus its signal."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == job and (os.WIFEXITED(status) or os.WIFSIGNALED(status)):
            return os.waitstatus_to_exitcode(status)


def descendants() -> set[int]:
    """Return all living descendants of this process."""
    parents = {}
    for name in os.listdir("/proc"):
        fields = stat_fields(name) if name.isdigit() else []
        if fields and fields[0] not in "ZX":
            parents[int(name)] = int(fields[1])
    found = {os.getpid()}
    while True:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        if not more:
            return found - {os.getpid()}
        found |= more


def end_the_rest() -> int:
    """End what the job left behind, so that no worker holds the GPU or a file; return how many there were."""
    ended: set[int] = set()
    deadline = time.monotonic() + _SECONDS_TO_END_THE_REST
    while time.monotonic() < deadline:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            break
        for pid in descendants():
            ended.add(pid)
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        time.sleep(0.002)
    return len(ended)


def main() -> int:
    """Be the parent of one job from its start to its record."""
    process, exit_record, log, cwd, _separator, *argv = sys.argv[1:]
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    become_subreaper()
    gate, opener = os.pipe()
    job = os.fork()
    if job == 0:
        os.close(opener)
        run_job(gate, log, cwd, argv)
    os.close(gate)
    last_words = reserve(exit_record)
    if not publish_once(process, {"shim": identity(os.getpid()), "job": identity(job)}):
        os.unlink(aside(exit_record))
        return 12
    try:
        os.write(opener, b"1")
    except BrokenPipeError:
        pass  # the job was killed at the gate; the wait below tells by what
    os.close(opener)
    code = wait_for(job)
    wall, mono = time.time(), time.monotonic()
    record: dict[str, object] = {
        "code": code if code >= 0 else None,
        "signal": -code if code < 0 else None,
        "at": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(wall)) + f".{int(wall % 1 * 1e6):06d}Z",
        "mono": mono,
        "left": end_the_rest(),
    }
    publish_reserved(last_words, exit_record, record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
