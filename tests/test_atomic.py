"""The durable order of a write, broken off at every step."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lastro import atomic


class _Crash(BaseException):
    """Stands for the end of the process: nothing may handle it as an error."""


def _break_at(monkeypatch: pytest.MonkeyPatch, call: int, error: BaseException) -> None:
    """Let the n-th system call of the durable sequence fail."""
    count = 0

    def breaking(real: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            nonlocal count
            count += 1
            if count == call:
                raise error
            return real(*args, **kwargs)

        return wrapped

    monkeypatch.setattr(os, "fsync", breaking(os.fsync))
    monkeypatch.setattr(Path, "replace", breaking(Path.replace))


@pytest.mark.parametrize("call", [1, 2, 3])
@pytest.mark.parametrize("error", [_Crash(), OSError(errno.ENOSPC, "no space left")])
def test_a_broken_write_leaves_the_old_file_or_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: int, error: BaseException
) -> None:
    path = tmp_path / "plan.json"
    atomic.write_bytes(path, b"old")

    with monkeypatch.context() as patch, pytest.raises(type(error)):
        _break_at(patch, call, error)
        atomic.write_bytes(path, b"new and longer")

    assert path.read_bytes() in (b"old", b"new and longer")
    assert [entry.name for entry in tmp_path.iterdir()] == ["plan.json"]


def test_exactly_one_of_many_gets_a_claim(tmp_path: Path) -> None:
    path = tmp_path / "1.json"
    won: list[int] = []

    def race(number: int) -> None:
        if atomic.claim(path, b"%d" % number):
            won.append(number)

    threads = [threading.Thread(target=race, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(won) == 1
    assert path.read_bytes() == b"%d" % won[0]
    assert [entry.name for entry in tmp_path.iterdir()] == ["1.json"]


def test_a_folder_is_published_whole_or_not_at_all(tmp_path: Path) -> None:
    final = tmp_path / "50-a1"
    with pytest.raises(_Crash), atomic.publish_folder(final) as aside:
        (aside / "tensors").write_bytes(b"half")
        raise _Crash
    assert not final.exists()

    with atomic.publish_folder(final) as aside:
        (aside / "tensors").write_bytes(b"whole")
    assert (final / "tensors").read_bytes() == b"whole"
    assert [entry.name for entry in tmp_path.iterdir()] == ["50-a1"]


def test_what_is_published_is_never_rewritten(tmp_path: Path) -> None:
    final = tmp_path / "50-a1"
    with atomic.publish_folder(final) as aside:
        (aside / "tensors").write_bytes(b"first")

    with pytest.raises(FileExistsError), atomic.publish_folder(final) as aside:
        (aside / "tensors").write_bytes(b"second")

    assert (final / "tensors").read_bytes() == b"first"


def test_a_withdrawn_folder_leaves_nothing(tmp_path: Path) -> None:
    final = tmp_path / "50-a1"
    with atomic.publish_folder(final) as aside:
        (aside / "tensors").write_bytes(b"x")

    atomic.withdraw_folder(final)
    atomic.withdraw_folder(final)

    assert list(tmp_path.iterdir()) == []
