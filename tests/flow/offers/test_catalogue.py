from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

from lastro.billing import LeaseKind
from lastro.flow.offers.catalogue import (
    GIB,
    MIB,
    Mended,
    Row,
    with_memory_in_names,
    without_constant_machines,
    without_repetitions,
    without_spot_for_nothing,
)


def row(**given: Any) -> Row:
    values = {
        "line": 2,
        "provider": "p",
        "machine": "m",
        "kind": LeaseKind.HOURLY,
        "price": Decimal(1),
        "gpu": "A100",
        "gpus": 1,
    }
    return Row(**{**values, **given})


def test_two_sizes_of_one_card_are_told_apart_and_the_spellings_of_one_size_are_not() -> None:
    """81559 and 81920 MiB are both 80 GiB; 40960 are 40."""
    rows = [row(memory=size * MIB) for size in (40960, 81559, 81920)] + [
        row(gpu="L4", memory=24 * GIB),
        row(),
    ]
    mended = Mended()

    named = with_memory_in_names(rows, mended)

    assert [one.gpu for one in named] == ["A100 40GB", "A100 80GB", "A100 80GB", "L4", "A100"]
    assert list(mended.counts.values()) == [3]


def test_processors_that_are_the_same_for_every_card_are_placeholders() -> None:
    many = [row(gpus=count, cpus=32, ram=64 * GIB) for count in range(1, 11)]
    mended = Mended()

    assert {(one.cpus, one.ram) for one in without_constant_machines(many, mended)} == {(None, None)}
    assert list(mended.counts.values()) == [10]


def test_processors_that_differ_or_belong_to_few_or_equal_machines_stay() -> None:
    many = [row(gpus=count, cpus=32, ram=64 * GIB) for count in range(1, 11)]

    for rows in (many[:9], [*many[:9], replace(many[9], cpus=64)], [row(cpus=32)] * 12):
        mended = Mended()
        assert without_constant_machines(rows, mended) == list(rows)
        assert not mended.counts


def test_a_spot_machine_that_costs_the_same_is_left_out_and_a_cheaper_one_stays() -> None:
    spot = row(kind=LeaseKind.SPOT)
    cheaper = row(kind=LeaseKind.SPOT, price=Decimal("0.5"))
    elsewhere = row(kind=LeaseKind.SPOT, region="eu")
    mended = Mended()

    kept = without_spot_for_nothing([row(), spot, cheaper, elsewhere], mended)

    assert kept == [row(), cheaper, elsewhere]
    assert list(mended.counts.values()) == [1]


def test_a_machine_that_stands_there_twice_is_taken_once() -> None:
    mended = Mended()

    assert list(without_repetitions([row(), row(line=9), row(zone="b")], mended)) == [row(), row(zone="b")]
    assert list(mended.counts.values()) == [1]
