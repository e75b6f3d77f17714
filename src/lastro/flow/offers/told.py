"""What an import has done, in lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lastro.flow.offers.importing import Imported
from lastro.locale import _, ngettext


def imported_lines(imported: Imported, output: Path | None) -> Iterator[str]:
    """Yield a line for each thing that was mended, for what was left out, and for what was made."""
    for file, counts in imported.mended.items():
        for what, lines in sorted(counts.items()):
            count = ngettext("{n} line", "{n} lines", lines).format(n=lines)
            yield _("{file}: {count}: {what}").format(file=file, count=count, what=what)
        if file in imported.unreadable:
            yield _("{file}: the first of these is {line}").format(file=file, line=imported.unreadable[file])
    for reason, number in sorted(imported.left_out.items()):
        yield ngettext("{n} offer left out: {reason}", "{n} offers left out: {reason}", number).format(
            n=number, reason=reason
        )
    made = ngettext("{n} offer", "{n} offers", len(imported.offers)).format(n=len(imported.offers))
    yield _("{count} in {file}").format(count=made, file=output) if output else made
    if any(offer.seen is None for offer in imported.offers):
        yield _("their age is unknown: --seen DATE says when the catalogue was read")
