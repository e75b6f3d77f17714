from __future__ import annotations

import csv
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lastro.errors import LastroError, UsageError
from lastro.flow.offers.importing import Imported, import_offers, write
from lastro.flow.offers.wanted import Wanted
from lastro.spec.load import load_offers_file
from lastro.units import parse_money
from tests.flow.offers.files import AWS, GPUHUNT, RUNPOD, VAST, catalogue, gpu_info

HOSTS = (
    f'1x-RTX_4090-32-65536,RTX4090,1,32,64.0,{gpu_info("A", 1, 24564, 24564)},0.40,0.00,"Hesse, DE, EU"',
    f'1x-RTX_4090-32-65536,RTX4090,1,32,64.0,{gpu_info("A", 1, 49140, 49140)},0.40,0.00,"Hesse, DE, EU"',
    f'2x-H200-32-65536,H200,2,32,64.0,{gpu_info("H200", 2, 287542, 287542)},5.18,0.00,", US, NA"',
)


def imported(form: str, *files: Path, wanted: Wanted | None = None, **given: Any) -> Imported:
    settings = {"provider": None, "seen": date(2026, 11, 30), **given}
    return import_offers(form, files, wanted or Wanted(), **settings)


def test_what_is_written_is_what_lastro_reads_again(tmp_path: Path) -> None:
    made = imported("skypilot", catalogue(tmp_path, "vast/vms.csv", VAST, *HOSTS))
    write(made, tmp_path / "offers.yaml")

    assert load_offers_file(tmp_path / "offers.yaml").offers == made.offers
    assert [(one.gpu, one.gpus, one.memory) for one in made.offers] == [
        ("RTX4090 24GB", 1, 24564 * 2**20),
        ("RTX4090 48GB", 1, 49140 * 2**20),
        ("H200", 2, 143771 * 2**20),
    ]
    assert [one.name for one in made.offers] == [
        "vast-1x-RTX_4090-32-65536-Hesse",
        "vast-1x-RTX_4090-32-65536-Hesse-2",
        "vast-2x-H200-32-65536-US",
    ]


def test_an_offer_says_whose_it_is_whence_and_of_which_day(tmp_path: Path) -> None:
    (first, *_others) = imported("skypilot", catalogue(tmp_path, "vast/vms.csv", VAST, *HOSTS)).offers

    assert (first.provider, first.source, first.seen) == (
        "vast",
        "SkyPilot catalogue of vast",
        date(2026, 11, 30),
    )
    assert (first.machine_price, first.jurisdiction) == (parse_money("0.40 USD"), "DE")


def test_without_a_day_none_is_invented(tmp_path: Path) -> None:
    made = imported("skypilot", catalogue(tmp_path, "vast/vms.csv", VAST, *HOSTS), seen=None)

    assert {one.seen for one in made.offers} == {None}
    assert "on an unknown day" in made.text


def test_a_file_of_gpuhunt_is_called_like_its_provider_unless_said_otherwise(tmp_path: Path) -> None:
    path = catalogue(tmp_path, "oci.csv", GPUHUNT, "i1,us,0.5,30,240,1,A10,24.0,False,,nvidia,")

    assert imported("gpuhunt", path).offers[0].provider == "oci"
    assert imported("gpuhunt", path, provider="mine").offers[0].provider == "mine"


def test_a_file_whose_provider_cannot_be_told_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogue(tmp_path, "vms.csv", VAST, *HOSTS)
    monkeypatch.chdir(tmp_path)

    with pytest.raises(UsageError, match=r"whose vms\.csv is cannot be told"):
        imported("skypilot", Path("vms.csv"))


def test_what_was_mended_is_counted_by_file(tmp_path: Path) -> None:
    pod = f"1x_A_SECURE,A,1.0,8.0,117.0,CA,1.39,1.39,CA-1,{gpu_info('A', 1, 80, 80)}"
    vast = catalogue(tmp_path, "vast/vms.csv", VAST, *HOSTS)
    runpod = catalogue(tmp_path, "runpod/vms.csv", RUNPOD, pod)

    made = imported("skypilot", vast, runpod)

    assert made.mended == {
        str(vast): {
            "a price of 0 means that there is none": 3,
            "the memory of all cards in the field of one: divided": 1,
            "cards of several sizes under one name: the size added to it": 2,
        },
        str(runpod): {
            "GiB in a field of MiB: read as GiB": 1,
            "a spot price that equals the other one: no spot offer": 1,
        },
    }


def test_only_what_is_wanted_is_written(tmp_path: Path) -> None:
    path = catalogue(tmp_path, "vast/vms.csv", VAST, *HOSTS)

    made = imported("skypilot", path, wanted=Wanted(gpu="4090", memory=40 * 10**9))

    assert [one.gpu for one in made.offers] == ["RTX4090 48GB"]
    assert made.left_out == {"another GPU": 1, "less memory than 40 GB": 1}
    with pytest.raises(UsageError, match="no offer is left of 3"):
        imported("skypilot", path, wanted=Wanted(gpu="B300"))


def test_more_than_a_file_holds_is_refused_with_a_way_out(tmp_path: Path) -> None:
    lines = [f"i{n},us,0.5,30,240,1,A10,24.0,False,,nvidia," for n in range(900)]

    with pytest.raises(UsageError, match="900 offers are more than one offers file holds") as caught:
        imported("gpuhunt", catalogue(tmp_path, "aws.csv", GPUHUNT, *lines))
    assert caught.value.hint is not None and "--gpu" in caught.value.hint


def test_a_file_that_somebody_wrote_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "offers.yaml").write_text("mine")

    with pytest.raises(UsageError, match="is there already"):
        write(
            imported("skypilot", catalogue(tmp_path, "vast/vms.csv", VAST, *HOSTS)), tmp_path / "offers.yaml"
        )
    assert (tmp_path / "offers.yaml").read_text() == "mine"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(name=st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1), place=st.text(max_size=20))
def test_whatever_a_name_is_made_of_the_file_is_read_again(tmp_path: Path, name: str, place: str) -> None:
    cells = ['"' + text.replace('"', '""').replace("\0", "") + '"' for text in (name, place)]
    path = catalogue(tmp_path, "p.csv", GPUHUNT, f"{cells[0]},{cells[1]},0.5,1,2,1,{cells[0]},24,False,,,")

    made = imported("gpuhunt", path)
    (tmp_path / "o.yaml").write_text(made.text, encoding="utf-8")

    assert load_offers_file(tmp_path / "o.yaml").offers == made.offers


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(form=st.sampled_from(["skypilot", "gpuhunt"]), data=st.data())
def test_whatever_stands_in_the_cells_it_is_imported_or_refused_with_a_reason(
    tmp_path: Path, form: str, data: st.DataObject
) -> None:
    header = AWS if form == "skypilot" else GPUHUNT
    cell = st.sampled_from(
        ["", "0", "1", "2.0", "0.5", "-1", "1e30", "1e-30", "9" * 5000, "nan", "H100", "true", "US", "=1"]
    ) | st.text(max_size=8)
    lines = data.draw(st.lists(st.lists(cell, min_size=1, max_size=14), max_size=4))
    info = f"{{'Gpus': [{{'MemoryInfo': {{'SizeInMiB': {data.draw(st.integers(0, 10**12))}}}}}]}}"
    with (tmp_path / "p.csv").open("w", encoding="utf-8", newline="", errors="replace") as file:
        written = csv.writer(file)
        written.writerow(header.split(","))
        written.writerows([*lines, ["x", "A", "1", "1", "1", info, "1", "1", "r", "z", "a", "f"]])
    try:
        made = imported(form, tmp_path / "p.csv", provider="p")
    except LastroError as error:
        assert error.hint
    else:
        (tmp_path / "o.yaml").write_text(made.text, encoding="utf-8")
        assert load_offers_file(tmp_path / "o.yaml").offers == made.offers
