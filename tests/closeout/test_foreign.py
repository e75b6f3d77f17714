from __future__ import annotations

import pytest

from lastro.closeout.foreign import foreign_path, usable_prefixes, values_in

PREFIXES = ("/workspace7/run", "/srv2")


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("/tmp/vocab.json", "/tmp/vocab.json"),
        ("/tmp", "/tmp"),
        ("/a/b", "/a/b"),
        ("~/models/base", "~/models/base"),
        ("~ana/models", "~ana/models"),
        ("file:///x", "file:///x"),
        ("C:\\models\\x", "C:\\models\\x"),
        ("loaded from /home/ana/base.bin, then tuned", "/home/ana/base.bin"),
        ("--vocab=/mnt/disk/v.txt", "/mnt/disk/v.txt"),
        ("see /srv2/x and more", "/srv2/x"),
        ("see ~/x/y for it", "~/x/y"),
        ("at /workspace7/run", "/workspace7/run"),
    ],
)
def test_a_path_of_one_machine_is_found(value: str, found: str) -> None:
    assert foreign_path(value, PREFIXES) == found


@pytest.mark.parametrize(
    "value",
    [
        "data/test.csv", "../weights/w.bin", "./tmp/x", "a/tmp/b", "https://host.org/tmp/x", "/", "//", "/s",
        "n/a", "and/or", "3/4", "/r/python says so", "~5 %", "~", "either /or", "2026-11-30", "s3://bucket/home/x",
        "/srv20/x and more", "km/h", "TCP/IP", "http://a.b/home/c/", "1 /2", "hub:org/model", "x~/y",
    ],
)  # fmt: skip
def test_what_is_no_path_of_one_machine_is_left_alone(value: str) -> None:
    assert foreign_path(value, PREFIXES) is None


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".json", '{"a": [{"vocab": "/tmp/v/x"}]}'),
        (".json", '{"/tmp/v/x": 1}'),
        (".json", "{broken '/tmp/v/x'"),
        (".jsonl", '{"a": 1}\n{"b": "/tmp/v/x"}\n'),
        (".csv", 'id,file\n1,"/tmp/v/x"\n'),
        (".tsv", "id\tfile\n1\t/tmp/v/x\n"),
        (".yaml", "a:\n  - vocab: '/tmp/v/x'\n"),
        (".toml", 'vocab = "/tmp/v/x"\n'),
        (".md", "The vocabulary is at `/tmp/v/x`.\n"),
        (".txt", "/tmp/v/x\n"),
    ],
)
def test_each_kind_of_text_file_is_looked_into(suffix: str, text: str) -> None:
    assert any(foreign_path(value, ()) for value in values_in(text, suffix))


def test_a_value_in_settings_may_have_an_unusual_root() -> None:
    found = [foreign_path(value, ()) for value in values_in("vocab: /gpfs7/ana/v.txt\n", ".yaml")]

    assert "/gpfs7/ana/v.txt" in found


def test_prefixes_that_say_nothing_are_left_out() -> None:
    assert usable_prefixes(["/", "", "relative", "/a", "/a/b/", "/a"]) == ("/a/b", "/a")
