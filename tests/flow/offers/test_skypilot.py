from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from lastro.billing import LeaseKind
from lastro.errors import CampaignInvalid
from lastro.flow.offers.catalogue import GIB, MIB, Mended, Row
from lastro.flow.offers.skypilot import rows_of
from tests.flow.offers.files import AWS, RUNPOD, VAST, catalogue, gpu_info


def read(folder: Path, header: str, *lines: str) -> tuple[list[Row], dict[str, int]]:
    mended = Mended()
    rows = list(rows_of(catalogue(folder, "vms.csv", header, *lines), "p", mended))
    return rows, dict(mended.counts)


def test_a_line_is_a_machine_by_the_hour_and_one_on_the_spot_market(tmp_path: Path) -> None:
    info = gpu_info("H100", 8, 81920, 655360)
    line = f"p5.48xlarge,H100,8.0,192.0,2048.0,{info},55.04,12.5,us-east-1,use1-az2,x86_64"

    (lasting, spot), mended = read(tmp_path, AWS, line)

    assert lasting == Row(
        line=2, provider="p", machine="p5.48xlarge", kind=LeaseKind.HOURLY, price=Decimal("55.04"),
        gpu="H100", gpus=8, memory=81920 * MIB, cpus=192, ram=2048 * GIB, region="us-east-1", zone="use1-az2",
    )  # fmt: skip
    assert (spot.kind, spot.price, spot.memory) == (LeaseKind.SPOT, Decimal("12.5"), lasting.memory)
    assert mended == {}


def test_a_machine_without_gpus_is_one(tmp_path: Path) -> None:
    (row,), _mended = read(tmp_path, AWS, "m7i.large,,,2.0,8.0,,0.1008,,us-east-1,use1-az1,x86_64")

    assert (row.gpu, row.gpus, row.cpus, row.memory) == (None, 0, 2, None)


def test_a_spot_price_of_zero_is_none(tmp_path: Path) -> None:
    line = f'1x-A-32-65536,A,1,32,64.0,{gpu_info("A", 1, 24564, 24564)},0.40,0.00,"Hesse, DE, EU"'

    rows, mended = read(tmp_path, VAST, line)

    assert [(row.kind, row.price) for row in rows] == [(LeaseKind.HOURLY, Decimal("0.40"))]
    assert mended == {"a price of 0 means that there is none": 1}


def test_a_line_without_a_price_is_a_machine_of_unknown_price(tmp_path: Path) -> None:
    rows, mended = read(tmp_path, AWS, "x,H100,1,4,8,,,1.5,us-east-1,use1-az2,x86_64")

    assert [(row.kind, row.price) for row in rows] == [
        (LeaseKind.HOURLY, None),
        (LeaseKind.SPOT, Decimal("1.5")),
    ]
    assert mended == {"no price: unknown": 1}


def test_gib_in_a_field_of_mib_are_read_as_gib(tmp_path: Path) -> None:
    line = (
        f"2x_A100-80GB_SECURE,A100-80GB,2.0,16.0,234.0,CA,,2.78,CA-MTL-1,{gpu_info('A100 PCIe', 2, 80, 160)}"
    )

    (row,), mended = read(tmp_path, RUNPOD, line)

    assert row.memory == 80 * GIB
    assert mended == {"GiB in a field of MiB: read as GiB": 1}


def test_the_memory_of_all_cards_in_the_field_of_one_is_divided(tmp_path: Path) -> None:
    line = f'2x-H200-32-65536,H200,2,32,64.0,{gpu_info("H200", 2, 287542, 287542)},5.18,,"Michigan, US, NA"'

    (row,), mended = read(tmp_path, VAST, line)

    assert row.memory == 143771 * MIB
    assert mended == {"the memory of all cards in the field of one: divided": 1}


@pytest.mark.parametrize(
    ("instance", "name", "card"),
    [
        ("2x-RTX_4070S_Ti-32-65536", "RTX4070", "RTX 4070S Ti"),
        ("1x-RTX_4060_Ti-32-65536", "RTX4060", "RTX 4060 Ti"),
        ("1x-RTX_4090-32-65536", "RTX4090", "RTX4090"),
        ("1x-H100_NVL-32-65536", "H100", "H100"),
        ("1x-A100_SXM4-32-65536", "A100", "A100"),
    ],
)
def test_a_card_under_the_name_of_a_lesser_one_is_called_as_its_instance(
    tmp_path: Path, instance: str, name: str, card: str
) -> None:
    (row,), mended = read(tmp_path, VAST, f'{instance},{name},1,32,64.0,,0.36,,"Sofia, BG, EU"')

    assert row.gpu == card
    assert bool(mended) == (card != name)


def test_a_place_with_its_country_says_the_jurisdiction(tmp_path: Path) -> None:
    lines = [f'1x-A-32-65536,A,1,32,64.0,,0.4,,"{place}"' for place in ("Bavaria, DE, EU", ", US, NA")]
    rows, _mended = read(tmp_path, VAST, *lines)
    (country,), _mended = read(tmp_path, RUNPOD, "1x_A,A,1.0,8.0,117.0,IS,,1.39,EUR-IS-1,")

    assert [(row.region, row.jurisdiction) for row in rows] == [("Bavaria", "DE"), ("US", "US")]
    assert (country.region, country.jurisdiction, country.zone) == ("IS", "IS", "EUR-IS-1")


def test_a_region_that_is_no_country_says_no_jurisdiction(tmp_path: Path) -> None:
    (row,), _mended = read(tmp_path, AWS, "x,A,1,4,8,,1,,sa-east-1,sae1-az1,x86_64")

    assert (row.region, row.jurisdiction) == ("sa-east-1", None)


def test_a_part_of_a_gpu_is_left_out_and_told(tmp_path: Path) -> None:
    rows, mended = read(tmp_path, AWS, "g6f.large,L4,0.125,2,8,,0.2,,us-east-1,use1-az2,x86_64")

    assert (rows, mended) == ([], {"a part of a GPU: left out": 1})


@pytest.mark.parametrize("price", ["abc", "nan", "Infinity", "-1", "1e99"])
def test_a_line_that_means_nothing_is_left_out_with_its_number(tmp_path: Path, price: str) -> None:
    mended = Mended()
    path = catalogue(tmp_path, "vms.csv", AWS, f"x,A,1,4,8,,{price},,r,z,a", "y,A,1,4,8,,2,,r,z,a")

    rows = list(rows_of(path, "p", mended))

    assert [row.machine for row in rows] == ["y"]
    assert dict(mended.counts) == {"a line that means nothing: left out": 1}
    assert (mended.unreadable or "").startswith(f"line 2: '{price}' is no number")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"name,price\na,1\n", "no SkyPilot catalogue: it has no column InstanceType"),
        (b"", "no SkyPilot catalogue"),
        (b"\xff\xfe\x00", "it cannot be read"),
    ],
)
def test_what_is_no_catalogue_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "vms.csv").write_bytes(content)

    with pytest.raises(CampaignInvalid, match=says):
        list(rows_of(tmp_path / "vms.csv", "p", Mended()))
