"""`python -m lastro.providers.slurm.tell FOLDER`: what a node says of itself, asked before it is trusted."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from lastro import atomic, strictjson
from lastro.clock import SystemClock, iso
from lastro.paths import MachineFolder
from lastro.providers.here import host_node
from lastro.providers.telling import tell


def main(arguments: list[str]) -> int:
    """Answer the question that lies in a machine's folder."""
    folder = MachineFolder(Path(arguments[0]))
    asked = strictjson.read(folder.question)
    told = tell(
        asked["command"],
        asked["packages"],
        asked["variables"],
        disk=Path(asked["disk"]),
        before=(),
        environment=os.environ,
    )
    facts = {**told, "node": host_node(), "at": iso(SystemClock().now())}
    atomic.write_text(folder.facts, strictjson.pretty(facts))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
