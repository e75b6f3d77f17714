"""Groups as files of the two kernels' interfaces, and the one that this very process is in."""

from __future__ import annotations

from pathlib import Path

from lastro.procs.memory_group import MemoryGroup, machine_kills, machine_memory, memory_group_of, memory_of


def group(folder: Path, version: int, **files: str) -> MemoryGroup:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return MemoryGroup(folder, version)


def test_the_second_version_tells_the_lowest_limit_of_the_line(tmp_path: Path) -> None:
    group(tmp_path / "a", 2, memory__max="1000\n")
    found = group(
        tmp_path / "a" / "b", 2,
        memory__max="max\n", memory__current="700\n",
        memory__stat="anon 5\ninactive_file 300\n", memory__events="low 0\noom 4\noom_kill 3\n",
    )  # fmt: skip

    assert (found.limit(), found.used(), found.kills()) == (1000, 400, 3)
    assert memory_of(found) == (400, 1000)


def test_the_first_version_tells_its_own_way_and_its_largest_number_is_no_limit(tmp_path: Path) -> None:
    found = group(
        tmp_path, 1,
        memory__usage_in_bytes="700\n",
        memory__stat="hierarchical_memory_limit 9223372036854771712\ntotal_inactive_file 100\n",
        memory__oom_control="oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
    )  # fmt: skip

    assert (found.limit(), found.used(), found.kills()) == (None, 600, 2)
    assert memory_of(found) == memory_of(None)


def test_what_a_kernel_does_not_tell_is_not_zero(tmp_path: Path) -> None:
    found = MemoryGroup(tmp_path / "gone", 2)

    assert (found.limit(), found.used(), found.kills()) == (None, None, None)


def test_this_machine_and_this_process_have_an_answer() -> None:
    used, total = machine_memory() or (0, 0)
    own = memory_group_of()

    assert 0 < used < total
    assert (machine_kills() or 0) >= 0
    assert own is None or (own.folder.is_dir() and own.used() is not None)
    assert memory_group_of(2**22 + 1) is None
