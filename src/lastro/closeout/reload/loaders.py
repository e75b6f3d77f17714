"""Every loader that runs in a process of its own; the first that reads an output loads it."""

from __future__ import annotations

from lastro.closeout.reload.apart import ApartLoader
from lastro.closeout.reload.images import ImagesLoader
from lastro.closeout.reload.peft import PeftLoader
from lastro.closeout.reload.pickled import PickleLoader
from lastro.closeout.reload.torch import TorchLoader
from lastro.closeout.reload.transformers import TransformersLoader

APART: tuple[ApartLoader, ...] = (
    PeftLoader(),
    TransformersLoader(),
    ImagesLoader(),
    TorchLoader(),
    PickleLoader(),
)
