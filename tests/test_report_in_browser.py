"""Report and plan as a browser sees them: Chromium, light and dark, wide and narrow, from a file."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
import zlib
from collections.abc import Sequence
from html import unescape
from pathlib import Path

import pytest

from lastro.closeout.report import write_report
from lastro.locale import LANGUAGES
from lastro.paths import CampaignFolder
from lastro.view.plan_html import render_plan
from tools.sample_plan import sample_plan
from tools.sample_report import sample_page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.skipif(
        CHROMIUM is None and not os.environ.get("CI"), reason="needs Chromium: run `make system`"
    ),
    pytest.mark.timeout(300, func_only=True),
]


def chromium(profile: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run Chromium without a window. As root it needs --no-sandbox, nothing else is needed for that."""
    assert CHROMIUM is not None, "Chromium is not installed, and in CI nothing is skipped: run `make system`"
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
        "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic",
        f"--user-data-dir={profile}", "--virtual-time-budget=3000", *arguments,
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, timeout=240, check=True)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The sample of the report, and two plans (one fits, one does not), in each language."""
    found = {}
    for name in LANGUAGES:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LASTRO_LANG", name)
            folder = CampaignFolder(tmp_path_factory.mktemp(name))
            found[f"report {name}"] = write_report(sample_page(folder), folder)[0]
            for plan in ("campaign", "late"):
                page = folder.root / f"{plan}.html"
                page.write_text(render_plan(sample_plan(plan), [], frozen=False), encoding="utf-8")
                found[f"{plan} {name}"] = page
    return found


def pixels(png: bytes) -> tuple[int, int, list[bytes]]:
    """Return width, bytes a pixel, and rows of an 8-bit PNG that is not interlaced."""
    width, _height, depth, kind, _c, _f, interlaced = struct.unpack(">IIBBBBB", png[16:29])
    assert (depth, interlaced) == (8, 0)
    size = {2: 3, 6: 4}[kind]
    data, position = b"", 8
    while position < len(png):
        (length,) = struct.unpack(">I", png[position : position + 4])
        if png[position + 4 : position + 8] == b"IDAT":
            data += png[position + 8 : position + 8 + length]
        position += length + 12
    return width, size, _unfiltered(zlib.decompress(data), width * size, size)


def _unfiltered(raw: bytes, stride: int, size: int) -> list[bytes]:
    rows: list[bytes] = []
    before = bytearray(stride)
    for start in range(0, len(raw), stride + 1):
        kind, line = raw[start], bytearray(raw[start + 1 : start + 1 + stride])
        for index in range(stride) if kind else ():
            left = line[index - size] if index >= size else 0
            corner = before[index - size] if index >= size else 0
            line[index] = (line[index] + _predicted(kind, left, before[index], corner)) & 255
        rows.append(bytes(line))
        before = line
    return rows


def _predicted(kind: int, left: int, above: int, corner: int) -> int:
    if kind == 4:
        guess = left + above - corner
        return min((left, above, corner), key=lambda value: abs(guess - value))
    return {1: left, 2: above, 3: (left + above) // 2}[kind]


def brightness(pixel: Sequence[int]) -> float:
    return (0.2126 * pixel[0] + 0.7152 * pixel[1] + 0.0722 * pixel[2]) / 255


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_report_is_readable_in_both_themes(pages: dict[str, Path], tmp_path: Path, theme: str) -> None:
    report = pages["report en"]
    picture = tmp_path / "report.png"
    dark = ["--force-dark-mode"] if theme == "dark" else []
    chromium(tmp_path / "profile", "--window-size=800,900", *dark, f"--screenshot={picture}", report.as_uri())
    width, size, rows = pixels(picture.read_bytes())
    assert width == 800
    lights = [brightness(row[x : x + 3]) for row in rows[::2] for x in range(0, len(row), size * 2)]
    background = sorted(lights)[len(lights) // 2]
    assert background > 0.9 if theme == "light" else background < 0.15
    # The verdict and the texts stand out against it.
    readable = sum(abs(light - background) > 0.5 for light in lights) / len(lights)
    assert readable > 0.01


#: Each page in a frame of exactly the width that it is to fit.
FRAME = '<iframe src="{page}" data-width="{width}" style="width:{width}px;height:900px;border:0"></iframe>'
PROBE = """<!doctype html><html><body style="margin:0">
{frames}
<script>
const look = frame => {{
  const inner = frame.contentDocument, width = Number(frame.dataset.width);
  const root = inner.scrollingElement;
  const wide = [...inner.querySelectorAll('body *')].filter(e => {{
    const box = e.getBoundingClientRect();
    return box.width && box.right > width + 1 && !e.closest('svg, thead');  // the head is hidden there
  }});
  const texts = [...inner.querySelectorAll('svg text')].filter(e => {{
    const box = e.getBoundingClientRect();
    return box.width && (box.right > width + 1 || box.left < -1);
  }});
  const small = [...inner.querySelectorAll('svg text')].filter(e => {{
    const scale = e.getCTM() ? e.getCTM().a : 1;
    return parseFloat(inner.defaultView.getComputedStyle(e).fontSize) * scale < 8.5;
  }});
  const light = text => {{
    const [r, g, b] = text.match(/[\\d.]+/g).slice(0, 3).map(Number).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }};
  const behind = e => {{
    for (; e; e = e.parentElement) {{
      const found = inner.defaultView.getComputedStyle(e).backgroundColor;
      if (!/, 0\\)$/.test(found)) return found;
    }}
    return 'rgb(255, 255, 255)';
  }};
  const pale = [...inner.querySelectorAll('body *')].filter(e => {{
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) return false;
    const style = inner.defaultView.getComputedStyle(e);
    if (!e.getBoundingClientRect().width || e.closest('s, thead')) return false;
    const own = light(e.closest('svg') ? style.fill : style.color);
    const [a, b] = [own, light(behind(e))].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05) < 4.5;  // WCAG 2.2, level AA
  }});
  const loaded = inner.defaultView.performance.getEntriesByType('resource').map(e => e.name);
  return {{
    width: inner.documentElement.clientWidth, scroll: root.scrollWidth,
    wide: wide.map(e => e.tagName + '.' + e.className), texts: texts.map(e => e.textContent),
    small: small.map(e => e.textContent), pale: pale.map(e => e.textContent.slice(0, 30)),
    language: inner.documentElement.lang, loaded: loaded, headings: inner.querySelectorAll('h2').length,
  }};
}};
addEventListener('load', () => {{
  document.title = JSON.stringify([...document.querySelectorAll('iframe')].map(look));
}});
</script></body></html>"""


#: Which pages are looked at, and how wide; in one browser for each theme, since it takes seconds to start.
LOOKS = {
    "light": [("report pt_BR", 420), ("campaign en", 420), ("late pt_BR", 420), ("campaign pt_BR", 1280)],
    "dark": [("report en", 420), ("report pt_BR", 1280), ("campaign pt_BR", 420), ("late en", 1280)],
}


@pytest.mark.parametrize("theme", LOOKS)
def test_nothing_overflows_is_pale_or_is_loaded(pages: dict[str, Path], tmp_path: Path, theme: str) -> None:
    """A page of the same folder looks into the others through frames."""
    looks = LOOKS[theme]
    frames = [FRAME.format(page=pages[name].as_uri(), width=width) for name, width in looks]
    probe = tmp_path / "probe.html"
    probe.write_text(PROBE.format(frames="\n".join(frames)))
    dark = ["--force-dark-mode"] if theme == "dark" else []
    done = chromium(
        tmp_path / "profile", "--window-size=1400,1000", "--allow-file-access-from-files", *dark,
        "--enable-logging=stderr", "--v=0", "--dump-dom", probe.as_uri(),
    )  # fmt: skip
    found = re.search(r"<title>(.*?)</title>", done.stdout.decode(), re.S)
    assert found, done.stdout[:2000]
    told = json.loads(unescape(found[1]))
    assert len(told) == len(looks)
    for (name, width), one in zip(looks, told, strict=True):
        kind, language = name.split()
        assert one["width"] == width and one["headings"] >= (9 if kind == "report" else 5), name
        assert one["language"] == language.replace("_", "-"), name
        assert one["scroll"] <= width, name
        trouble = {key: one[key] for key in ("wide", "texts", "small", "pale", "loaded")}
        assert not any(trouble.values()), (name, trouble)
    assert [line for line in done.stderr.decode().splitlines() if "CONSOLE" in line] == []


@pytest.mark.parametrize(("page", "most"), [("report pt_BR", 9), ("campaign pt_BR", 5)])
def test_it_prints_to_a_few_pages(pages: dict[str, Path], tmp_path: Path, page: str, most: int) -> None:
    paper = tmp_path / "page.pdf"
    chromium(tmp_path / "profile", f"--print-to-pdf={paper}", pages[page].as_uri())

    count = re.findall(rb"/Type\s*/Page\b", paper.read_bytes())

    assert 2 <= len(count) <= most
