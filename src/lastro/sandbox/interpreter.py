"""Programs as a process with another environment finds them: where a Python's parts lie, what it has."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

_SECONDS = 60.0
#: Packages whose versions say what a reload has shown.
PACKAGES = (
    *("torch", "numpy", "safetensors", "transformers", "tokenizers", "peft"),
    *("duckdb", "pyarrow", "pillow"),
)
#: Asked of the Python itself. An editable installation lies where its direct_url.json says.
_ASK = """
import json, sys, urllib.parse, urllib.request
from importlib import metadata
roots = [sys.prefix, sys.exec_prefix, sys.base_prefix, *sys.path]
versions = {"python": sys.version.split()[0]}
for each in metadata.distributions():
    name = (each.metadata["Name"] or "").lower()
    if name in sys.argv[1:]:
        versions[name] = each.version
    origin = each.read_text("direct_url.json")
    if origin and json.loads(origin).get("dir_info", {}).get("editable"):
        roots.append(urllib.request.url2pathname(urllib.parse.urlsplit(json.loads(origin)["url"]).path))
print(json.dumps({"executable": sys.executable, "roots": roots, "versions": versions}))
"""
#: Of an editable project only what is imported: a folder of this name, where there is one.
_SOURCES = "src"
_PROJECT = ("pyproject.toml", "setup.py")
#: What decides where a Python finds its packages.
_DECIDES = ("PATH", "LD_LIBRARY_PATH", "PYTHONUSERBASE", "VIRTUAL_ENV", "CONDA_PREFIX", "LANG")
#: Never shown whole, whatever a Python says of them.
_SHARED = ("/", "/tmp", "/var/tmp", "/mnt", "/media", "/srv")


@dataclass(frozen=True, kw_only=True)
class Interpreter:
    """One Python. `roots`: every folder that it needs to start and import. `versions`: by lower-case name."""

    executable: str
    roots: tuple[Path, ...]
    versions: Mapping[str, str] = field(default_factory=dict)


def interpreter(name: str, environment: Mapping[str, str]) -> Interpreter | None:
    """Return the Python of that name or path; None when there is none, or it does not answer as a Python.

    Args:
        name: such as `python`; looked for on the PATH of `environment`.
        environment: what it will be started with.
    """
    found = shutil.which(name, path=environment.get("PATH"))
    if found is None:
        return None
    return _asked(found, tuple((each, environment[each]) for each in _DECIDES if each in environment))


def program_roots(name: str, environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the folders of a program on the PATH: where it is called, where it lies, and its libraries."""
    found = shutil.which(name, path=environment.get("PATH"))
    if found is None or not Path(found).is_absolute():
        return ()
    real = Path(found).resolve()
    return _outermost(map(_usable, (Path(found).parent, real.parent, real.parent.parent / "lib")))


@cache
def _asked(path: str, environment: tuple[tuple[str, str], ...]) -> Interpreter | None:
    try:
        done = subprocess.run(
            [path, "-c", _ASK, *PACKAGES],
            env=dict(environment),
            capture_output=True,
            timeout=_SECONDS,
            check=True,
            # With -c the current folder is on sys.path.
            cwd="/",
        )
        said = json.loads(done.stdout)
        return Interpreter(
            executable=said["executable"],
            roots=_outermost(_usable(Path(root)) for root in said["roots"]),
            versions=said["versions"],
        )
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError):
        return None


def _usable(root: Path) -> Path | None:
    """Return a folder that may be shown whole; None for what is not there, or holds much else."""
    if any((root / mark).exists() for mark in _PROJECT) and (root / _SOURCES).is_dir():
        root = root / _SOURCES
    home = Path.home()
    broad = {*map(Path, _SHARED), home, *home.parents}
    return root if root.is_absolute() and root.is_dir() and root not in broad else None


def _outermost(roots: Iterable[Path | None]) -> tuple[Path, ...]:
    there = sorted({root for root in roots if root is not None})
    return tuple(root for root in there if not any(other in root.parents for other in there))
