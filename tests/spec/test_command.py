from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastro.spec.command import argv, needs_shell, placeholders, render


def test_values_are_filled_in_as_a_command_line_spells_them() -> None:
    values = {"n": 3, "lr": 1e-05, "on": True, "name": "two words"}

    assert render("t {n} {lr} {on} {name} {{x}}", values) == "t 3 1e-05 true 'two words' {x}"


@pytest.mark.parametrize(
    "command", ["a {", "a }", "a {b!r}", "a {b:3}", "a {}", "awk '{print $1}'", "a {b.c}"]
)
def test_a_brace_that_is_no_placeholder_is_refused(command: str) -> None:
    with pytest.raises(ValueError, match="brace"):
        placeholders(command)


def test_a_list_cannot_be_written_on_a_command_line() -> None:
    with pytest.raises(ValueError, match="cannot be written"):
        render("t {many}", {"many": [1, 2]})


@pytest.mark.parametrize(
    "command",
    [
        "a | b",
        "a && b",
        "a; b",
        "a > b",
        "a $HOME",
        'a "$HOME"',
        "a `b`",
        "a *.py",
        "a ~/b",
        "X=1 a",
        "a # b",
    ],
)
def test_what_needs_a_shell_gets_one(command: str) -> None:
    assert argv(command) == ("/bin/sh", "-c", command)


@pytest.mark.parametrize(
    "command", ["python a.py --b=1", "a 'x | y'", 'a "x; y"', r"a \| b", r"a \$b", "a '$b'", "a --x=y"]
)
def test_plain_words_need_no_shell(command: str) -> None:
    assert not needs_shell(command)


@pytest.mark.parametrize("command", ["a 'b", 'a "b', "   ", "a \\"])
def test_a_command_that_is_no_words_is_refused(command: str) -> None:
    with pytest.raises(ValueError):
        argv(command)


@given(st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=20))
def test_any_text_reaches_the_command_as_one_word(text: str) -> None:
    assert argv(render("printf {text}", {"text": text}))[-1] == text or needs_shell(
        render("printf {text}", {"text": text})
    )


def test_the_shell_sees_the_same_word() -> None:
    command = render("printf %s {text} | cat", {"text": "it's $HOME & `x`"})

    done = subprocess.run(argv(command), capture_output=True, check=True, text=True)

    assert done.stdout == "it's $HOME & `x`"
