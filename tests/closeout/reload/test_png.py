from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lastro.closeout.reload.apart import Loaded, Request
from lastro.closeout.reload.images import ImagesLoader
from lastro.closeout.reload.png import PngDamaged, read_png
from tests.closeout.traps.pictures import chunk, gradient, png


def written(tmp_path: Path, data: bytes) -> Path:
    file = tmp_path / "p.png"
    file.write_bytes(data)
    return file


SIZES = st.integers(1, 7)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(width=SIZES, height=SIZES, kind=st.sampled_from([0, 2]), data=st.data())
def test_one_colour_is_seen_through_every_filter(
    tmp_path: Path, width: int, height: int, kind: int, data: st.DataObject
) -> None:
    """One other sample anywhere, and it is not one colour any more; a single pixel always is."""
    pixel = data.draw(st.lists(st.integers(0, 255), min_size=kind + 1, max_size=kind + 1))
    filters = data.draw(st.lists(st.integers(0, 4), min_size=height, max_size=height))
    rows = [pixel * width for _row in range(height)]

    assert read_png(written(tmp_path, png(rows, kind=kind, filters=filters))).constant is True
    if width * height > 1:
        row, place = data.draw(st.integers(0, height - 1)), data.draw(st.integers(0, len(rows[0]) - 1))
        rows[row] = [*rows[row]]
        rows[row][place] ^= 0x40
        assert read_png(written(tmp_path, png(rows, kind=kind, filters=filters))).constant is False


def spoilt(place: int, to: bytes) -> bytes:
    whole = png(gradient())
    return whole[:place] + to + whole[place + len(to) :]


def header(*, width: int = 6, depth: int = 8, kind: int = 0, interlaced: int = 0) -> bytes:
    """Return the picture of `gradient` with another header."""
    head = struct.pack(">IIBBBBB", width, 4, depth, kind, 0, 0, interlaced)
    data = b"".join(b"\0" + bytes(row) for row in gradient())
    parts = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(data)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"GIF89a" + bytes(40), "does not begin as a PNG does"),
        (png(gradient())[:-12], "ends before its last part"),
        (png(gradient())[:60], "ends inside its part IDAT"),
        (spoilt(46, b"\xff\xfe"), "the checksum of its part IDAT is wrong"),
        (header(width=7), "another length than its size asks for"),
        (header(depth=3), "says what a PNG cannot be"),
        (header(kind=5), "says what a PNG cannot be"),
        (header(width=0), "says what a PNG cannot be"),
        (
            png([[9] * 6], filters=[0]).replace(b"", b"", 0)[:8] + chunk(b"IEND", b""),
            "no first or no last part",
        ),
    ],
)
def test_a_damaged_picture_says_what_is_wrong(tmp_path: Path, data: bytes, why: str) -> None:
    with pytest.raises(PngDamaged, match=why):
        read_png(written(tmp_path, data))


def test_a_small_file_cannot_unfold_to_anything(tmp_path: Path) -> None:
    """A header of 6 x 4 and ten million zeros: one byte more than belongs to it is unpacked."""
    head = struct.pack(">IIBBBBB", 6, 4, 8, 0, 0, 0, 0)
    parts = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(bytes(10_000_000))), chunk(b"IEND", b""))

    with pytest.raises(PngDamaged, match="another length"):
        read_png(written(tmp_path, b"\x89PNG\r\n\x1a\n" + b"".join(parts)))


def test_an_interlaced_picture_is_measured_and_its_colours_are_told_as_unchecked(tmp_path: Path) -> None:
    """3 x 2 pixels of one byte in Adam7: passes of 1x1, 1x1, 2x1 and 3x1 pixels, each with a filter byte."""
    data = b"\0a" + b"\0b" + b"\0c" + b"\0def"
    head = struct.pack(">IIBBBBB", 3, 2, 8, 0, 0, 0, 1)
    parts = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(data)), chunk(b"IEND", b""))
    picture = written(tmp_path, b"\x89PNG\r\n\x1a\n" + b"".join(parts))

    assert read_png(picture).constant is None
    assert ImagesLoader().load(Request(path=str(picture))).unchecked == ("p.png",)


def pictures(tmp_path: Path, **content: bytes) -> Request:
    for name, data in content.items():
        (tmp_path / f"{name}.png").write_bytes(data)
    return Request(path=str(tmp_path))


def test_pictures_in_a_folder_are_counted_and_measured(tmp_path: Path) -> None:
    asked = pictures(tmp_path, a=png(gradient()), b=png(gradient(6, 4, 11)))
    (tmp_path / "captions.jsonl").write_text('{"id": "a"}\n')

    assert ImagesLoader().reads(tmp_path)
    assert ImagesLoader().load(asked) == Loaded(
        proof="2 pictures were decoded, most of them 6 x 4, none of a single colour"
    )
    fewer = Request(path=str(tmp_path), rows=3)
    assert ImagesLoader().load(fewer).problem == "there are 2 pictures, 3 were promised"


def test_a_picture_of_a_single_colour_and_a_cut_one_are_named(tmp_path: Path) -> None:
    asked = pictures(tmp_path, a=png(gradient()), b=png([[7] * 6] * 4))
    assert ImagesLoader().load(asked).problem == "b.png has a single colour"

    asked = pictures(tmp_path, a=png(gradient())[:-20])
    assert str(ImagesLoader().load(asked).problem).startswith("a.png: it ends")


def test_a_folder_with_something_else_in_it_is_no_folder_of_pictures(tmp_path: Path) -> None:
    pictures(tmp_path, a=png(gradient()))
    (tmp_path / "model.safetensors").write_bytes(b"x")

    assert not ImagesLoader().reads(tmp_path)


def test_other_formats_are_read_by_pillow_where_it_is(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    image.linear_gradient("L").resize((8, 8)).save(tmp_path / "a.jpg")
    asked = Request(path=str(tmp_path))
    assert "1 picture was decoded, 8 x 8" in str(ImagesLoader().load(asked).proof)

    image.new("RGB", (8, 8), "red").save(tmp_path / "b.webp")
    assert ImagesLoader().load(asked).problem == "b.webp has a single colour"

    (tmp_path / "a.jpg").write_bytes((tmp_path / "a.jpg").read_bytes()[:-40])
    assert str(ImagesLoader().load(asked).problem).startswith("a.jpg: ")
