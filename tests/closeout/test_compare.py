from __future__ import annotations

from lastro.closeout.compare import Tolerance, compare
from lastro.closeout.tables import Table


def table(*rows: str, columns: str = "id,prediction,score") -> Table:
    return Table(tuple(columns.split(",")), tuple(tuple(row.split(",")) for row in rows))


DELIVERED = table("a,1,0.25", "b,0,0.75")


def test_equal_tables_are_equal_whatever_the_order_of_rows_and_columns() -> None:
    turned = table("0.75,b,0", "0.25,a,1", columns="score,id,prediction")

    assert compare(DELIVERED, turned, "id").equal


def test_a_decimal_number_may_differ_by_a_hundred_thousandth_of_itself() -> None:
    assert compare(DELIVERED, table("a,1,0.250002", "b,0,0.75"), "id").equal
    far = compare(DELIVERED, table("a,1,0.250004", "b,0,0.75"), "id")

    assert [str(one) for one in far.first] == ["a, score: delivered 0.25, recomputed 0.250004"]
    assert compare(DELIVERED, table("a,1,0.250004", "b,0,0.75"), "id", Tolerance(relative=1e-4)).equal


def test_a_whole_number_may_not_differ_at_all() -> None:
    large = table("a,1000000,0.25", "b,0,0.75")

    assert not compare(large, table("a,1000001,0.25", "b,0,0.75"), "id").equal


def test_texts_have_to_be_equal_also_when_python_would_read_them_as_numbers() -> None:
    assert not compare(table("a,cat,1"), table("a,dog,1"), "id").equal
    assert not compare(table("a,1_0,1"), table("a,10,1"), "id").equal


def test_not_a_number_equals_only_itself() -> None:
    assert compare(table("a,1,nan"), table("a,1,NaN"), "id").equal
    assert not compare(table("a,1,nan"), table("a,1,0.5"), "id").equal
    assert not compare(table("a,1,inf"), table("a,1,-inf"), "id").equal


def test_rows_of_one_side_only_are_named() -> None:
    found = compare(DELIVERED, table("b,0,0.75", "c,1,0.1"), "id")

    assert found.different == 2
    assert [str(one) for one in found.first] == ["a: only delivered", "c: only recomputed"]


def test_all_differences_are_counted_and_the_first_five_named() -> None:
    many = table(*(f"{i},1,0.5" for i in range(9)))
    found = compare(many, table(*(f"{i},0,0.5" for i in range(9))), "id")

    assert found.different == 9
    assert [one.id for one in found.first] == ["0", "1", "2", "3", "4"]
    assert found.why.startswith("9 of the recomputed values differ")


def test_without_a_key_rows_are_joined_by_their_place() -> None:
    assert compare(DELIVERED, DELIVERED, None).equal
    assert not compare(DELIVERED, table("b,0,0.75", "a,1,0.25"), None).equal


def test_a_lacking_column_or_a_double_id_cannot_be_compared() -> None:
    assert compare(DELIVERED, table("a,1", columns="id,prediction"), "id").problem == (
        "the recomputed table lacks the columns score"
    )
    assert compare(DELIVERED, table("a,1,0.25", "a,1,0.25"), "id").problem == "id 'a' stands 2 times"
