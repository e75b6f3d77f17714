"""Draws what a save costs, in two themes: `python -m benchmarks.picture RESULT.json docs/save`.

RESULT.json is what `python -m benchmarks checkpoint --json` prints; written are docs/save-light.svg and
docs/save-dark.svg.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

#: From above to below; of a result without one of them, the others.
METHODS = (
    "torch.save + fsync", "safetensors + fsync", "Accelerate save_state + fsync", "Fabric.save + fsync",
    "DCP save", "DCP async_save, kept stager", "lastro",
)  # fmt: skip
WIDTH, ROW, LEFT, RIGHT, TOP = 740, 54, 225, 60, 64
_DURABLE = {"lastro": "lastro: durable, hashed, published"}


@dataclass(frozen=True, kw_only=True)
class Theme:
    """Colours of the page, as `view/templates/report.css` has them."""

    paper: str
    ink: str
    soft: str
    rule: str
    stands: str
    slows: str
    durable: str


THEMES = {
    "light": Theme(
        paper="#faf9f6", ink="#1b2330", soft="#566070", rule="#e5e1d9", stands="#b3261e", slows="#b25310",
        durable="#1d63c4",
    ),
    "dark": Theme(
        paper="#12161c", ink="#e9e7e2", soft="#a6aebb", rule="#2c343f", stands="#f2938a", slows="#f0a065",
        durable="#74aaf7",
    ),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Bars:
    """Seconds of one way to save: the loop stood still, it lost in all, until the save was durable."""

    name: str
    blocked: float
    taken: float
    durable: float


def bars_of(result: Mapping[str, Any]) -> tuple[Bars, ...]:
    """Return what the benchmark has measured, in the order of the picture. Raises KeyError for others."""
    values = {measure["name"]: float(measure["value"]) for measure in result["measures"]}
    return tuple(
        Bars(
            name=name,
            blocked=values[f"{name}: blocked"],
            taken=values[f"{name}: blocked + slowdown"],
            durable=values[_DURABLE.get(name, f"{name}: durable")],
        )
        for name in METHODS
        if name == "lastro" or f"{name}: blocked" in values
    )


def draw(bars: tuple[Bars, ...], theme: Theme, title: str) -> str:
    """Return an SVG: for each way the seconds of the loop above those until it is durable."""
    scale = (WIDTH - LEFT - RIGHT) / max(max(one.taken, one.durable) for one in bars)
    height = TOP + ROW * len(bars) + 12
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'font-family="system-ui, sans-serif" font-size="13">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="{theme.paper}"/>',
        *_legend(theme, title),
    ]
    for number, one in enumerate(bars):
        lines += _row(one, TOP + ROW * number, scale, theme)
    return "\n".join([*lines, "</svg>", ""])


def _legend(theme: Theme, title: str) -> Iterator[str]:
    yield f'<text x="16" y="24" fill="{theme.ink}" font-weight="600">{escape(title)}</text>'
    at = 16
    for text, colour in (
        ("the loop stands still", theme.stands),
        ("it is slowed down", theme.slows),
        ("until it is durable", theme.durable),
    ):
        yield f'<rect x="{at}" y="38" width="10" height="10" fill="{colour}"/>'
        yield f'<text x="{at + 15}" y="47" fill="{theme.soft}">{text}</text>'
        at += 30 + 7 * len(text)


def _row(one: Bars, top: int, scale: float, theme: Theme) -> Iterator[str]:
    weight = ' font-weight="600"' if one.name == "lastro" else ""
    yield f'<line x1="16" x2="{WIDTH - 16}" y1="{top}" y2="{top}" stroke="{theme.rule}"/>'
    yield f'<text x="16" y="{top + 31}" fill="{theme.ink}"{weight}>{escape(one.name)}</text>'
    still, lost, durable = (seconds * scale for seconds in (one.blocked, one.taken, one.durable))
    yield f'<rect x="{LEFT}" y="{top + 9}" width="{still:.1f}" height="16" fill="{theme.stands}"/>'
    slowed, begins = max(0.0, lost - still), LEFT + still
    yield f'<rect x="{begins:.1f}" y="{top + 9}" width="{slowed:.1f}" height="16" fill="{theme.slows}"/>'
    yield f'<text x="{LEFT + lost + 6:.1f}" y="{top + 21}" fill="{theme.soft}">{one.taken:.2f} s</text>'
    yield f'<rect x="{LEFT}" y="{top + 29}" width="{durable:.1f}" height="16" fill="{theme.durable}"/>'
    yield f'<text x="{LEFT + durable + 6:.1f}" y="{top + 41}" fill="{theme.soft}">{one.durable:.2f} s</text>'


def main(arguments: list[str]) -> int:
    source, prefix = arguments
    result = json.loads(Path(source).read_text(encoding="utf-8"))["benchmarks"]["checkpoint"]
    title = f"A save of {result['notes'][0].split(',')[0]}, in seconds"
    for name, theme in THEMES.items():
        Path(f"{prefix}-{name}.svg").write_text(draw(bars_of(result), theme, title), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
