"""How sure a metric or a difference is, by what each example or seed says. Pure, and the same each time.

An interval decides nothing: the rule was frozen before the runs. It is evidence beside the answer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from random import Random
from statistics import NormalDist, fmean, stdev

from lastro.records import dataclass

#: The interval holds this share.
LEVEL = 0.95
#: So many are enough for an interval (Efron and Tibshirani, chapter 19).
RESAMPLES = 1000
#: From so many examples on the mean is normal enough, and resampling would only cost time.
NORMAL_FROM = 1001
#: A fixed start, so that an audit finds the same interval.
_SEED = 20261130
#: Two-sided 95 % quantiles of Student's t by degrees of freedom, 1 to 30 (any table of it); more than 30
#: degrees are taken as 30, which is a little too wide and never too narrow.
_T = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A mean with its 95 % interval. `count`: of examples or seeds; `method` in a few words."""

    mean: float
    low: float
    high: float
    count: int
    method: str

    def as_json(self) -> dict[str, object]:
        return dict(vars(self))


def mean_interval(values: Sequence[float], *, paired: bool = False) -> Interval | None:
    """Return the mean of one number per example with its percentile bootstrap interval; None below two.

    Examples are drawn again with replacement, as many as there are, `RESAMPLES` times; the interval reaches
    from the 2.5 % to the 97.5 % quantile of the means. From `NORMAL_FROM` examples on it is the mean plus and
    minus 1.96 standard errors.

    Args:
        values: a score per example; for two runs, the difference per example: both saw the same ones.
        paired: whether they are such differences, for the name of the method.

    Source: B. Efron, R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.
    """
    count = len(values)
    if count < 2:
        return None
    mean = fmean(values)
    name = "paired bootstrap" if paired else "bootstrap"
    if count >= NORMAL_FROM:
        reach = NormalDist().inv_cdf(0.5 + LEVEL / 2) * stdev(values) / math.sqrt(count)
        return Interval(mean=mean, low=mean - reach, high=mean + reach, count=count, method="normal")
    draw = Random(_SEED).choices
    means = sorted(math.fsum(draw(values, k=count)) / count for _again in range(RESAMPLES))
    aside = round(RESAMPLES * (1 - LEVEL) / 2)
    return Interval(
        mean=mean,
        low=means[aside],
        high=means[RESAMPLES - 1 - aside],
        count=count,
        method=f"{name}, {RESAMPLES} resamples",
    )


def paired_interval(control: Mapping[str, float], variant: Mapping[str, float]) -> Interval | None:
    """Return the mean difference, variant minus control, over the examples that both have."""
    both = [name for name in control if name in variant]
    return mean_interval([variant[name] - control[name] for name in both], paired=True)


def seeds_interval(metrics: Sequence[float]) -> Interval | None:
    """Return the mean over runs that differ in their seed only, by Student's t; None below two.

    Source: Student, The probable error of a mean, Biometrika 6, 1908.
    """
    count = len(metrics)
    if count < 2:
        return None
    mean = fmean(metrics)
    reach = _T[min(count - 1, len(_T)) - 1] * stdev(metrics) / math.sqrt(count)
    return Interval(mean=mean, low=mean - reach, high=mean + reach, count=count, method="Student's t")
