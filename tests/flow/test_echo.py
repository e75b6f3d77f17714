"""What is shown of a job's output while it runs."""

from __future__ import annotations

from pathlib import Path

from lastro.flow.echo import MOST_BYTES, Echo
from lastro.paths import CampaignFolder
from tests.view.story import Story, planned


class Watched:
    """A run whose first attempt prints what it is told to."""

    def __init__(self, tmp_path: Path) -> None:
        self.story = Story(planned())
        self.story.start("control", 1, 1)
        self.log = CampaignFolder(tmp_path).run("id-control").attempt(1).log
        self.log.parent.mkdir(parents=True)
        self.lines: list[str] = []
        self.echo = Echo(CampaignFolder(tmp_path), self.lines.append)

    def prints(self, data: bytes) -> list[str]:
        with self.log.open("ab") as log:
            log.write(data)
        return self.looks()

    def looks(self) -> list[str]:
        self.lines.clear()
        self.echo.look(self.story.view())
        return list(self.lines)


def test_whole_lines_are_shown_once_behind_the_name_of_their_run(tmp_path: Path) -> None:
    job = Watched(tmp_path)

    assert job.looks() == []
    assert job.prints(b"loss 0.5\nloss 0.") == ["control | loss 0.5"]
    assert job.prints(b"4\n\n") == ["control | loss 0.4", "control | "]
    assert job.looks() == []


def test_a_torn_last_line_is_shown_when_the_job_has_ended(tmp_path: Path) -> None:
    job = Watched(tmp_path)

    assert job.prints(b"Killed") == []
    job.story.end("control", 1, 2, "crashed", 3)
    assert job.looks() == ["control | Killed"]
    assert job.looks() == []


def test_of_a_progress_bar_its_last_state_is_shown_and_nothing_steers_the_terminal(tmp_path: Path) -> None:
    assert Watched(tmp_path).prints(b"\r 1%\r 50%\r100%\n\x1b[2Jhidden\r\n") == [
        "control | 100%",
        "control |  [2Jhidden",
    ]


def test_of_a_flood_the_end_is_shown_and_how_much_was_left_out(tmp_path: Path) -> None:
    shown = Watched(tmp_path).prints(b"x" * 9 + b"\n" + b"line 0001\n" * (MOST_BYTES // 5))

    assert shown[0] == "control | ... 65.5 kB left out here; `lastro logs` has them"
    assert len(shown) < MOST_BYTES // 10 + 2
    assert set(shown[1:]) == {"control | line 0001"}


def test_what_was_printed_before_the_command_was_typed_is_passed_over(tmp_path: Path) -> None:
    job = Watched(tmp_path)
    job.log.write_bytes(b"old\n")
    job.echo.pass_over(job.story.view())

    assert job.prints(b"new\n") == ["control | new"]
