from __future__ import annotations

import os
import pickle
import pickletools
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lastro.closeout.pickles import PickleFacts, scan


def scanned(tmp_path: Path, data: bytes, name: str = "m.pkl") -> PickleFacts | None:
    (tmp_path / name).write_bytes(data)
    return scan(tmp_path / name)


class Calls:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("true",)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_call_is_found_in_each_protocol_and_nothing_is_run(tmp_path: Path, protocol: int) -> None:
    found = scanned(tmp_path, pickle.dumps([{"deep": (1, Calls())}], protocol=protocol))

    assert found == PickleFacts(("posix.system",))
    assert found.dangerous == ("posix.system",)
    assert not found.only_tensors


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8,
))  # fmt: skip
def test_plain_values_call_nothing(tmp_path: Path, value: object) -> None:
    assert scanned(tmp_path, pickle.dumps(value)) == PickleFacts()


def test_a_name_that_is_hidden_behind_others_is_no_name_that_can_be_read(tmp_path: Path) -> None:
    """The texts before the import are pushed and popped again: what is imported is below them."""
    harmless = (b"\x8c\x0bcollections", b"\x8c\x0bOrderedDict")
    data = (
        b"\x80\x04"
        + b"\x8c\x02os"
        + b"\x8c\x06system"
        + b"".join(harmless)
        + b"00"
        + b"\x93\x8c\x04true\x85R."
    )
    assert [name for name, _argument, _place in _operations(data)].count("POP") == 2

    found = scanned(tmp_path, data)

    assert found is not None
    assert "named only while it is loaded" in str(found.problem)


def _operations(data: bytes) -> list[tuple[str, object, object]]:
    return [(operation.name, argument, place) for operation, argument, place in pickletools.genops(data)]


def test_a_name_that_was_kept_and_fetched_again_is_read(tmp_path: Path) -> None:
    """`os` and `system` are put into places 0 and 1, popped, fetched, and imported."""
    data = b"\x80\x04\x8c\x02os\x940\x8c\x06system\x940h\x00h\x01\x93\x8c\x04true\x85R."

    found = scanned(tmp_path, data)

    assert found is not None
    assert found.dangerous == ("os.system",)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x80\x02\x82\x01.", "register of extensions"),
        (pickle.dumps([1, 2, "x"])[:-3], ""),
        (b"\x80\x04" + b"\xff" * 9, "opcode"),
        (b"\x80\x04N." * 9, "more than 8 pickles"),
    ],
)
def test_what_cannot_be_read_to_its_end_is_a_problem_and_not_clean(
    tmp_path: Path, data: bytes, why: str
) -> None:
    found = scanned(tmp_path, data)

    assert found is not None
    assert found.problem is not None
    assert why in found.problem
    assert not found.only_tensors


def test_a_call_is_found_also_when_the_rest_is_cut(tmp_path: Path) -> None:
    """A pickle runs as it is read: what comes before the cut would have been called."""
    found = scanned(tmp_path, pickle.dumps(Calls())[:-1], "weights.dat")

    assert found is not None
    assert found.dangerous == ("posix.system",)


@pytest.mark.parametrize(
    "data", [b"", b"\x80", b"text", b"\x80\x02\x00\x00\x00\x00\x00\x00{}", b"\x93NUMPY", b"\x89PNG"]
)
def test_other_formats_are_no_pickles(tmp_path: Path, data: bytes) -> None:
    """`80 02 00 ...` is the header of safetensors with 640 bytes."""
    assert scanned(tmp_path, data, "model.safetensors") is None


def test_an_archive_that_is_cut_is_a_problem(tmp_path: Path) -> None:
    found = scanned(tmp_path, b"PK\x03\x04" + bytes(40), "m.pt")

    assert found is not None
    assert "zip" in str(found.problem)


def test_bytes_of_tensors_after_the_pickles_of_torchs_older_format_are_no_pickle(tmp_path: Path) -> None:
    """Before each tensor stands its length, and 128 numbers begin with the byte of a pickle's protocol."""
    parts: list[object] = [0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}, {"weight": 1}, ["0"]]
    path = tmp_path / "old.pth"
    path.write_bytes(b"".join(pickle.dumps(part, protocol=2) for part in parts) + b"\x80\x00\x00\x00" * 9)

    found = scan(path)

    assert found is not None
    assert (found.calls, found.problem) == ((), None)


def test_the_fourth_pickle_of_torchs_older_format_is_looked_through(tmp_path: Path) -> None:
    payload = b"cos\nsystem\n(S'true'\ntR."
    parts: list[object] = [0x1950A86A20F9469CFC6C, 1001, {}]
    head = b"".join(pickle.dumps(part, protocol=2) for part in parts)
    path = tmp_path / "old.pth"
    path.write_bytes(head + b"\x80\x02" + payload)

    found = scan(path)

    assert found is not None
    assert found.dangerous == ("os.system",)
