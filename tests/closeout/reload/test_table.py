from __future__ import annotations

from pathlib import Path

import pytest

from lastro.closeout.reload import open_output


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"id,p\na,1\n", None),
        (b"\xef\xbb\xbfid,p\r\na,1\r\n\r\n", None),
        (b'id,p\na,"1, or 2"\n', None),
        (b"id,p\n", "it has no rows"),
        (b"\n", "it has no line that names its columns"),
        (b"id,id\na,1\n", "a column is named twice: id, id"),
        (b"id,p\na,1\nb,2,3\n", "line 3 has 3 cells, the header has 2"),
    ],
)
def test_a_table_opens_or_says_what_is_wrong(tmp_path: Path, content: bytes, problem: str | None) -> None:
    (tmp_path / "p.csv").write_bytes(content)

    opened = open_output(tmp_path / "p.csv")

    assert opened is not None
    assert (opened.loader, opened.problem) == ("table", problem)


def test_tabs_separate_the_cells_of_a_tsv(tmp_path: Path) -> None:
    (tmp_path / "p.tsv").write_text("id\tp\na\t1, 2\n")

    opened = open_output(tmp_path / "p.tsv")

    assert opened is not None
    assert opened.problem is None
