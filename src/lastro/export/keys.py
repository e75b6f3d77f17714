"""Keys stay at home: where a campaign holds one, an export has the name of a variable, `${NAME:?set it}`.

Whatever reads an export is a shell, so a variable that nobody has set ends it with that word. Pure.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping

from lastro.errors import CampaignInvalid
from lastro.locale import _
from lastro.spec import command as commands
from lastro.storage.secrets import find, is_secret_name, secret_values

#: Stands for a key while words are split and quoted; no shell does anything to it.
_MARK = "LASTRO_EXPORT_KEY_{name}_END"
_MARKED = re.compile(r"LASTRO_EXPORT_KEY_([A-Z0-9_]+?)_END")
_TOKEN = re.compile(rf"\\.|{_MARKED.pattern.replace('(', '(?P<key>', 1)}|.", re.S)
#: `NAME=value` in a command; a value that is taken from a variable is none that was written down.
_ASSIGNED = re.compile(r"""(?<![\w$])([A-Za-z_]\w*)=("[^"$`]*"|'[^']*'|[^\s"'$`;&|()]+)""")
_USED = re.compile(r"\$\{?([A-Za-z_]\w*)")
#: Each of these is set by the export itself.
_GIVEN = frozenset({"LASTRO_OUTPUTS", "LASTRO_CHECKPOINTS", "LASTRO_RUN", "LASTRO_ATTEMPT"})


def set_it(name: str) -> str:
    """Return what a shell takes a variable by, and ends at when it is not set."""
    return "${" + name + ":?set it}"


def without_keys(text: str) -> str:
    """Return a shell's text in which no key is assigned: its name is left, quoted as a shell needs it."""

    def named(match: re.Match[str]) -> str:
        name, value = match[1], match[2].strip("\"'")
        if not _is_key(name, value):
            return match[0]
        # An option is spelled in small letters, and a variable is not.
        option = match.string[: match.start()].endswith("-")
        return f'{name}="{set_it(variable_of(name) if option else name)}"'

    return _ASSIGNED.sub(named, text)


def words_without_keys(command: str, config: Mapping[str, object]) -> tuple[str, ...]:
    """Return the words of a run's command, each spelled for a shell, with variables in the place of keys."""
    marked = {
        name: _MARK.format(name=variable_of(name))
        if isinstance(value, str) and _is_key(name, value)
        else value
        for name, value in config.items()
    }
    given = commands.argv(without_keys(commands.render(command, marked)))
    if given[:2] == ("/bin/sh", "-c"):
        return ("/bin/sh", "-c", shlex.quote(_for_inner_shell(given[2])))
    return tuple(_spelled(word) for word in given)


def config_without_keys(config: Mapping[str, object]) -> dict[str, object]:
    """Return a configuration without its keys: what reads it finds the name of the variable."""
    return {
        name: set_it(variable_of(name)) if isinstance(value, str) and _is_key(name, value) else value
        for name, value in config.items()
    }


def variable_of(name: str) -> str:
    """Return the variable that stands for a key of the configuration: `hf-token` is HF_TOKEN."""
    return re.sub(r"[^A-Z0-9]", "_", name.upper())


def variables_in(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the variables with keys that texts of a shell use, sorted; each has to be set beforehand."""
    found = {name for text in texts for name in _USED.findall(text)}
    return tuple(sorted(name for name in found if is_secret_name(name) and name not in _GIVEN))


def refuse_keys(name: str, text: str) -> None:
    """See that nothing which is about to be written holds what looks like a key.

    Raises:
        CampaignInvalid: it does; the file and its line are named, the key is not.
    """
    for found in find(text):
        raise CampaignInvalid(
            _("this line would hold {what}, and an export lives in a repository").format(what=found.what),
            file=name,
            line=text.count("\n", 0, found.start) + 1,
            hint=_("take it from the environment in the campaign file, as in --token $HF_TOKEN"),
        )


def _spelled(word: str) -> str:
    """Return one word as a shell reads it, the variables in it alive."""
    if not _MARKED.search(word):
        return shlex.quote(word)
    parts = _MARKED.split(word)
    # Every second part is a name.
    return "".join(
        f'"{set_it(part)}"' if place % 2 else shlex.quote(part) if part else ""
        for place, part in enumerate(parts)
    )


def _for_inner_shell(text: str) -> str:
    """Return a shell's text with variables as that shell takes them, in whatever quotes they stand."""
    found, quote = [], ""
    for match in _TOKEN.finditer(text):
        token = match[0]
        if match["key"] is not None:
            variable = set_it(match["key"])
            found.append({"'": f"""'"{variable}"'""", '"': variable}.get(quote, f'"{variable}"'))
            continue
        found.append(token)
        # Within single quotes nothing is escaped, so a backslash there leaves the next character as it is.
        mark = token[-1] if len(token) == 1 or quote == "'" else ""
        if mark and mark in "'\"":
            quote = "" if mark == quote else quote or mark
    return "".join(found)


def _is_key(name: str, value: str) -> bool:
    """Tell whether a value is a key: by the name that it is given to, or by how it looks."""
    return bool(
        secret_values({variable_of(name): value}) if is_secret_name(variable_of(name)) else find(value, {})
    )
