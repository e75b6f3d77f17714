"""The wheel is complete and runs outside the clone; the lock is one that every machine can install from."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
import tomli
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools import lock

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "lastro"
PROJECT = tomli.loads((ROOT / "pyproject.toml").read_text())["project"]
LINES = [line for line in (ROOT / "requirements.lock").read_text().splitlines() if not line.startswith("#")]
SHIPPED = (".css", ".html", ".js", ".mo", ".po", ".typed", ".yaml")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree, built without the network."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("lastro-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment that holds the wheel, and lends its dependencies from ours.

    The loan comes without this clone's own lastro, which an editable install would otherwise offer too.
    """
    home = tmp_path_factory.mktemp("installed")
    venv.create(home, with_pip=False)
    theirs = Path(sysconfig.get_path("purelib", vars={"base": str(home), "platbase": str(home)}))
    install = ["install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(home / "bin" / "python"), *install], check=True
    )
    (theirs / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return home / "bin"


def test_the_wheel_holds_every_data_file_of_the_package(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        file.relative_to(PACKAGE.parent).as_posix()
        for file in PACKAGE.rglob("*")
        if file.suffix in {*SHIPPED, ".py"} and file.is_file()
    }

    assert "lastro/py.typed" in wanted
    assert wanted - inside == set()


def test_the_installed_wheel_runs_outside_the_clone(installed: Path, tmp_path: Path) -> None:
    where = [str(installed / "python"), "-c", "import lastro; print(lastro.__file__, lastro.__version__)"]
    imported = subprocess.run(where, cwd=tmp_path, capture_output=True, text=True, check=True)
    asked = subprocess.run(
        [installed / "lastro", "--version"], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert str(installed.parent) in imported.stdout
    assert imported.stdout.split()[-1] == PROJECT["version"]
    assert asked.returncode == 0, asked.stderr
    assert PROJECT["version"] in asked.stdout


def test_the_lock_holds_exact_public_versions_only() -> None:
    """No hash, address or local label: each of these ties the lock to one index or one build."""
    odd = [
        line for line in LINES if not re.fullmatch(r"[a-z0-9-]+==[0-9][\w.]*( ; python_version .*)?", line)
    ]

    assert odd == []
    assert [line for line in LINES if lock.is_vendor(line)] == []


@pytest.mark.parametrize("python", lock.PYTHONS)
def test_the_lock_satisfies_what_the_project_asks_for(python: str) -> None:
    environment = {"python_version": python, "extra": ""}
    locked: dict[str, str] = {}
    for line in LINES:
        entry = Requirement(line)
        if entry.marker is None or entry.marker.evaluate(environment):
            assert entry.name not in locked, f"{entry.name} is locked twice on {python}"
            locked[entry.name] = str(entry.specifier).removeprefix("==")
    extras = PROJECT["optional-dependencies"]
    asked = [Requirement(text) for text in PROJECT["dependencies"]]
    asked += [Requirement(text) for extra in lock.EXTRAS for text in extras[extra]]

    unmet = [
        str(wish)
        for wish in asked
        if (wish.marker is None or wish.marker.evaluate(environment))
        and not wish.specifier.contains(locked.get(canonicalize_name(wish.name), "0.0.0.dev0"))
    ]

    assert unmet == []


def test_versions_that_differ_between_pythons_get_markers_by_hand() -> None:
    """One dropped 3.10 early, one came with 3.13, one is needed on 3.10 only."""
    lines = lock.merge(
        {
            "3.10": {"same": "1", "early": "1", "old": "1"},
            "3.11": {"same": "1", "early": "2"},
            "3.12": {"same": "1", "early": "2"},
            "3.13": {"same": "1", "early": "3"},
        }
    )

    assert lines == [
        'early==1 ; python_version < "3.11"',
        'early==2 ; python_version >= "3.11" and python_version < "3.13"',
        'early==3 ; python_version >= "3.13"',
        'old==1 ; python_version < "3.11"',
        "same==1",
    ]
