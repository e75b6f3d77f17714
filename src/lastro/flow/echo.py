"""What a job prints, shown while it runs: whole lines, each behind the name of its run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from pathlib import Path

from lastro.journal.views import AttemptView, CampaignView
from lastro.locale import _
from lastro.paths import CampaignFolder
from lastro.records import dataclass
from lastro.units import show_bytes

#: A job that prints more between two looks than this is shown from its end; `lastro logs` has everything.
MOST_BYTES = 2**16


@dataclass
class Echo:
    """Follows the logs of a campaign's attempts. `say` is given one line at a time."""

    folder: CampaignFolder
    say: Callable[[str], None]
    _shown: dict[tuple[str, int], int] = field(default_factory=dict)
    _torn: dict[tuple[str, int], bytes] = field(default_factory=dict)

    def pass_over(self, view: CampaignView) -> None:
        """Leave out what was printed until now: whoever typed the command again has seen it."""
        for run in view.runs:
            for life in run.attempts:
                self._shown[run.id, life.number] = self._size(life)

    def look(self, view: CampaignView) -> None:
        """Show what was printed since the last look; a torn last line waits until its attempt has ended."""
        for run in view.runs:
            for life in run.attempts:
                for line in self._lines(life):
                    self.say(f"{run.name} | {line}")

    def _lines(self, life: AttemptView) -> list[str]:
        key, size = (life.run, life.number), self._size(life)
        begin = self._shown.get(key, 0)
        data = self._torn.pop(key, b"")
        left_out = max(0, size - begin - MOST_BYTES)
        if size > begin:
            with self._log(life).open("rb") as log:
                log.seek(begin + left_out)
                data = (b"" if left_out else data) + log.read(size - begin - left_out)
        self._shown[key] = size
        whole, newline, torn = data.rpartition(b"\n")
        if torn and life.alive:
            self._torn[key] = torn
        elif torn:
            whole = data
        lines = [_clean(line) for line in whole.split(b"\n")] if whole or newline else []
        if left_out:
            note = _("... {size} left out here; `lastro logs` has them").format(size=show_bytes(left_out))
            return [note, *lines[1:]]
        return lines

    def _size(self, life: AttemptView) -> int:
        try:
            return self._log(life).stat().st_size
        except OSError:
            return 0

    def _log(self, life: AttemptView) -> Path:
        return self.folder.run(life.run).attempt(life.number).log


def _clean(line: bytes) -> str:
    """Return a line as it stands at its end: of a progress bar its last state, and nothing that steers."""
    text = line.rstrip(b"\r").rpartition(b"\r")[2].decode(errors="replace").expandtabs()
    return "".join(letter if letter.isprintable() else " " for letter in text)
