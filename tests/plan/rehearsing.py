"""A plan on spot machines and its small runs, with round numbers, for the tests of rehearsals."""

from __future__ import annotations

from pathlib import Path

from lastro.plan.rehearsal_draw import Drawn
from lastro.plan.rehearsal_scale import RunScale, Scale
from lastro.plan.rehearsal_shape import Pauses, Shape, shape_of
from lastro.plan.rehearsal_weather import Kind

from .planning import ARTICLE, BASE, VARIANTS, campaign, offers, plan

#: A boot of 0.1 h, a restart of 0.1 h, a save of 0.01 h, 0.2 h until another machine is to be had.
PAUSED = "interruption: {restart: 6min, save: 36s, away: 12min}\n"
SPOT = """\
offers:
  - {name: spot, kind: spot, price: 1 USD, unit: 1min, interruptions: 6h, boot: 6min, provider: aws}
"""
#: Three runs of 10 h each, saved each hour, and 18 h of other stages: 48 h undisturbed.
CAMPAIGN = ARTICLE + VARIANTS + PAUSED + "budget: 60 USD\ncheckpoint: {every: 1h}\n"
PAUSES = Pauses(boot=0.1, restart=0.1, away=0.2, silence=0.5, save=0.01, said=())


def shape(folder: Path, text: str = CAMPAIGN, offers_text: str | None = SPOT) -> Shape:
    made = plan(folder, text, offers_text)
    offer = offers(folder, offers_text).offers[0] if offers_text else None
    return shape_of(campaign(folder, text), made, offer)


def scale(**steps: int) -> Scale:
    """Return the scale of runs of 10 h that have so many steps in small, and save each tenth."""
    runs = {
        name: RunScale(run=name, steps=count, hours=10.0, whole_steps=None) for name, count in steps.items()
    }
    return Scale(runs=runs, every=10, bound=1.01, bound_why="", unseen=(), notes=())


def sudden(index: int, run: str, step: int) -> Drawn:
    return Drawn(index=index, kind=Kind.SUDDEN, run=run, step=step)


__all__ = ["BASE", "CAMPAIGN", "PAUSES", "SPOT", "scale", "shape", "sudden"]
