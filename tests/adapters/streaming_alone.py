"""Streaming without torchvision, which only its pictures want: there is a stand-in while it is loaded."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import transformers.feature_extraction_utils
import transformers.tokenization_utils_base  # noqa: F401 - these ask whether torchvision is there: it is not

_WANTED = {
    "torchvision": (),
    "torchvision.datasets": ("VisionDataset",),
    "torchvision.transforms": (),
    "torchvision.transforms.functional": ("to_tensor",),
}

if importlib.util.find_spec("torchvision") is None:
    for _name, _attributes in _WANTED.items():
        _module = ModuleType(_name)
        for _attribute in _attributes:
            setattr(_module, _attribute, type(_attribute, (), {}))
        sys.modules[_name] = _module

import streaming  # noqa: E402 - after the stand-in
import streaming.base.util  # noqa: E402

for _name in _WANTED:
    if getattr(sys.modules.get(_name), "__spec__", None) is None:
        sys.modules.pop(_name, None)  # others ask whether it is there

MDSWriter = streaming.MDSWriter
StreamingDataLoader = streaming.StreamingDataLoader
StreamingDataset = streaming.StreamingDataset
clean_up = streaming.base.util.clean_stale_shared_memory
