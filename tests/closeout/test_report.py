from __future__ import annotations

from pathlib import Path

from lastro import strictjson
from lastro.closeout.report import write_report
from lastro.paths import CampaignFolder
from lastro.view.as_json import page_json
from lastro.view.model import page_of, with_report
from tests.view.story import adopted
from tools.sample_report import sample_page


def test_both_files_are_written_and_name_the_report(tmp_path: Path) -> None:
    folder = CampaignFolder(tmp_path / "digits")
    page = page_of(adopted().view())
    html, as_json = write_report(page, folder)
    assert (html, as_json) == (folder.report_html, folder.report_json)
    value = strictjson.read(as_json)
    assert value["report"] == str(html)
    assert value == strictjson.loads(strictjson.dumps(page_json(with_report(page, str(html)))))
    assert [path.name for path in sorted(folder.close.iterdir())] == ["report.html", "report.json"]


def test_writing_again_gives_the_same_bytes(tmp_path: Path) -> None:
    folder = CampaignFolder(tmp_path)
    page = page_of(adopted().view())
    first = [path.read_bytes() for path in write_report(page, folder)]
    assert [path.read_bytes() for path in write_report(page, folder)] == first


def test_the_sample_goes_through_journal_and_measurements(tmp_path: Path) -> None:
    page = sample_page(CampaignFolder(tmp_path))
    assert page.headline.text == "Adopt shift"
    assert [row.lost_steps for row in page.runs] == [0, 142, 0, 0]
    assert [chart.metric for chart in page.charts] == ["accuracy", "loss", "lr"]
    assert len(page.provenance.heads) == 7
    hot = page.charts[1].curves[3].series
    assert hot.non_finite == ((640, hot.non_finite[0][1]),)
