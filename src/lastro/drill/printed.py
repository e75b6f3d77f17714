"""Compares what lives of a job have printed and left, for a job that no probe sees into. Pure.

Printed lines are compared by their form: the numbers in a line are its values, the rest is its form. What
undisturbed lives do not share (times, rates, paths) is noise and left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from lastro.locale import _
from lastro.records import dataclass

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|\bnan\b|\binf\b")

#: The values of the lines of each form, in order.
Series = Mapping[str, Sequence[tuple[str, ...]]]


@dataclass(frozen=True, kw_only=True)
class Outside:
    """What one arm showed from outside.

    `lives`: what each life printed, line by line. `files`: digests of what was left at the end, by name.
    """

    lives: tuple[tuple[str, ...], ...]
    files: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Shared:
    """What undisturbed lives have in common: series of printed values, and files."""

    series: Series
    files: Mapping[str, str]

    @property
    def nothing(self) -> bool:
        return not self.files and not any(any(values) for series in self.series.values() for values in series)


def series_of(lines: Sequence[str]) -> dict[str, list[tuple[str, ...]]]:
    """Return the values of the lines of each form."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for line in lines:
        form = _NUMBER.sub("#", line.strip())
        found.setdefault(form, []).append(tuple(_NUMBER.findall(line)))
    return found


def shared_by(undisturbed: Sequence[Outside]) -> Shared:
    """Return what all of these have printed and left alike."""
    each = [series_of([line for life in one.lives for line in life]) for one in undisturbed]
    first, *others = each
    series = {form: values for form, values in first.items() if all(o.get(form) == values for o in others)}
    files = {
        name: digest
        for name, digest in undisturbed[0].files.items()
        if all(one.files.get(name) == digest for one in undisturbed[1:])
    }
    return Shared(series=series, files=files)


def difference(arm: Outside, shared: Shared) -> str | None:
    """Return the first difference of an arm that was killed and resumed, in words; None without one.

    What a resumed life prints must be the end of what an undisturbed one prints. Lines that only a resume
    prints say nothing, and a line that is cut off by the kill is in an earlier life.
    """
    resumed = series_of(arm.lives[-1])
    for form, values in shared.series.items():
        mine = resumed.get(form, [])
        if mine and list(values[-len(mine) :]) != list(mine):
            at = next(
                (index for index, pair in enumerate(zip(values[-len(mine) :], mine, strict=False))
                 if pair[0] != pair[1]), 0,
            )  # fmt: skip
            return _("printed {mine} where {theirs} was expected, in lines like: {form}").format(
                mine=" ".join(mine[at]), theirs=" ".join(values[-len(mine) :][at]) or "-", form=form[:120]
            )
    for name, digest in shared.files.items():
        if name not in arm.files:
            return _("{file} was not left at the end").format(file=name)
        if arm.files[name] != digest:
            return _("{file} has other bytes at the end").format(file=name)
    return None
