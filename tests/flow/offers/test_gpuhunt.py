from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from lastro.billing import LeaseKind
from lastro.errors import CampaignInvalid
from lastro.flow.offers.catalogue import Mended, Row
from lastro.flow.offers.gpuhunt import rows_of
from tests.flow.offers.files import GPUHUNT, catalogue

GB = 10**9


def read(folder: Path, *lines: str, header: str = GPUHUNT) -> tuple[list[Row], dict[str, int]]:
    mended = Mended()
    rows = list(rows_of(catalogue(folder, "lambdalabs.csv", header, *lines), "p", mended))
    return rows, dict(mended.counts)


def test_a_line_is_one_way_of_paying_one_machine(tmp_path: Path) -> None:
    rows, mended = read(tmp_path, "i2,us,1.0,30,240,2,A10,24.0,True,100.0,nvidia,f1")

    assert rows == [
        Row(
            line=2, provider="p", machine="i2", kind=LeaseKind.SPOT, price=Decimal("1.0"), gpu="A10", gpus=2,
            memory=24 * GB, cpus=30, ram=240 * GB, region="us", notes="with a disk of 100 GB",
        )
    ]  # fmt: skip
    assert mended == {}


def test_a_file_of_an_earlier_version_has_fewer_columns(tmp_path: Path) -> None:
    header = "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot"
    (row,), _mended = read(tmp_path, "i1,us,0.5,30,240,1,A10,24.0,False", header=header)

    assert (row.kind, row.notes) == (LeaseKind.HOURLY, None)


def test_a_machine_without_gpus_or_without_a_price(tmp_path: Path) -> None:
    rows, mended = read(tmp_path, "c1,us,0.1,4,16,0,,,False,,,", "i1,us,,30,240,1,A10,24.0,False,,nvidia,")

    assert [(row.gpu, row.gpus, row.price) for row in rows] == [(None, 0, Decimal("0.1")), ("A10", 1, None)]
    assert mended == {"no price: unknown": 1}


def test_a_price_of_zero_is_none_and_a_line_without_meaning_is_told(tmp_path: Path) -> None:
    rows, mended = read(
        tmp_path, "i1,us,0.0,30,240,1,A10,24.0,False,,,", "i2,us,x,30,240,1,A10,24.0,False,,,"
    )

    assert [row.price for row in rows] == [None]
    assert mended["a line that means nothing: left out"] == 1


def test_another_form_is_refused_with_its_columns(tmp_path: Path) -> None:
    with pytest.raises(CampaignInvalid, match="no gpuhunt catalogue") as caught:
        read(tmp_path, "x", header="InstanceType,Price")
    assert caught.value.hint == "its columns are: InstanceType, Price"
