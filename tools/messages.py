"""The catalogues of lastro's texts: `extract`, `missing`, `fill FILE.json`, `compile`, `check`.

    python tools/messages.py extract            take the texts of the sources into each catalogue (.po)
    python tools/messages.py missing pt_BR      print what has no translation, as JSON: id -> ""
    python tools/messages.py fill pt_BR FILE    put such a JSON's translations in, and compile
    python tools/messages.py compile            write each .mo from its .po
    python tools/messages.py check              what is missing, fuzzy or differs in its placeholders

In JSON a text that depends on a count is a list: singular, plural. Both files of a catalogue are kept in git:
whoever installs lastro from a checkout, editable or not, needs no tool for its texts; a test compares them.
"""

from __future__ import annotations

import ast
import inspect
import json
import string
import struct
import sys
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import click
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po

from lastro.cli import cli
from lastro.cli.language import CLICK
from lastro.locale import DOMAIN, LANGUAGES

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "lastro"
KEYWORDS = {"_": None, "ngettext": (1, 2)}
TRANSLATED = tuple(name for name in LANGUAGES if name != "en")

Text = str | tuple[str, str]


#: Two forms are enough: the third of CLDR is for round millions, which nothing here counts in words.
PLURALS = {"pt_BR": "nplurals=2; plural=(n > 1);"}


def folder(language: str) -> Path:
    """Return where a language's catalogue lies."""
    return PACKAGE / "locale" / language / "LC_MESSAGES"


@cache
def texts() -> dict[Text, list[str]]:
    """Return every text that a user can read, with the files that hold it."""
    found: dict[Text, set[str]] = {}
    for text, place in (*_in_modules(), *_in_templates(), *_in_commands(cli), *_in_click()):
        found.setdefault(text, set()).add(place)
    return {
        text: sorted(found[text]) for text in sorted(found, key=lambda one: (sorted(found[one]), str(one)))
    }


def _in_modules() -> Iterator[tuple[Text, str]]:
    for file in sorted(PACKAGE.rglob("*.py")):
        place = file.relative_to(PACKAGE).as_posix()
        for text in _extracted("python", file):
            yield text, place
        if place == "cli/commands.py":
            for text in _table(file.read_text(encoding="utf-8")):
                yield text, place


def _table(code: str) -> Iterator[str]:
    """Yield the lines of `lastro --help` from their table."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Command":
            yield str(ast.literal_eval(node.args[1]))


def _in_templates() -> Iterator[tuple[Text, str]]:
    for file in sorted(PACKAGE.rglob("*.j2")):
        for text in _extracted("jinja2.ext:babel_extract", file):
            yield text, file.relative_to(PACKAGE).as_posix()


def _in_commands(command: click.Command, name: str = "lastro") -> Iterator[tuple[Text, str]]:
    """Yield the help of a command, of its options and of the commands below it."""
    if command.help:
        yield inspect.cleandoc(command.help), f"cli: {name}"
    for option in command.params:
        if isinstance(option, click.Option) and option.help:
            yield inspect.cleandoc(option.help), f"cli: {name}"
    if isinstance(command, click.Group):
        context = click.Context(command)
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            assert found is not None, below
            yield from _in_commands(found, f"{name} {below}")


def _in_click() -> Iterator[tuple[Text, str]]:
    source = Path(inspect.getfile(click)).parent
    for module in CLICK:
        for text in _extracted("python", source / f"{module}.py"):
            yield text, "click"


def _extracted(method: str, file: Path) -> Iterator[Text]:
    options = {"trimmed": "false", "silent": "false"} if method != "python" else None
    for _line, text, _comments, _context in extract_from_file(
        method, file, keywords=KEYWORDS, options=options
    ):
        yield text if isinstance(text, str) else (text[0], text[1])


# --- catalogues ---------------------------------------------------------------------------------------


def load(language: str) -> Catalog:
    """Read a language's catalogue; an empty one where there is none yet."""
    file = folder(language) / f"{DOMAIN}.po"
    if not file.exists():
        return _empty(language)
    with file.open("rb") as stream:
        return read_po(stream, locale=language, domain=DOMAIN)


def fresh(language: str) -> Catalog:
    """Return a catalogue with exactly the texts of the sources, and the translations that there are."""
    old = load(language)
    new = _empty(language)
    for text, places in texts().items():
        known = old.get(text)
        string_ = known.string if known is not None and _same_form(known, text) else ""
        new.add(text, string_, locations=[(place, 0) for place in places])
    return new


def _empty(language: str) -> Catalog:
    catalogue = Catalog(locale=language, domain=DOMAIN, fuzzy=False)
    catalogue.mime_headers = [
        ("Content-Type", "text/plain; charset=utf-8"),
        ("Plural-Forms", PLURALS[language]),
    ]
    return catalogue


def _same_form(known: Message, text: Text) -> bool:
    return isinstance(known.id, str) == isinstance(text, str)


def save(catalogue: Catalog, language: str) -> None:
    """Write the .po, and the .mo that programs read. The same texts give the same bytes."""
    target = folder(language)
    target.mkdir(parents=True, exist_ok=True)
    (target / f"{DOMAIN}.po").write_bytes(po_bytes(catalogue))
    (target / f"{DOMAIN}.mo").write_bytes(mo_bytes(catalogue))


def po_bytes(catalogue: Catalog) -> bytes:
    """Return the catalogue as people edit it, without a date or a tool's version: they differ each time."""
    written = BytesIO()
    write_po(written, catalogue, width=110, omit_header=True, include_lineno=False)
    return _header(catalogue).encode() + written.getvalue()


def _header(catalogue: Catalog) -> str:
    told = "".join(f'"{line}\\n"\n' for line in _header_lines(catalogue))
    return f'# Texts of lastro. Written by tools/messages.py.\nmsgid ""\nmsgstr ""\n{told}\n'


def _header_lines(catalogue: Catalog) -> list[str]:
    return [
        f"Language: {catalogue.locale}",
        "MIME-Version: 1.0",
        "Content-Type: text/plain; charset=utf-8",
        "Content-Transfer-Encoding: 8bit",
        f"Plural-Forms: {PLURALS[str(catalogue.locale)]}",
    ]


def mo_bytes(catalogue: Catalog) -> bytes:
    """Return the catalogue as gettext reads it. Babel's own writer would put the time of day into it."""
    texts = {"": "".join(f"{line}\n" for line in _header_lines(catalogue))}
    for message in catalogue:
        if message.id and _is_whole(message):
            texts[_joined(message.id)] = _joined(message.string)
    ids = sorted(text.encode() for text in texts)
    said = [texts[one.decode()].encode() for one in ids]
    table = 28
    at = table + 16 * len(ids)
    places, content = [], b""
    for part in (*ids, *said):
        places.append((len(part), at + len(content)))
        content += part + b"\0"
    head = struct.pack("<7I", 0x950412DE, 0, len(ids), table, table + 8 * len(ids), 0, at)
    return head + b"".join(struct.pack("<2I", *place) for place in places) + content


def _joined(text: Any) -> str:
    return text if isinstance(text, str) else "\0".join(text)


def _is_whole(message: Message) -> bool:
    said = message.string
    return bool(said) if said is None or isinstance(said, str) else bool(said) and all(said)


# --- what is wrong ------------------------------------------------------------------------------------


def missing(language: str) -> list[Text]:
    """Return the texts of the sources that have no translation."""
    known = load(language)
    return [text for text in texts() if (found := known.get(text)) is None or not _is_usable(found, text)]


def _is_usable(found: Message, text: Text) -> bool:
    return _is_whole(found) and not found.fuzzy and _same_form(found, text)


def problems(language: str) -> list[str]:
    """Return everything that is wrong with a catalogue, a line each."""
    found = [f"missing: {text!r}" for text in missing(language)]
    sources = texts()
    for message in load(language):
        if not message.id:
            continue
        text = message.id if isinstance(message.id, str) else (message.id[0], message.id[1])
        if text not in sources:
            found.append(f"no longer in the sources: {text!r}")
        found += [f"{why}: {text!r} -> {message.string!r}" for why in differences(message)]
    if (folder(language) / f"{DOMAIN}.mo").read_bytes() != mo_bytes(load(language)):
        found.append("the .mo is another one than its .po: run tools/messages.py compile")
    return found


def differences(message: Message) -> Iterator[str]:
    """Yield what a translation does otherwise than its id: placeholders, ends, lines of an example."""
    ids = [message.id] if isinstance(message.id, str) else list(message.id)
    said = [message.string] if isinstance(message.string, str) else list(message.string or ())
    if not all(said):
        return
    wanted = {frozenset(placeholders(one)) for one in ids}
    if len(ids) == 1 and len(said) == 1:
        if placeholders(ids[0]) != placeholders(said[0]):
            yield "other placeholders"
        if (ids[0][:1].isspace(), ids[0][-1:].isspace()) != (said[0][:1].isspace(), said[0][-1:].isspace()):
            yield "other space at its ends"
        if ids[0].count("\b") != said[0].count("\b"):
            yield "other blocks that click must not join"
    elif any(not frozenset(placeholders(one)) <= frozenset().union(*wanted) for one in said):
        yield "other placeholders"


def placeholders(text: str) -> list[str]:
    """Return the names that values are put in by, sorted: {name}, {name!r} and %(name)s."""
    names = []
    try:
        for _literal, name, _spec, conversion in string.Formatter().parse(text):
            if name is not None:
                names.append(f"{name}!{conversion}" if conversion else name)
    except ValueError:
        names.append(f"not a format: {text}")
    return sorted([*names, *(part.split(")")[0] for part in text.split("%(")[1:])])


# --- commands -----------------------------------------------------------------------------------------


def fill(language: str, given: dict[str, Any]) -> None:
    """Put translations in. A key is an id; of a text that depends on a count, its singular."""
    catalogue = load(language)
    by_first = {(one.id if isinstance(one.id, str) else one.id[0]): one for one in catalogue if one.id}
    for key, said in given.items():
        if key in by_first:
            by_first[key].string = said if isinstance(said, str) else tuple(said)
        else:
            print(f"not in the catalogue: {key!r}", file=sys.stderr)
    save(catalogue, language)


def main(arguments: list[str]) -> int:
    match arguments:
        case ["extract" | "compile"]:
            for language in TRANSLATED:
                save(fresh(language) if arguments == ["extract"] else load(language), language)
        case ["missing", language]:
            texts_ = missing(language)
            empty = {
                one if isinstance(one, str) else one[0]: "" if isinstance(one, str) else ["", ""]
                for one in texts_
            }
            print(json.dumps(empty, ensure_ascii=False, indent=1))
        case ["fill", language, file]:
            fill(language, json.loads(Path(file).read_text(encoding="utf-8")))
        case ["check"]:
            found = [f"{language}: {line}" for language in TRANSLATED for line in problems(language)]
            print("\n".join(found) or "complete")
            return 1 if found else 0
        case _:
            print(__doc__)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
