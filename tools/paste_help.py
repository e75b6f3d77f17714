"""Paste the help of every command into docs/commands.md, where it stands after `$ lastro ... --help`.

Run it after a command has changed; a test compares the page with the program.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from click.testing import CliRunner

from lastro.cli import cli

PAGE = Path(__file__).resolve().parent.parent / "docs" / "commands.md"
WIDTH = 80

_PASTED = re.compile(r"(?<=^```text\n)\$ lastro([\w ]*) --help\n.*?(?=^```$)", re.M | re.S)


def help_of(*command: str) -> str:
    """Return the help of a command as a terminal of 80 columns shows it."""
    shown = CliRunner().invoke(
        cli, [*command, "--help"], prog_name="lastro", env={"COLUMNS": str(WIDTH), "LASTRO_LANG": "en"}
    )
    if shown.exit_code:
        raise RuntimeError(f"there is no help of {command}: {shown.output}") from shown.exception
    return "".join(line.rstrip() + "\n" for line in shown.output.splitlines())


def pasted(text: str) -> dict[tuple[str, ...], str]:
    """Return the help texts that stand in a page, by command."""
    return {tuple(match[1].split()): match[0].split("\n", 1)[1] for match in _PASTED.finditer(text)}


def paste(text: str) -> str:
    """Return the page with each help text as it is now."""
    return _PASTED.sub(lambda match: f"$ lastro{match[1]} --help\n{help_of(*match[1].split())}", text)


def main() -> int:
    """Rewrite the page; say whether anything was out of date."""
    before = PAGE.read_text(encoding="utf-8")
    after = paste(before)
    PAGE.write_text(after, encoding="utf-8")
    print("docs/commands.md:", "unchanged" if after == before else "written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
