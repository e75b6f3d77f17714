from __future__ import annotations

import io
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from lastro import strictjson
from lastro.cli import main
from lastro.cli.offers_text import listing_text
from lastro.flow.offers.listing import list_offers
from lastro.flow.offers.wanted import Wanted
from lastro.spec.load import load_offers_file
from tests.flow.offers.files import GPUHUNT, catalogue

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "offers" / "offers.yaml"
DOC = ROOT / "docs" / "offers.md"
OFFERS = """\
offers:
  - {name: node, kind: hourly, price: 1.28 USD, per: gpu, gpus: 8, gpu: H100, source: list, seen: 2020-01-31}
  - {name: lot, kind: lot, price: 47.14 USD, term: 3d, gpu: RTX 4090, renewal: none, lead: 2d}
  - {name: night, kind: spot, price: unknown, gpu: RTX 4090, by_hour: {08-18: none}}
rates:
  - {from: BRL, to: USD, rate: 0.18, seen: 2020-01-31}
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "offers.yaml").write_text(OFFERS)


def lastro(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main(["offers", *arguments])
    printed = capsys.readouterr()
    return int(left.value.code or 0), printed.out, printed.err


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code, out, _err = lastro(capsys, *arguments, "--json")
    return code, strictjson.loads(out)


def test_offers_are_listed_with_what_a_price_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _err = lastro(capsys)
    lines = [" ".join(line.split()) for line in out.splitlines()]

    assert code == 0
    assert any(line.startswith("node 1.28 USD a GPU and hour 8 GPUs") and "stale" in line for line in lines)
    assert "lot 47.14 USD for 3 days 1 GPU no date" in lines
    assert "derived: 0.65 USD a GPU and hour if all of its 72 h are used" in lines
    assert "no following term; to be had after 2 days" in lines
    assert "night price unknown (spot) 1 GPU no date" in lines
    assert "not from 08-18 h" in lines


def test_the_list_that_the_documentation_shows_is_what_is_shown_on_its_day() -> None:
    file = load_offers_file(EXAMPLE)
    listing = list_offers(file, Wanted(gpu="4090"), date(2026, 11, 30))
    paper = Console(file=io.StringIO(), width=80)

    paper.print(listing_text(listing, file, whole=False))

    assert isinstance(paper.file, io.StringIO)
    shown = "\n".join(line.rstrip() for line in paper.file.getvalue().rstrip().splitlines())
    assert f"$ lastro offers examples/offers/offers.yaml --gpu 4090\n{shown}\n```" in DOC.read_text()


def test_a_list_fits_into_eighty_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    _code, out, _err = lastro(capsys, str(EXAMPLE))

    assert [line for line in out.splitlines() if len(line.rstrip()) > 80] == []
    assert "rtx4090-3-days" in out and "runpod-network" in out and "gcp-premium" in out


def test_a_name_as_long_as_an_import_makes_it_stands_in_a_line_of_its_own(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    name = "runpod-8x_A100-80GB_SECURE-EUR-IS-1-of-somewhere"
    Path("long.yaml").write_text(
        f"offers:\n  - {{name: {name}, kind: hourly, price: 1111.11 USD, per: gpu, gpus: 8, gpu: A}}\n"
    )

    lines = [line.rstrip() for line in lastro(capsys, "long.yaml")[1].splitlines()]

    assert lines[1:3] == [f"  {name}", "      1111.11 USD a GPU and hour  8 GPUs  no date"]


def test_the_object_has_money_age_and_what_was_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    code, shown = as_json(capsys, "--gpu", "h100")
    (node,) = shown["offers"]

    assert (code, shown["exit_code"], shown["left_out"]) == (0, 0, {"another GPU": 2})
    assert node["price"] == {"amount": "1.28", "currency": "USD"}
    assert node["machine_price"] == {"amount": "10.24", "currency": "USD"}
    assert node["derived"]["gpu_hour"] == {"amount": "1.28", "currency": "USD"}
    assert node["age_days"] > 2000 and node["doubts"][0]["code"] == "stale"
    assert shown["rates"] == [
        {"from": "BRL", "to": "USD", "rate": "0.18", "seen": "2020-01-31", "source": "declared"}
    ]


def test_an_unknown_price_is_null_and_never_zero(capsys: pytest.CaptureFixture[str]) -> None:
    _code, shown = as_json(capsys, "--kind", "spot")

    assert [shown["offers"][0][key] for key in ("price", "machine_price", "derived")] == [None, None, None]


def test_nothing_that_fits_is_said_with_the_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _err = lastro(capsys, "--max-price", "0.1 USD")

    assert code == 0
    assert "No offer is left." in out
    assert "1: its price is unknown" in out


@pytest.mark.parametrize(
    "wrong",
    [
        ("--memory", "much"),
        ("--max-price", "3"),
        ("--kind", "rented"),
        ("--sort", "colour"),
        ("import", "other", "x"),
    ],
)
def test_wrong_use_ends_with_two(capsys: pytest.CaptureFixture[str], wrong: tuple[str, ...]) -> None:
    assert lastro(capsys, *wrong)[0] == 2


def test_a_file_with_mistakes_ends_with_three_and_its_lines(capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.yaml").write_text("offers:\n  - {name: a, kind: lot, price: 1 USD, term: 3d, per: gpu}\n")

    code, _out, err = lastro(capsys, "bad.yaml")

    assert code == 3
    assert "bad.yaml:2:" in err and "so per means nothing" in err


def test_a_catalogue_becomes_a_file_that_is_listed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = catalogue(
        tmp_path,
        "oci.csv",
        GPUHUNT,
        "i1,us,0.5,30,240,1,A10,24.0,False,,nvidia,",
        "i1,us,0.0,30,240,1,A10,24.0,True,,nvidia,",
    )

    code, out, err = lastro(capsys, "import", "gpuhunt", str(path), "--seen", "2026-11-30", "-o", "new.yaml")
    _code, shown = as_json(capsys, "new.yaml")

    assert (code, out) == (0, "")
    assert f"{path}: 1 line: a price of 0 means that there is none" in err
    assert "2 offers in new.yaml" in err
    assert [(one["kind"], one["price"]) for one in shown["offers"]] == [
        ("hourly", {"amount": "0.50", "currency": "USD"}),
        ("spot", None),
    ]


def test_without_a_file_to_write_it_is_printed_alone(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = catalogue(tmp_path, "oci.csv", GPUHUNT, "i1,us,0.5,30,240,1,A10,24.0,False,,nvidia,")

    _code, out, err = lastro(capsys, "import", "gpuhunt", str(path))
    Path("printed.yaml").write_text(out)

    assert lastro(capsys, "printed.yaml")[0] == 0
    assert "their age is unknown: --seen DATE" in err


def test_an_import_tells_programs_what_was_mended(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = catalogue(
        tmp_path, "oci.csv", GPUHUNT, "i1,us,0.0,30,240,1,A10,24.0,False,,,", "i2,us,x,,,1,A,,,,,"
    )

    code, shown = as_json(capsys, "import", "gpuhunt", str(path), "-o", "new.yaml")

    assert (code, shown["file"], len(shown["offers"])) == (0, "new.yaml", 1)
    assert shown["mended"][str(path)]["no price: unknown"] == 1
    assert shown["unreadable"] == {str(path): "line 3: 'x' is no number"}
