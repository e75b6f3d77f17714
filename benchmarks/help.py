"""`lastro --help` against `python -c pass`: CPU time, interleaved, so that a busy box slows both."""

from __future__ import annotations

import sys

from benchmarks.cpu import seconds_of_command
from benchmarks.result import Result, median

TARGET_RATIO = 6.0
ROUNDS = 25

#: What the installed script `lastro` does.
_ENTRY = "import sys; from lastro.cli import main; sys.exit(main())"
_COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import click": [sys.executable, "-c", "import click"],
    "lastro --help": [sys.executable, "-c", _ENTRY, "--help"],
}


def run() -> Result:
    for command in _COMMANDS.values():  # the first start reads files and may write bytecode
        seconds_of_command(command)
    rounds = [
        {name: seconds_of_command(command) for name, command in _COMMANDS.items()} for _ in range(ROUNDS)
    ]
    ratios = {
        name: [each[name] / each["python -c pass"] for each in rounds]
        for name in ("lastro --help", "import click")
    }
    times = [median(f"CPU of {name}", [each[name] * 1e3 for each in rounds], "ms") for name in _COMMANDS]
    return Result(
        measures=(
            median("lastro --help / python -c pass", ratios["lastro --help"], "x", TARGET_RATIO),
            median("import click / python -c pass", ratios["import click"], "x"),
            *times,
        ),
        notes=(f"{ROUNDS} interleaved rounds; the ratio is the middle of the rounds' own ratios.",),
    )
