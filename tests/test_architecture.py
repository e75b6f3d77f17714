"""Who may import whom: the contracts hold, and each is proved by a violation that it has to catch."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.planted import VIOLATIONS, Planted

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")

# Rooms whose processes run beside a training job.
MACHINE_ROOMS = (
    *("atomic", "clock", "errors", "paths", "records", "rules", "stack"),
    *("checkpoint", "job", "journal.streams", "procs", "run", "storage"),
)
# The rooms that exist to touch tensors; everybody imports them late.
TENSOR_ROOMS = ("checkpoint.adapters", "closeout.reload", "data", "job.loader")


def lint_imports(root: Path, *contracts: str) -> subprocess.CompletedProcess[str]:
    """Check the copy of src/ under `root` by the configuration beside it."""
    chosen = [part for contract in contracts for part in ("--contract", contract)]
    return subprocess.run(
        [LINT_IMPORTS, "--no-cache", "--no-logo", *chosen],
        cwd=root,
        env={"PYTHONPATH": str(root / "src"), "PATH": "", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def copy_of_project(root: Path) -> Path:
    """Copy what the contracts are about, and return where it is."""
    shutil.copytree(SOURCE, root / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", root)
    return root


def is_in(module: str, rooms: tuple[str, ...]) -> bool:
    """Tell whether a module lies in one of these rooms of lastro."""
    return any(f"{module}.".startswith(f"lastro.{room}.") for room in rooms)


def modules() -> list[str]:
    """Return the name of every module of lastro."""
    files = sorted(SOURCE.joinpath("lastro").rglob("*.py"))
    names = (".".join(file.relative_to(SOURCE).with_suffix("").parts) for file in files)
    return [name.removesuffix(".__init__") for name in names if not name.endswith(".__main__")]


def loaded_by(code: str, packages: tuple[str, ...]) -> str:
    """Return which of these packages a fresh interpreter has loaded after running the code."""
    lines = [
        "import contextlib, sys",
        "with contextlib.suppress(SystemExit):",
        textwrap.indent(code, "    "),
        f"print(*sorted(set(sys.modules) & set({packages!r})), file=sys.stderr)",
    ]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stderr.strip()


def test_the_contracts_hold() -> None:
    done = lint_imports(ROOT)

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("planted", VIOLATIONS, ids=str)
def test_a_planted_violation_breaks_its_contract(planted: Planted, tmp_path: Path) -> None:
    root = copy_of_project(tmp_path)
    planted.plant(root / "src")

    done = lint_imports(root, planted.contract)

    assert done.returncode == 1, done.stdout
    assert "1 broken" in done.stdout
    assert planted.module in done.stdout, "the report names the module"


_ASK_FOR_CYCLE = """
import graphlib, json, grimp
graph = grimp.build_graph("lastro", cache_dir=None)
uses = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
try:
    graphlib.TopologicalSorter(uses).prepare()
    found = []
except graphlib.CycleError as error:
    found = list(error.args[1])
print(json.dumps(found))
"""


def cycle(source: Path) -> list[str]:
    """Return a cycle of imports among the modules in `source`, late imports included; [] if there is none.

    Asked in a process of its own: in this one lastro may be imported already, from elsewhere.
    """
    done = subprocess.run(
        [sys.executable, "-c", _ASK_FOR_CYCLE],
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[str] = json.loads(done.stdout)
    return found


def test_no_module_imports_itself_in_a_circle() -> None:
    assert cycle(SOURCE) == []


def test_a_planted_circle_of_late_imports_is_found(tmp_path: Path) -> None:
    root = copy_of_project(tmp_path)
    for one, other in (("here", "there"), ("there", "here")):
        late = f"def late() -> None:\n    from lastro.procs import {other}"
        Planted("", f"lastro.procs.{one}", late).plant(root / "src")

    assert {"lastro.procs.here", "lastro.procs.there"} <= set(cycle(root / "src"))


def impurities(code: str) -> Iterator[str]:
    """Yield the calls in a module that read or write files, or ask what time it is."""
    methods = {
        "mkdir",
        "now",
        "read_bytes",
        "read_text",
        "today",
        "unlink",
        "utcnow",
        "write_bytes",
        "write_text",
    }
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Call(func=ast.Attribute(attr=name)) if name in methods:
                yield f"line {node.lineno}: .{name}()"
            case ast.Call(func=ast.Name(id="open" | "input" | "print" as name)):
                yield f"line {node.lineno}: {name}()"


def test_planning_reads_no_file_and_no_clock() -> None:
    """What import contracts cannot see: builtins, and methods of the values handed in."""
    found = [
        f"{file.name} {impurity}"
        for file in sorted((SOURCE / "lastro" / "plan").rglob("*.py"))
        for impurity in impurities(file.read_text())
    ]

    assert found == []


def test_an_impure_plan_would_be_found() -> None:
    code = "now = datetime.now(timezone.utc)\nopen('f')\nPath('f').read_text()"

    assert list(impurities(code)) == ["line 1: .now()", "line 2: open()", "line 3: .read_text()"]


def test_a_heavy_import_would_be_seen() -> None:
    assert loaded_by("import sqlite3, sys; sys.exit(0)", ("click", "sqlite3")) == "sqlite3"


def test_importing_lastro_loads_nothing_heavy() -> None:
    assert loaded_by("import lastro", ("click", "numpy", "pydantic", "rich", "sqlite3", "torch")) == ""


def test_help_loads_nothing_heavy() -> None:
    code = "import sys; sys.argv = ['lastro', '--help']\nfrom lastro.cli import main\nmain()"

    assert loaded_by(code, ("pydantic", "ruamel", "sqlite3", "torch")) == ""


def test_the_machine_side_loads_no_parser_or_database() -> None:
    """What import contracts cannot see: a package's own __init__.py comes along with each of its modules."""
    names = [name for name in modules() if is_in(name, MACHINE_ROOMS) and not is_in(name, TENSOR_ROOMS)]
    forbidden = ("click", "jinja2", "numpy", "pydantic", "rich", "ruamel", "safetensors", "sqlite3", "torch")

    assert loaded_by("\n".join(f"import {name}" for name in names), forbidden) == ""
