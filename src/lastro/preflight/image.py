"""Is this the image of the plan, and does plan B bring the same?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lastro.locale import _
from lastro.preflight.check import Finding, Level, Subject

#: Inside a container nobody can ask which image it was made from: whoever starts it says so.
VARIABLE = "LASTRO_IMAGE"


def check(subject: Subject) -> Iterator[Finding]:
    """Compare this image with those of plan B; nothing where neither is named."""
    if subject.image is not None or subject.images:
        yield judge(subject.image, subject.images)


def judge(here: str | None, elsewhere: Mapping[str, str]) -> Finding:
    """Return the finding for digests of images.

    Args:
        here: as the environment of this machine tells it; None: it does not.
        elsewhere: of plan B, by the stage that it is for.
    """
    fact = _("image of the container")
    if here is None:
        return Finding(
            code="image",
            level=Level.NO_ANSWER,
            fact=fact,
            value=_("not told"),
            expected=_("{name}, set by whoever starts the container").format(name=VARIABLE),
        )
    others = sorted(stage for stage, image in elsewhere.items() if _digest(image) != _digest(here))
    return Finding(
        code="image",
        level=Level.WARN if others else Level.PASS,
        fact=fact,
        value=here,
        expected=_("the same in plan B of {stages}").format(stages=", ".join(others)) if others else None,
        consequence=_("a move to plan B changes the software in the middle of a campaign")
        if others
        else None,
        next_step=_("mirror this image there, and name its digest in `plan_b`") if others else None,
        source="declared",
    )


def _digest(image: str) -> str:
    """Return what of an image's name is its content: the digest where there is one, else the whole name."""
    return image.rpartition("@")[2].strip()
