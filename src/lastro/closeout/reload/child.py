"""The process in which one output is loaded: `python -m lastro.closeout.reload.child REQUEST`.

The request is a line of JSON. The answer is written into the folder LASTRO_OUTPUTS; what libraries print is
not part of it.
"""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from pathlib import Path

from lastro import strictjson
from lastro.closeout.reload.apart import ANSWER, Loaded, Request
from lastro.closeout.reload.loaders import APART
from lastro.locale import _


def main(argv: list[str]) -> int:
    """Load what the request names, and write the answer."""
    asked = strictjson.loads(argv[0])
    name = asked.pop("loader")
    loader = next(one for one in APART if one.name == name)
    request = Request(**asked)
    try:
        loaded = loader.load(request)
    except ImportError as error:
        loaded = Loaded(weaker=_("a package is missing: {why}").format(why=error))
    except Exception as error:  # noqa: BLE001 - whatever a library says of a file is the answer
        loaded = Loaded(problem=f"{type(error).__name__}: {error}")
    answer = Path(os.environ["LASTRO_OUTPUTS"], ANSWER)
    answer.write_text(strictjson.dumps(asdict(loaded)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
