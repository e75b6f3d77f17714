from __future__ import annotations

from datetime import timedelta, timezone

import pytest

from lastro.cli import main
from lastro.flow.leases import parse_until


def test_a_moment_without_a_zone_is_of_this_computer() -> None:
    assert parse_until("2026-12-03T12:00Z").isoformat() == "2026-12-03T12:00:00+00:00"
    assert parse_until("2026-12-03T12:00+02:00").hour == 10
    local = parse_until("2026-12-03T12:00")
    assert local.tzinfo is timezone.utc
    assert local.astimezone().hour == 12
    assert abs(local - parse_until("2026-12-03T12:00Z")) <= timedelta(hours=14)


@pytest.mark.parametrize(
    ("price", "until"), [("47.14", "2999-01-01"), ("47.14 USD", "tomorrow"), ("-1 USD", "2999-01-01")]
)
def test_what_cannot_be_meant_is_refused(price: str, until: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["lease", "add", "--order", "1", "--price", price, "--until", until])

    assert left.value.code == 2
    assert capsys.readouterr().err
