"""Between `detach` and the process that it starts: forks it into its own session, says who it is, and ends.

A script of its own, without imports from lastro: `python -I -S detacher.py LOG -- ARGV...`. It prints one
line, `ok PID START_TICKS` or `error TEXT`. Forking here and not in the caller keeps a caller with
threads safe, and makes the new process an orphan, which never becomes the caller's zombie.
"""

import os
import signal
import sys


def become(log: str, argv: list[str], report: int) -> None:
    """Turn this forked child into the process that was asked for. Does not return."""
    try:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, signal.SIG_DFL)
        # Python ignores these two for itself, and what is ignored would be inherited.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        null = os.open(os.devnull, os.O_RDONLY)
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(null, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.execvp(argv[0], argv)  # noqa: S606 - a list, and no shell is wanted
    except OSError as error:
        os.write(report, f"{error.strerror}: {error.filename or argv[0]}".encode())
    finally:
        os._exit(127)


def main() -> None:
    """Start ARGV and report on standard output."""
    log, _separator, *argv = sys.argv[1:]
    heard, report = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(heard)
        become(log, argv, report)
    os.close(report)
    trouble = os.read(heard, 4096)  # empty when exec succeeded, which closes the pipe
    if trouble:
        os.write(1, b"error " + trouble + b"\n")
        return
    # Read before anybody can reap it: this process is its parent, so the line stays even if it is dead.
    with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123 - pathlib takes longer to load than all of this
        text = file.read()
    ticks = text[text.rindex(")") + 2 :].split()[19]
    os.write(1, f"ok {pid} {ticks}\n".encode())


if __name__ == "__main__":
    main()
