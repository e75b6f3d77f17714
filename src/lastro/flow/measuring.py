"""Looks at what the campaign's folder holds: bytes and files of what its `data` names, and of the corpus."""

from __future__ import annotations

import os
from pathlib import Path

from lastro.locale import _
from lastro.plan.disk_need import Found, Measured
from lastro.spec.campaign import Campaign
from lastro.spec.load import LoadedCampaign


def measure(loaded: LoadedCampaign, spec: Campaign) -> Measured:
    """Return the sizes of what is beside the campaign file. What is not there is not among them."""
    data = spec.data
    stored = [*data.weights.values(), data.dataset, data.unpacked] if data else []
    paths = {}
    for one in stored:
        if one is not None and one.path is not None and (loaded.folder / one.path).exists():
            paths[one.path] = found(loaded.folder / one.path)
    corpus = loaded.folder / spec.corpus.path if spec.corpus else None
    return Measured(paths=paths, corpus=found(corpus) if corpus and corpus.exists() else None)


def found(path: Path) -> Found:
    """Return bytes and files below a path; links are counted as themselves."""
    if not path.is_dir():
        return Found(bytes=path.stat().st_size, files=1, why=_("{path} here").format(path=path.name))
    total, files = 0, 0
    waiting = [path]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(entry.path))
                else:
                    total += entry.stat(follow_symlinks=False).st_size
                    files += 1
    return Found(bytes=total, files=files, why=_("{path} here").format(path=path.name))
