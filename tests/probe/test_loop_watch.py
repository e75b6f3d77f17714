"""A loop that is watched gets its batches in order, then one again and again; nothing else is touched."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lastro.probe.loop_watch import WARM, Feed, LoopWatch, Told


class Over(Exception):
    """The watch has seen enough: instead of the end of the process."""


def over() -> None:
    raise Over


def watch_of(path: Path, **changes: Any) -> LoopWatch:
    return LoopWatch(Told(out=str(path / "seen.json"), batches=6, most=6, workers=(1,)), end=over, **changes)


def feed_of(source: Iterator[int], fresh: Callable[[int | None], Iterator[Any] | None] | None = None) -> Feed:
    begin = fresh if fresh is not None else lambda _workers: iter(range(100))
    return Feed(draw=lambda: next(source), fresh=begin, facts={"kind": "list", "workers": 0, "prefetch": 0})


def seen(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((path / "seen.json").read_text())
    return found


def given(watch: LoopWatch, feed: Feed, key: int = 1, *, learns: bool = True) -> Iterator[int]:
    while True:
        try:
            item = watch.take(key, feed)
        except StopIteration:
            return
        yield item
        if learns:
            watch.trained()


def test_batches_come_in_order_and_then_the_last_one_again_and_again(tmp_path: Path) -> None:
    watch = watch_of(tmp_path)
    got: list[int] = []

    with pytest.raises(Over):
        got.extend(given(watch, feed_of(itertools.count())))

    looked = WARM + 6
    assert got[:looked] == list(range(looked))
    assert set(got[looked:]) == {looked - 1}
    told = seen(tmp_path)
    assert told["complete"] and len(told["waits"]) == len(told["bodies"]) == len(told["replayed"]) == 6
    assert len(told["alone"]["each"]) == len(told["tried"]["1"]["each"]) == 6


def test_batches_that_nothing_is_learned_from_are_counted_and_never_held_back(tmp_path: Path) -> None:
    watch = watch_of(tmp_path)

    assert list(given(watch, feed_of(iter(range(40))), learns=False)) == list(range(40))

    watch.left_early()
    told = seen(tmp_path)
    assert not told["complete"] and told["waits"] == [] and told["unlearned"] == 40


def test_a_validation_in_between_is_let_through_and_counts_for_nothing(tmp_path: Path) -> None:
    watch, training = watch_of(tmp_path), feed_of(itertools.count())
    validated = []

    with pytest.raises(Over):
        for number, _item in enumerate(given(watch, training)):
            if number % 4 == 3:
                validation = feed_of(iter(range(3)))
                validated.append(list(given(watch, validation, key=100 + number, learns=False)))

    assert validated and all(one == [0, 1, 2] for one in validated)


def test_an_end_before_enough_was_seen_keeps_what_there_was(tmp_path: Path) -> None:
    watch = watch_of(tmp_path)

    assert len(list(given(watch, feed_of(iter(range(6)))))) == 6

    watch.left_early()
    told = seen(tmp_path)
    assert not told["complete"] and len(told["waits"]) == 6 - WARM


def test_a_loader_that_cannot_be_begun_anew_leaves_its_pace_unknown(tmp_path: Path) -> None:
    def refuse(_workers: int | None) -> Iterator[Any]:
        raise TypeError("once is enough")

    watch = watch_of(tmp_path)
    with pytest.raises(Over):
        list(given(watch, feed_of(itertools.count(), refuse)))

    assert seen(tmp_path)["alone"] is None and seen(tmp_path)["tried"] == {}


def test_a_loader_of_short_epochs_is_begun_again_until_enough_came(tmp_path: Path) -> None:
    watch = watch_of(tmp_path)
    with pytest.raises(Over):
        list(given(watch, feed_of(itertools.count(), lambda _workers: iter(range(4)))))

    alone = seen(tmp_path)["alone"]
    assert len(alone["each"]) == 6 and not alone["with_start"]


def test_a_device_is_left_alone_first_and_waited_for_after_that(tmp_path: Path) -> None:
    settled: list[int] = []
    watch = watch_of(tmp_path, device=lambda: True, settle=lambda: settled.append(1))
    alone = 0

    with pytest.raises(Over):
        for _item in given(watch, feed_of(itertools.count())):
            alone += not settled

    assert alone == WARM + 6
    assert len(seen(tmp_path)["free"]) == 6 and len(seen(tmp_path)["waits"]) == 6


def test_a_child_of_the_process_gets_its_batches_and_is_not_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = watch_of(tmp_path)
    monkeypatch.setattr("os.getpid", lambda: -1)

    assert list(given(watch, feed_of(iter(range(90))))) == list(range(90))
