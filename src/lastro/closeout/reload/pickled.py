"""Other pickles, where the plan allows them: loaded only in a jail, after the scan of the controls."""

from __future__ import annotations

import pickle
from pathlib import Path

from lastro.closeout.pickles import scan
from lastro.closeout.reload.apart import Loaded, Request

#: What torch.save has written begins as an archive does.
_ARCHIVE = b"PK"


class PickleLoader:
    """Opens a pickle, whatever it calls."""

    name = "pickle"
    packages: tuple[str, ...] = ()
    only_jailed = True

    def reads(self, path: Path) -> bool:
        return path.is_file() and scan(path) is not None

    def load(self, request: Request) -> Loaded:
        path = Path(request.path)
        with path.open("rb") as file:
            if file.read(len(_ARCHIVE)) == _ARCHIVE:
                import torch

                torch.load(path, map_location="cpu", weights_only=False)
            else:
                file.seek(0)
                pickle.load(file)  # noqa: S301 - in a jail, after a scan, and because the plan asks for it
        return Loaded()
