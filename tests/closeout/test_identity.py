from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from lastro.closeout.identity import content_digest, mark_duplicates
from lastro.closeout.judge import Judgement, Verdict


def of_text(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text)
    return content_digest(folder / name)


def test_the_order_of_rows_and_columns_is_not_content(tmp_path: Path) -> None:
    first = of_text(tmp_path, "a.csv", "id,p\n1,x\n2,y\n")

    assert of_text(tmp_path, "b.csv", "p,id\ny,2\nx,1\n") == first
    assert of_text(tmp_path, "c.csv", "id,p\n1,x\n2,z\n") != first
    assert of_text(tmp_path, "d.csv", "id,q\n1,x\n2,y\n") != first


def test_a_row_that_stands_twice_is_other_content(tmp_path: Path) -> None:
    assert of_text(tmp_path, "a.csv", "id\n1\n") != of_text(tmp_path, "b.csv", "id\n1\n1\n")


def test_metadata_is_not_content_of_weights_and_names_are(tmp_path: Path) -> None:
    weights: dict[str, Any] = {"a": np.ones(3, np.float32), "b": np.zeros(2, np.float64)}
    save_file(weights, tmp_path / "1.safetensors")
    save_file(dict(reversed(weights.items())), tmp_path / "2.safetensors", metadata={"made": "elsewhere"})
    save_file({"c": weights["a"], "b": weights["b"]}, tmp_path / "3.safetensors")
    save_file({"a": weights["a"].reshape(1, 3), "b": weights["b"]}, tmp_path / "4.safetensors")
    digests = [content_digest(tmp_path / f"{i}.safetensors") for i in (1, 2, 3, 4)]

    assert digests[0] == digests[1]
    assert len(set(digests)) == 3


def test_what_cannot_be_read_is_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.safetensors").write_bytes(b"junk")
    (tmp_path / "a.bin").write_bytes(b"junk")

    assert content_digest(tmp_path / "a.safetensors") == content_digest(tmp_path / "a.bin")


def judged(run: str, content: str, verdict: Verdict = Verdict.ACCEPTED) -> Judgement:
    return Judgement(run=run, name="m", path="m.bin", verdict=verdict, why="", content=content)


def test_equal_content_is_marked_in_favour_of_the_first_accepted_one() -> None:
    found = mark_duplicates(
        [judged("r0", "x", Verdict.REJECTED), judged("r1", "x"), judged("r2", "x"), judged("r3", "y")]
    )

    assert [one.duplicate_of for one in found] == [None, None, "r1/m.bin", None]
