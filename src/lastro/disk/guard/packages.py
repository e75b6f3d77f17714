"""What package managers have installed, by their own lists: it can be installed again.

pip, uv and conda record a digest or a size of each file; Debian's dpkg an MD5. A file that is not as it was
installed is somebody's change, and counts.
"""

from __future__ import annotations

import base64
import contextlib
import csv
import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import field
from pathlib import Path

from lastro.disk.guard.scan import Candidate
from lastro.records import dataclass

#: A record is written at the end of an installation; what is so much younger was changed after it.
_LATER_NS = 2_000_000_000


@dataclass(frozen=True)
class Installed:
    """What a list says of a file, as far as it does. `at_ns`: when the list was written."""

    size: int | None
    sha256: str | None
    md5: str | None
    at_ns: int


@dataclass
class Packages:
    """The lists of the packages around some files, read when the first of them is asked for."""

    root: str
    _known: dict[str, Installed] = field(default_factory=dict)

    @classmethod
    def around(cls, root: str, candidates: Sequence[Candidate]) -> Packages:
        """Return the lists that may speak of these files.

        Args:
            root: of a machine: dpkg's lists lie below it.
            candidates: the files that are asked for.
        """
        found = cls(root)
        for folder in _site_folders(each.path for each in candidates):
            found._read_site(folder)
        for folder in _conda_folders(each.path for each in candidates):
            found._read_conda(folder)
        found._read_dpkg(Path(root, "var/lib/dpkg/info"), {each.path for each in candidates})
        return found

    def owns(self, file: Candidate) -> bool:
        """Tell whether a file is as a package has installed it, or is a package's own list."""
        told = self._known.get(os.path.normpath(file.path))
        if told is None:
            return False
        if told.size is not None and told.size != file.size:
            return False
        if file.mtime_ns <= told.at_ns + _LATER_NS:
            return True
        wanted = told.sha256 or told.md5
        return wanted is not None and _digest(file.path, "sha256" if told.sha256 else "md5") == wanted

    def _read_site(self, folder: str) -> None:
        with contextlib.suppress(OSError):
            for entry in os.scandir(folder):
                if entry.name.endswith((".dist-info", ".egg-info")):
                    self._read_record(folder, Path(entry.path, "RECORD"))

    def _read_record(self, folder: str, record: Path) -> None:
        with contextlib.suppress(OSError, csv.Error, UnicodeDecodeError):
            at_ns = record.stat().st_mtime_ns
            with record.open(newline="", encoding="utf-8") as file:
                for row in csv.reader(file):
                    if row:
                        self._note(os.path.join(folder, row[0]), _of_row(row, at_ns))  # noqa: PTH118
            # What pip adds beside its list when the installation is over.
            for name in ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json"):
                self._note(str(record.with_name(name)), Installed(None, None, None, at_ns))

    def _read_conda(self, folder: str) -> None:
        for path in Path(folder, "conda-meta").glob("*.json"):
            with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
                at_ns = path.stat().st_mtime_ns
                told = json.loads(path.read_bytes())
                rows = told.get("paths_data", {}).get("paths") or [{"_path": name} for name in told["files"]]
                for row in rows:
                    self._note(
                        os.path.join(folder, row["_path"]),  # noqa: PTH118 - a million of strings
                        Installed(row.get("size_in_bytes"), row.get("sha256"), None, at_ns),
                    )
                self._note(str(path), Installed(None, None, None, at_ns))

    def _read_dpkg(self, info: Path, asked: set[str]) -> None:
        if not info.is_dir():
            return
        for path in info.glob("*.md5sums"):
            with contextlib.suppress(OSError, UnicodeDecodeError):
                at_ns = max(path.stat().st_mtime_ns, _mtime_ns(path.with_suffix(".list")))
                for line in path.read_text(encoding="utf-8").splitlines():
                    md5, _blank, name = line.partition("  ")
                    whole = f"{self.root.rstrip('/')}/{name}"
                    for spelled in (whole, _merged(whole, self.root)):
                        if spelled in asked:
                            self._note(spelled, Installed(None, None, md5, at_ns))

    def _note(self, path: str, told: Installed) -> None:
        self._known[os.path.normpath(path)] = told


def _of_row(row: Sequence[str], at_ns: int) -> Installed:
    sha256 = None
    if len(row) > 1 and row[1].startswith("sha256="):
        text = row[1].partition("=")[2]
        sha256 = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).hex()
    size = int(row[2]) if len(row) > 2 and row[2].isdigit() else None
    return Installed(size, sha256, None, at_ns)


def _site_folders(paths: Iterable[str]) -> set[str]:
    """Return the folders whose `*.dist-info/RECORD` may list these files."""
    found = set()
    for path in paths:
        for mark in ("/site-packages/", "/dist-packages/"):
            if mark in path:
                found.add(path[: path.index(mark) + len(mark) - 1])
        if ".dist-info/" in path:
            found.add(os.path.dirname(path[: path.index(".dist-info/")]))  # noqa: PTH120 - strings of a scan
    return found


def _conda_folders(paths: Iterable[str]) -> set[str]:
    return {path[: path.index("/conda-meta/")] for path in paths if "/conda-meta/" in path}


def _merged(path: str, root: str) -> str:
    """Return where a file of /bin, /lib or /sbin lies where these are links into /usr."""
    inside = path[len(root.rstrip("/")) :]
    return f"{root.rstrip('/')}/usr{inside}" if inside.startswith(("/bin/", "/lib", "/sbin/")) else path


def _mtime_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _digest(path: str, algorithm: str) -> str | None:
    digest = hashlib.new(algorithm, usedforsecurity=False)
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123
            while piece := file.read(1 << 20):
                digest.update(piece)
    except OSError:
        return None
    return digest.hexdigest()
