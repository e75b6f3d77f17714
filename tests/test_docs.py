"""The documentation says what the program does: nothing is missing from it, and nothing left over."""

from __future__ import annotations

import ast
import dataclasses
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import click
import pytest
import tomli

from lastro import errors
from lastro.cli import cli
from lastro.errors import EXIT_CODES, LastroError
from lastro.journal.events import DURABLE, EventType
from lastro.journal.signals import Signal
from lastro.rules import CodeIdentity, End, Order, Verdict
from tests.docs.markdown import anchor, broken_links, fences, headings, rows
from tests.docs.sources import PACKAGE, ROOT, module_name, modules, written_events
from tools.paste_help import help_of, paste, pasted

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def page_id(page: Path) -> str:
    return str(page.relative_to(ROOT))


# --- commands -----------------------------------------------------------------------------------------


def commands(group: click.Group, *above: str) -> Iterable[tuple[str, ...]]:
    """Yield every command, groups too."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield (*above, name)
        if isinstance(command, click.Group):
            yield from commands(command, *above, name)


def test_each_command_has_its_entry_and_no_entry_is_left_over() -> None:
    known = [" ".join(["lastro", *command]) for command in [(), *commands(cli)]]

    assert headings(read(DOCS / "commands.md"), 2) == known


@pytest.mark.parametrize("command", [(), *commands(cli)], ids=" ".join)
def test_the_pasted_help_is_the_real_one(command: tuple[str, ...]) -> None:
    shown = pasted(read(DOCS / "commands.md"))

    assert shown[command] == help_of(*command), "run: python tools/paste_help.py"


def test_help_that_is_out_of_date_would_be_replaced() -> None:
    old = "```text\n$ lastro init --help\nUsage: lastro init [WISH]\n```\n\n```sh\nlastro init --help\n```\n"
    new = paste(old)

    assert pasted(old) != pasted(new) == {("init",): help_of("init")}
    assert new.endswith("```sh\nlastro init --help\n```\n")


def test_each_command_names_its_exit_codes_and_they_are_in_the_table() -> None:
    """130 is the shell's code for Ctrl-C."""
    for section in re.split(r"^## ", read(DOCS / "commands.md"), flags=re.M)[1:]:
        told = re.search(r"^Codes: (.*?)(?:\n\n|\Z)", section, re.M | re.S)
        assert told, section
        codes = {int(code) for code in re.findall(r"(?:^|[;,] |: )(\d+)\b", told[1])}
        assert 0 in codes
        assert codes <= {*EXIT_CODES, 130}, section


# --- exit codes ---------------------------------------------------------------------------------------


def test_each_exit_code_has_its_row_and_no_row_is_left_over() -> None:
    table = {int(cells[0]): cells[1] for cells in rows(read(DOCS / "exit-codes.md")) if cells[0].isdigit()}

    assert table == dict(EXIT_CODES)


def test_each_error_stands_in_the_row_of_its_code() -> None:
    table = {
        name: int(cells[0])
        for cells in rows(read(DOCS / "exit-codes.md"))
        if cells[0].isdigit()
        for name in re.findall(r"`(\w+)`", cells[2])
    }
    kinds = {
        name: kind.exit_code
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, LastroError)
    }

    assert table == kinds


# --- events -------------------------------------------------------------------------------------------


def event_rows() -> dict[str, tuple[str, set[str], set[str]]]:
    """Return the rows of the events, by type: durable, facts, who writes it."""
    found = {}
    for cells in rows(read(DOCS / "events.md")):
        if len(cells) == 5 and cells[0] != "type":
            facts, writers = (set(re.findall(r"`([\w.]+)`", cells[place])) for place in (2, 3))
            found[cells[0].strip("`")] = (cells[1], facts, writers)
    return found


def test_each_event_has_its_row_and_no_row_is_left_over() -> None:
    assert set(event_rows()) == {EventType[name].value for name in written_events()}


def test_each_event_is_written_by_somebody() -> None:
    assert {kind.name for kind in EventType} == set(written_events())


@pytest.mark.parametrize("name", sorted(written_events()))
def test_an_event_is_documented_as_it_is_written(name: str) -> None:
    written = written_events()[name]
    kind = EventType[name]
    durable, facts, writers = event_rows()[kind.value]

    assert (durable == "D") == (kind in DURABLE)
    assert writers == written.modules
    assert facts >= written.facts if written.open else facts == written.facts


def test_the_words_for_ends_are_all_there() -> None:
    last = read(DOCS / "events.md").rpartition("`cause` holds")[2]

    assert {end.value for end in End} <= set(re.findall(r"`(\w+)`", last))
    final = {verdict.value for verdict in Verdict} - {Verdict.RESTART.value}
    assert final <= set(re.findall(r"`(\w+)`", last))


# --- README -------------------------------------------------------------------------------------------


def test_the_tree_in_the_readme_is_the_one_on_the_disk() -> None:
    tree = next(fence.text for fence in fences(read(ROOT / "README.md")) if "src/lastro/\n" in fence.text)
    told = [line.split()[0] for line in tree.splitlines() if line.startswith("    ")]
    there = [
        path.name + ("/" if path.is_dir() else "")
        for path in sorted(PACKAGE.iterdir())
        if path.name not in ("__pycache__", "py.typed")
    ]

    assert sorted(told) == sorted(there)
    assert all(len(line.split(maxsplit=1)) == 2 for line in tree.splitlines() if line.startswith("    "))


def test_the_two_commands_stand_on_the_first_screen_of_the_readme() -> None:
    first_screen = "\n".join(read(ROOT / "README.md").splitlines()[:30])

    assert "make demo" in first_screen
    assert "make test" in first_screen


# --- the design ---------------------------------------------------------------------------------------


def test_each_file_that_is_kept_stands_in_the_design() -> None:
    spelled = {
        node.value.lstrip("/")
        for node in ast.walk(ast.parse(read(PACKAGE / "paths.py")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    kept = {name for name in spelled if re.fullmatch(r"\.?[\w.]+\.(json|jsonl|yaml|html|log|txt|beat)", name)}

    assert len(kept) > 20
    assert [name for name in sorted(kept) if name not in read(DOCS / "design.md")] == []


def test_the_keys_of_an_order_stand_in_the_design() -> None:
    row = next(cells[2] for cells in rows(read(DOCS / "design.md")) if cells[0] == "`order.json`")
    told = set(re.findall(r"`(\w+)`", row))

    keys = {field.name for field in dataclasses.fields(Order)}
    assert keys <= told
    assert told <= keys | {field.name for field in dataclasses.fields(CodeIdentity)}


def test_the_signals_stand_in_the_design() -> None:
    row = next(cells[2] for cells in rows(read(DOCS / "design.md")) if cells[0] == "`signals.jsonl`")

    assert set(re.findall(r"`(\w+)`", row)) == {signal.value for signal in Signal} | {"kind", "mono"}


def test_the_layers_in_the_design_are_those_of_the_contract() -> None:
    """Layers that have no folder yet stand in parentheses in the contract, and not in the design."""
    contract = tomli.loads(read(ROOT / "pyproject.toml"))["tool"]["importlinter"]["contracts"][0]["layers"]
    there = {path.stem for path in PACKAGE.iterdir()}
    layers = [[room for room in re.findall(r"\w+", layer) if room in there] for layer in contract]

    told = next(fence.text for fence in fences(read(DOCS / "design.md")) if fence.text.startswith("cli |"))
    assert [line.split(" | ") for line in told.splitlines()] == [layer for layer in layers if layer]


# --- every page ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_links_lead_somewhere(page: Path) -> None:
    assert broken_links(page) == []


def test_a_broken_link_would_be_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        '# One two\n[a](#one-two) [b](#three) [c](gone.md) <img src="gone.png"> [d](https://x.org)'
    )

    assert broken_links(page) == ["#three", "gone.md", "gone.png"]
    assert anchor("How `lastro run` ends, and why") == "how-lastro-run-ends-and-why"


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_python_examples_compile(page: Path) -> None:
    for fence in fences(read(page)):
        if fence.language == "python":
            try:
                ast.parse(fence.text)
            except SyntaxError as error:
                pytest.fail(f"{page.name}, line {fence.line + (error.lineno or 1) - 1}: {error.msg}")


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_pasted_sessions_fit_into_80_columns(page: Path) -> None:
    sessions = [fence.text for fence in fences(read(page)) if fence.language == "text"]

    lines = [line for text in sessions if "--help\n" not in text for line in text.splitlines()]
    assert [line for line in lines if len(line) > 80] == []


@pytest.mark.parametrize("page", [page for page in PAGES if page != DOCS / "index.md"], ids=page_id)
def test_each_page_can_be_found_from_the_index(page: Path) -> None:
    text = read(DOCS / "index.md")
    target = page.relative_to(DOCS) if page.is_relative_to(DOCS) else Path("..") / page.name

    assert f"]({target})" in text


def named_tests(page: Path) -> list[tuple[str, str]]:
    """Return the tests that a page names as `tests/.../test_x.py::test_y`."""
    return re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", read(page))


@pytest.mark.parametrize("page", ["reliability.md", "failures.md", "recipes.md"])
def test_the_tests_that_a_page_names_are_there(page: str) -> None:
    named = named_tests(DOCS / page)

    assert named
    assert [pair for pair in named if f"def {pair[1]}(" not in read(ROOT / pair[0])] == []


#: First parts of absolute paths that every machine has, and those that examples and providers give to a disk.
EVERYWHERE = {"lambda", "bin", "dev", "etc", "proc", "sys", "tmp", "usr", "var", "mnt", "disk"}


def places_of_one_machine(line: str) -> list[str]:
    """Return the absolute paths in a line that not every machine has; addresses are none."""
    without_addresses = re.sub(r"(?:https?|s3|ssh)://\S+", "", line)
    found = re.findall(r"(?<![\w.~}>])/([A-Za-z][\w.-]*)/([\w.-]*)", without_addresses)
    return [
        f"/{first}/{second}"
        for first, second in found
        if first not in EVERYWHERE or (first == "tmp" and second.startswith("pytest"))
    ]


def test_a_place_of_one_machine_is_known_by_its_path() -> None:
    assert places_of_one_machine("in `/home/ana/runs` and file:///opt2/x/") == ["/home/ana", "/opt2/x"]
    assert places_of_one_machine("see /tmp/pytest-of-ana/0") == ["/tmp/pytest-of-ana"]
    assert places_of_one_machine("`<disk>/campaigns/x`, ./home/a, /mnt/disk/a, https://x.org/home/a") == []


def test_no_page_names_a_place_of_one_machine() -> None:
    """Documentation is for everybody: no path of the machine that it was written on."""
    tracked = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split()
    pages = [ROOT / name for name in tracked if (ROOT / name).exists()] or PAGES

    assert [
        f"{page_id(page)}: {line}"
        for page in pages
        for line in read(page).splitlines()
        if places_of_one_machine(line)
    ] == []


@pytest.mark.parametrize("file", modules(), ids=module_name)
def test_each_module_says_what_it_is_for(file: Path) -> None:
    assert ast.get_docstring(ast.parse(read(file)))


FAILURES = (
    "killed process",
    "machine gone without a word",
    "notice",
    "silent",
    "capacity refused",
    "network cut",
    "disk away",
    "home killed",
    "clock off",
    "full disk",
)


def test_every_failure_at_every_provider_has_a_cell_with_a_test_or_cannot_happen() -> None:
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in read(ROOT / "docs/failures.md").splitlines()
        if line.startswith("| ") and not line.startswith(("| lost", "| ---"))
    ]

    assert [(failure, where) for failure, where, _what, _shown in rows] == [
        (failure, where) for failure in FAILURES for where in ("here", "local", "ssh", "slurm")
    ]
    for failure, where, what, shown in rows:
        assert shown.startswith("`tests/") or what.startswith("cannot happen: "), (failure, where)
