from __future__ import annotations

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lastro.errors import UsageError
from lastro.job.item_names import LONGEST, Names, check_template, escaped
from lastro.job.items import ROOM

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=300)


@pytest.mark.parametrize(
    ("item", "name"),
    [
        ("frame-0001", "frame-0001"),
        ("a/b", "a%2Fb"),
        ("..", "%2E."),
        (".tmp-x", "%2Etmp-x"),
        ("50 %", "50%20%25"),
        ("two\nlines", "two%0Alines"),
        ("São", "São"),
        ("Sa\u0303o", "Sa%CC%83o"),  # the same word to a reader, other bytes
    ],
)
def test_what_no_file_system_takes_is_escaped_as_in_urls(item: str, name: str) -> None:
    assert escaped(item) == name
    assert unquote(name) == item


@given(st.sets(TEXTS, min_size=2, max_size=20))
def test_no_two_ids_share_a_name_where_case_does_not_count_and_each_name_fits(ids: set[str]) -> None:
    names = Names("d/{id}.png", [], ROOM)

    taken = [names.take(item) for item in sorted(ids)]

    assert len({name.casefold() for name in taken}) == len(ids)
    for item, name in zip(sorted(ids), taken, strict=True):
        stem = name.removeprefix("d/").removesuffix(".png")
        assert "/" not in stem and not stem.startswith(".") and stem.isprintable()
        assert len(f"{stem}.png".encode()) + ROOM <= LONGEST
        assert "~" in stem or unquote(stem) == item


def test_ids_that_differ_in_case_alone_get_names_that_differ() -> None:
    names = Names("{id}", ["items.jsonl", "Ab"], ROOM)

    assert [names.take(item) for item in ("ab", "aB", "items.jsonl")] == [
        "%61%62",
        "%61%42",
        "%69%74%65%6D%73%2E%6A%73%6F%6E%6C",
    ]


def test_an_id_that_is_too_long_is_cut_and_told_apart_by_its_digest() -> None:
    names = Names("{id}.npy", [], ROOM)

    one, other = names.take("x" * 300 + "1"), names.take("x" * 300 + "2")

    assert one != other
    assert one[:100] == other[:100] == "x" * 100


@pytest.mark.parametrize(
    "template", ["frames", "/{id}", "../{id}", "{id}/", "a/../../{id}", "x" * 200 + "{id}"]
)
def test_a_template_that_cannot_name_items_is_refused(template: str) -> None:
    with pytest.raises(UsageError):
        check_template(template, ROOM)
