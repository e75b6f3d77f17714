"""When a machine or a person is busy, and where the next interval fits."""

from __future__ import annotations

from bisect import bisect_left, insort


class Timeline:
    """Intervals on something that carries `room` at once."""

    def __init__(self, room: int = 1) -> None:
        self.room = room
        #: (start, end, slots), in the order of their starts.
        self.busy: list[tuple[int, int, int]] = []

    def fit(self, earliest: int, length: int, slots: int = 1) -> int:
        """Return the first start, from `earliest` on, at which an interval fits."""
        if self.room == 1:
            start = earliest
            for begin, end, _slots in self.busy:
                if begin >= start + length:
                    break
                start = max(start, end)
            return start
        starts = sorted({earliest, *(end for _begin, end, _slots in self.busy if end > earliest)})
        return next(start for start in starts if self._free(start, start + length) >= slots)

    def add(self, start: int, end: int, slots: int = 1) -> None:
        """Take the interval."""
        insort(self.busy, (start, end, slots))

    def next_start(self, when: int, otherwise: int) -> int:
        """Return when the next interval from `when` on begins."""
        place = bisect_left(self.busy, (when, 0, 0))
        return self.busy[place][0] if place < len(self.busy) else otherwise

    def _free(self, start: int, end: int) -> int:
        """Return the least room at any moment between."""
        inside = [one for one in self.busy if one[0] < end and one[1] > start]
        moments = [start, *(begin for begin, _end, _slots in inside if begin > start)]
        most = max(sum(slots for begin, stop, slots in inside if begin <= when < stop) for when in moments)
        return self.room - most
