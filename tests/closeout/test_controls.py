from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from lastro.closeout.controls import refusals
from lastro.closeout.inventory import FileFacts, Inventory, Surroundings, collect
from lastro.closeout.promise import Deliverable
from lastro.closeout.tables import Table

PROMISED = Deliverable(name="predictions", path="p.csv", key="id", rows=2)


def codes(found: Inventory, expected: Collection[str] | None = None) -> list[str]:
    return [refusal.code for refusal in refusals(PROMISED, found, expected)]


def with_rows(*ids: str, columns: tuple[str, ...] = ("id", "prediction")) -> Inventory:
    table = Table(columns, tuple((one, "1") for one in ids))
    return Inventory(path="p.csv", exists=True, files=(FileFacts(name="p.csv", bytes=10),), table=table)


def test_what_was_promised_is_not_refused() -> None:
    assert codes(with_rows("a", "b"), ("b", "a")) == []


def test_absent_empty_and_escaping_files_are_refused_at_once() -> None:
    assert codes(Inventory(path="p.csv", exists=False)) == ["missing"]
    assert codes(Inventory(path="p.csv", exists=True, files=(FileFacts(name="p.csv", bytes=0),))) == ["empty"]
    assert codes(Inventory(path="p.csv", exists=True, is_folder=True)) == ["empty"]
    assert codes(Inventory(path="p.csv", exists=True, links_out={"p.csv": "/etc/passwd"})) == ["link"]


def test_rows_and_ids_have_to_be_the_expected_ones() -> None:
    assert codes(with_rows("a")) == ["rows"]
    assert codes(with_rows("a", "b", "c")) == ["rows"]
    assert codes(with_rows("a", "a")) == ["ids"]
    assert codes(with_rows("a", "c"), ("a", "b")) == ["missing_ids", "other_ids"]
    assert codes(with_rows("a", "b", columns=("name", "prediction"))) == ["ids"]


def test_a_refusal_names_file_and_values() -> None:
    (refusal,) = refusals(PROMISED, with_rows("a", "b"), ("a", "b", "c", "d", "e", "f"))

    assert refusal.text == "p.csv lacks 4 of 6 ids: c, d, e, ..."


def test_every_reason_is_told_at_once() -> None:
    file = FileFacts(name="p.csv", bytes=9, foreign="/tmp/x", host="gpu7", secret=("a GitHub token", 3))
    found = Inventory(path="p.csv", exists=True, files=(file,), damage="line 3 has 1 cells")

    assert codes(found) == ["foreign_path", "host", "secret", "damaged"]


def test_an_inventory_holds_the_table_and_the_first_foreign_path(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("id,file\na,x\nb,/tmp/v/y\n")

    found = collect(tmp_path, "p.csv", Surroundings())

    assert found.table is not None
    assert found.table.cells("id") == ("a", "b")
    assert found.files[0].foreign == "/tmp/v/y"


def test_a_torn_table_is_damage_and_not_a_crash(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("id,prediction\na,1\nb")

    found = collect(tmp_path, "p.csv", Surroundings())

    assert found.damage == "line 3 has 1 cells, the header has 2"
    assert codes(found) == ["damaged"]


def test_a_link_inside_the_outputs_is_fine_and_one_on_the_way_out_is_not(tmp_path: Path) -> None:
    outputs, outside = tmp_path / "outputs", tmp_path / "outside"
    outputs.mkdir()
    outside.mkdir()
    (outside / "p.csv").write_text("id\na\n")
    (outputs / "real.csv").write_text("id\na\n")
    (outputs / "p.csv").symlink_to("real.csv")
    (outputs / "folder").symlink_to(outside)

    assert collect(outputs, "p.csv", Surroundings()).links_out == {}
    assert collect(outputs, "folder/p.csv", Surroundings()).links_out == {
        "folder/p.csv": str(outside / "p.csv")
    }


def test_a_link_that_leads_to_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.csv").symlink_to("p.csv")

    assert collect(tmp_path, "p.csv", Surroundings()).links_out == {"p.csv": "p.csv"}
