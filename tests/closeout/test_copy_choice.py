"""When a closed campaign gets its second copy by itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lastro.closeout.copy_choice import Between, why_not_copied

USUAL = Between(apart=True, bytes=3 * 10**9, free=6 * 10**9)


def test_a_home_on_another_file_system_with_twice_the_room_gets_it() -> None:
    assert why_not_copied(USUAL) is None


@pytest.mark.parametrize(
    ("between", "said"),
    [
        (replace(USUAL, apart=False), "home lies on the file system of the disk"),
        (replace(USUAL, free=6 * 10**9 - 1), "it has 3 GB, and home has 6 GB free"),
        (replace(USUAL, bytes=10**10 + 1, free=10**12), "no more than 10 GB are copied unasked"),
        (replace(USUAL, bucket="fuse.s3fs"), "fuse.s3fs file system, and what is read from it may be billed"),
    ],
)
def test_what_speaks_against_it_is_said(between: Between, said: str) -> None:
    assert said in str(why_not_copied(between))
