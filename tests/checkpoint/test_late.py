"""What a replaced attempt publishes after its replacement has begun is not used, whatever its step."""

from __future__ import annotations

from pathlib import Path

from lastro import strictjson
from lastro.checkpoint import store
from lastro.paths import RunFolder
from tests.checkpoint.test_store import save


def _begin(run: RunFolder, number: int, **told: object) -> None:
    """Write the `attempt.json` of an attempt that begins now."""
    run.attempt(number).root.mkdir(parents=True)
    there = [path.name for path in store.names(run.checkpoints)]
    run.attempt(number).attempt.write_text(strictjson.pretty({"inherited": there, **told}))


def test_a_checkpoint_that_came_after_the_replacement_had_begun_is_passed_over(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    _begin(run, 1)
    save(run.checkpoints, 10, 1)
    _begin(run, 2)
    save(run.checkpoints, 20, 1)  # by a machine that was frozen and thawed

    found = store.latest(run.checkpoints)

    assert found.folder == run.checkpoint(10, 1)
    assert [(path.name, why) for path, why in found.passed_over] == [
        ("20-a1", "attempt 1 published it after attempt 2 had begun")
    ]


def test_what_the_replacement_saved_itself_is_used_by_all_after_it(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    _begin(run, 1)
    save(run.checkpoints, 10, 1)
    _begin(run, 2)
    save(run.checkpoints, 15, 2)
    save(run.checkpoints, 20, 1)
    _begin(run, 3)  # sees the late one too, and does not use it either

    assert store.latest(run.checkpoints).folder == run.checkpoint(15, 2)


def test_an_attempt_that_never_began_replaces_nobody(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    _begin(run, 1)
    run.attempt(2).root.mkdir()
    _begin(run, 3, inherited=None)
    save(run.checkpoints, 20, 1)

    assert store.latest(run.checkpoints).folder == run.checkpoint(20, 1)


def test_whether_it_is_still_mine_is_asked_when_nothing_is_left_but_the_name(tmp_path: Path) -> None:
    """At the last question the manifest is written already, and the checkpoint has no name yet."""
    seen: list[tuple[bool, bool]] = []

    def mine() -> bool:
        aside = next(tmp_path.glob(".tmp-10-a1-*"))
        seen.append(((aside / store.MANIFEST).exists(), (tmp_path / "10-a1").exists()))
        return True

    save(tmp_path, 10, mine=mine)

    assert seen == [(True, False)]
