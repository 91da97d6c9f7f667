"""Figures as one SVG page of charts, dark where the reader likes it so."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape

from .tables import ENDS, chosen

WIDTH = 760
_LEFT, _RIGHT = 220, 130
"""Room for the names and for the numbers beside the bars."""
_PLOT = WIDTH - _LEFT - _RIGHT
_ROW = 26
_BINS = 40

_STYLE = """
.ground { fill: #ffffff; }
text { font: 13px system-ui, sans-serif; fill: #24292f; }
.title { font-size: 17px; font-weight: 600; }
.heading { font-weight: 600; }
.quiet { fill: #6e7781; font-size: 12px; }
.name, .end { text-anchor: end; }
.middle { text-anchor: middle; }
.bar { fill: #4a7fb5; }
.line { stroke: #8c959f; stroke-width: 1; }
.even { stroke: #c26a2d; stroke-width: 1.5; stroke-dasharray: 4 3; }
.range { stroke: #24292f; stroke-width: 1.5; }
@media (prefers-color-scheme: dark) {
  .ground { fill: #0d1117; }
  text { fill: #e6edf3; }
  .quiet { fill: #9198a1; }
  .range { stroke: #e6edf3; }
}
"""


def page(shown: dict[str, Any]) -> str:
    """The charts of what `figures` has found, as an SVG document."""
    draw = _Page()
    draw.text(16, f"{shown['ruleset']}, {shown['seats']} seats", "title", step=22)
    draw.text(
        16,
        f"{shown['games']:,} games, {shown['rounds']:,} rounds, seed {shown['seed']}: "
        f"{', '.join(shown['bots'])}",
        "quiet",
        step=18 if shown["options"] else 30,
    )
    if shown["options"]:
        draw.text(16, chosen(shown["options"]), "quiet", step=30)
    won, even = shown["won"], 1 / shown["seats"]
    draw.rates(
        "Rounds won by a seat, by its bot",
        {kind: rates["rounds"] for kind, rates in won["by_bot"].items()},
        even,
    )
    draw.rates(
        "Rounds won by a seat, by its number",
        {f"seat {seat}": rates["rounds"] for seat, rates in won["by_seat"].items()},
        even,
    )
    draw.rates(
        "Rounds won by a seat, by its place in the round (1 begins)",
        {f"place {place}": rate for place, rate in won["by_place"].items()},
        even,
    )
    draw.histogram("Moves a round", shown["moves_in_rounds"])
    draw.shares("How rounds ended", shown["ended"]["rounds"], shown["rounds"])
    return draw.document()


class _Page:
    """SVG elements, put below each other."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._y = 28.0

    def document(self) -> str:
        height = round(self._y)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" role="img">'
        )
        ground = '<rect width="100%" height="100%" class="ground"/>'
        return "\n".join([head, f"<style>{_STYLE}</style>", ground, *self._parts, "</svg>", ""])

    def text(self, x: float, text: str, kind: str = "", step: float = 0) -> None:
        self._put_text(x, self._y, text, kind)
        self._y += step

    def rates(self, heading: str, rates: dict[str, dict[str, Any]], even: float) -> None:
        """Bars with their 95% intervals, and the rate at which all seats would be even."""
        self.text(16, heading, "heading", step=12)
        top = self._y
        full = max(0.01, even, *(rate["high"] for rate in rates.values()))
        for name, rate in rates.items():
            number = f"{rate['rate']:.1%}"
            middle = self._bar(name, rate["rate"] / full, number)
            low, high = (_LEFT + _PLOT * rate[end] / full for end in ("low", "high"))
            self._line(low, middle, high, middle, "range")
            for end in (low, high):
                self._line(end, middle - 4, end, middle + 4, "range")
        x = _LEFT + _PLOT * even / full
        self._line(x, top, x, self._y, "even")
        self._put_text(x, self._y + 14, f"even: {even:.1%}", "quiet middle")
        self._y += 44

    def shares(self, heading: str, counts: dict[str, int], total: int) -> None:
        """Bars of parts of a whole."""
        self.text(16, heading, "heading", step=12)
        for name, count in counts.items():
            share = count / total
            self._bar(ENDS.get(name, name), share, f"{count:,} ({share:.1%})")
        self._y += 24

    def histogram(self, heading: str, counts: list[tuple[int, int]]) -> None:
        """How often each number came, in at most `_BINS` steps of equal width."""
        least, most = counts[0][0], counts[-1][0]
        step = (most - least) // _BINS + 1
        steps = f", in steps of {step}" if step > 1 else ""
        self.text(16, heading + steps, "heading", step=12)
        bins = [0] * ((most - least) // step + 1)
        for number, count in counts:
            bins[(number - least) // step] += count
        height, wide = 120.0, _PLOT / len(bins)
        base = self._y + height
        for place, count in enumerate(bins):
            tall = height * count / max(bins)
            self._rect(_LEFT + place * wide, base - tall, max(wide - 1, 0.5), tall)
        self._line(_LEFT, base, _LEFT + _PLOT, base, "line")
        for place in range(0, len(bins), max(1, len(bins) // 8)):
            x = _LEFT + (place + 0.5) * wide
            self._put_text(x, base + 16, str(least + place * step), "quiet middle")
        self._put_text(_LEFT - 8, base - height + 10, f"{max(bins):,} rounds", "quiet name")
        self._y = base + 48

    def _bar(self, name: str, share: float, number: str) -> float:
        middle = self._y + _ROW / 2
        self._put_text(_LEFT - 8, middle + 4, name, "name")
        self._rect(_LEFT, middle - 8, max(_PLOT * share, 0.5), 16)
        self._put_text(WIDTH - 16, middle + 4, number, "end")
        self._y += _ROW
        return middle

    def _put_text(self, x: float, y: float, text: str, kind: str) -> None:
        self._parts.append(f'<text x="{x:g}" y="{y:g}" class="{kind}">{escape(text)}</text>')

    def _rect(self, x: float, y: float, width: float, height: float) -> None:
        box = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
        self._parts.append(f'<rect {box} class="bar"/>')

    def _line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        self._parts.append(f'<line {ends} class="{kind}"/>')
