"""Write the locks: the exact versions that `make demo`, `make test` and `make test-adapters` install.

pip's own resolver decides, once for each Python that lastro supports; where the answers differ, the
line carries an environment marker. Run it by `make lock`, on a machine that has these interpreters
(on PATH, or under pyenv).

torch is resolved once, under the reference Python only, since one resolution may fetch gigabytes. Its
own small requirements are then resolved under each Python like everything else. Its vendor parts are
left to torch, which pins them itself and differently for each build.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import tomli

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
REFERENCE = "3.11"
EXTRAS = ("torch", "plan", "telemetry", "web", "s3", "analysis", "crate", "dev")
VENDOR = re.compile(r"(nvidia(?!-ml-py)|cuda|triton|pytorch-triton|intel|rocm)\b")
HEADER = f"""\
# Exact versions for `make demo` and `make test`. Made by `make lock` (tools/lock.py); do not edit.
# Holds the core and the extras {", ".join(EXTRAS)}.
# torch carries no local label: pip takes the build that your index offers. torch itself pins its vendor
# parts, which is why they are not listed.
"""

ADAPTERS_HEADER = """\
# What `make test-adapters` installs beside requirements.lock, which brings torch. Made by `make lock`
# (tools/lock.py) under one Python; do not edit. Python 3.11 or newer.
"""

EXPORT_HEADER = """\
# What `make test-export` installs, in an environment of its own. Made by `make lock` (tools/lock.py) under
# one Python; do not edit. Python 3.11 or newer.
"""

PEERS_HEADER = """\
# What `make bench-peers` installs, in an environment of its own. Made by `make lock` (tools/lock.py) under
# one Python; do not edit. Python 3.11 or newer.
"""

Versions = dict[str, str]


def interpreter(version: str) -> str:
    """Return an interpreter of this Python version.

    Raises:
        SystemExit: there is none on PATH or under pyenv.
    """
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [shutil.which(f"python{version}"), *map(str, sorted(pyenv.glob(f"{version}.*/bin/python")))]
    for candidate in filter(None, candidates):
        asked = subprocess.run(
            [candidate, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=False,
        )
        if asked.stdout.strip() == version:
            return candidate
    raise SystemExit(f"error: no Python {version} here\n  next: install it (pyenv install {version})")


def resolve(python: str, requirements: Iterable[str]) -> list[dict[str, Any]]:
    """Return the metadata of every package that pip would install for these requirements."""
    pip = [sys.executable, "-m", "pip", "--python", python, "--quiet", "--quiet", "install"]
    options = ["--dry-run", "--ignore-installed", "--only-binary", ":all:", "--report"]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        subprocess.run([*pip, *options, str(report), *requirements], check=True)
        return [entry["metadata"] for entry in json.loads(report.read_text())["install"]]


def is_vendor(name: str) -> bool:
    """Tell whether this is a part that a build of torch pins for itself."""
    return VENDOR.match(canonical(name)) is not None


def canonical(name: str) -> str:
    """Return the spelling under which package indexes compare names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def versions(packages: Iterable[Mapping[str, Any]]) -> Versions:
    """Return name -> public version, without torch's vendor parts."""
    return {
        canonical(package["name"]): package["version"].partition("+")[0]
        for package in packages
        if not is_vendor(package["name"])
    }


def small_requirements(packages: Iterable[Mapping[str, Any]], name: str) -> list[str]:
    """Return what this package requires in every build: no vendor part, nothing of its extras."""
    metadata = next(package for package in packages if canonical(package["name"]) == name)
    return [
        requirement
        for requirement in metadata.get("requires_dist", [])
        if not is_vendor(requirement) and "extra ==" not in requirement
    ]


def marker(pythons: Sequence[str]) -> str:
    """Return the environment marker that holds on exactly these of PYTHONS ("" when on all).

    The oldest and the newest are open to their side, so that the next Python gets the newest answer.
    """
    places = [PYTHONS.index(python) for python in pythons]
    starts = [place for place in places if place - 1 not in places]
    ends = [place for place in places if place + 1 not in places]
    runs = []
    for start, end in zip(starts, ends, strict=True):
        low = [f'python_version >= "{PYTHONS[start]}"'] if start > 0 else []
        high = [f'python_version < "{PYTHONS[end + 1]}"'] if end + 1 < len(PYTHONS) else []
        runs.append(" and ".join(low + high))
    return " or ".join(runs)


def merge(resolved: Mapping[str, Versions]) -> list[str]:
    """Return the lines of the lock, sorted: one for each package and version."""
    lines = []
    for name in sorted({name for answer in resolved.values() for name in answer}):
        found = sorted({answer[name] for answer in resolved.values() if name in answer})
        for version in found:
            where = marker([python for python in PYTHONS if resolved[python].get(name) == version])
            lines.append(f"{name}=={version}" + (f" ; {where}" if where else ""))
    return lines


def missing_here(requirements: Iterable[str]) -> Versions:
    """Return name -> version of what pip would add to this environment: torch is here, and not fetched."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        pip = [sys.executable, "-m", "pip", "--quiet", "--quiet", "install", "--dry-run"]
        subprocess.run([*pip, "--only-binary", ":all:", "--report", str(report), *requirements], check=True)
        return versions(entry["metadata"] for entry in json.loads(report.read_text())["install"])


def main() -> None:
    project = tomli.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(line for extra in EXTRAS for line in extras[extra])]

    reference = resolve(interpreter(REFERENCE), wanted)
    resolved = {REFERENCE: versions(reference)}
    torch = {"torch": resolved[REFERENCE]["torch"]}
    without_torch = [line for line in wanted if not line.startswith("torch")]
    without_torch += small_requirements(reference, "torch")
    for python in PYTHONS:
        if python != REFERENCE:
            resolved[python] = versions(resolve(interpreter(python), without_torch)) | torch

    (ROOT / "requirements.lock").write_text(HEADER + "\n".join(merge(resolved)) + "\n")
    beside = missing_here([*extras["adapters"], *extras["examples"]])
    added = [f"{name}=={version}" for name, version in sorted(beside.items())]
    (ROOT / "requirements-adapters.lock").write_text(ADAPTERS_HEADER + "\n".join(added) + "\n")
    for name, extra, header in (("peers", "peers", PEERS_HEADER), ("export", "readers", EXPORT_HEADER)):
        resolved_alone = versions(resolve(interpreter(REFERENCE), extras[extra]))
        kept = [f"{package}=={version}" for package, version in sorted(resolved_alone.items())]
        (ROOT / f"requirements-{name}.lock").write_text(header + "\n".join(kept) + "\n")


if __name__ == "__main__":
    main()
