from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lastro.plan.solve.timeline import Timeline

_WISHES = st.lists(
    st.tuples(st.integers(0, 10), st.integers(1, 4), st.integers(1, 2)), min_size=1, max_size=8
)


@given(wishes=_WISHES, room=st.integers(1, 3))
def test_an_interval_gets_the_first_place_that_is_free(wishes: list[tuple[int, int, int]], room: int) -> None:
    """Counted tick by tick."""
    line, load = Timeline(room), [0] * 80
    for earliest, length, wanted in wishes:
        slots = min(wanted, room)
        start = line.fit(earliest, length, slots)
        first = next(
            tick
            for tick in range(earliest, 70)
            if all(load[at] + slots <= room for at in range(tick, tick + length))
        )
        assert start == first
        line.add(start, start + length, slots)
        for at in range(start, start + length):
            load[at] += slots


def test_the_next_start_is_the_first_one_from_there_on() -> None:
    line = Timeline()
    line.add(3, 5)
    line.add(8, 9)

    assert [line.next_start(when, 99) for when in (0, 3, 4, 9)] == [3, 3, 8, 99]
