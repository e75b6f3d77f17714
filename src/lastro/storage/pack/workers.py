"""Several processes write shards at once; a thread for each of them asks for the next one."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence

from lastro.errors import StorageError
from lastro.locale import _


def work_off(lines: Sequence[str], count: int, told: Callable[[int], None]) -> None:
    """Have every line answered by one of `count` processes.

    Args:
        lines: what is asked; see `work.ask`.
        count: how many processes at most.
        told: gets numbers of bytes that were done; called by several threads, one at a time.

    Raises:
        StorageError: the first error that one of them met. What the others had in hand was ended first.
    """
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
    for line in lines:
        waiting.put(line)
    failed: list[StorageError] = []
    lock = threading.Lock()

    def tell(number: int) -> None:
        with lock:
            told(number)

    def serve() -> None:
        try:
            _serve(waiting, failed, tell)
        except StorageError as error:
            failed.append(error)

    threads = [threading.Thread(target=serve, daemon=True) for _number in range(min(count, len(lines)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def _serve(
    waiting: queue.SimpleQueue[str], failed: Sequence[StorageError], told: Callable[[int], None]
) -> None:
    command = [sys.executable, "-m", "lastro.storage.pack"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        while not failed:
            try:
                line = waiting.get_nowait()
            except queue.Empty:
                break
            try:
                process.stdin.write(line)
                process.stdin.flush()
            except BrokenPipeError:
                raise _ended(process) from None
            _hear(process, told)


def _hear(process: subprocess.Popen[str], told: Callable[[int], None]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        value = json.loads(line)
        if "error" in value:
            raise StorageError(value["error"], hint=value["hint"])
        told(value["bytes"])
        if value.get("done"):
            return
    raise _ended(process)


def _ended(process: subprocess.Popen[str]) -> StorageError:
    return StorageError(
        _("a process that packs ended with {code} in the middle of a shard").format(code=process.wait()),
        hint=_("type the same again: the shards that are whole stay, and the source is untouched"),
    )
