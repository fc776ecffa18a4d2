"""Line charts as SVG: panels side by side, linear or logarithmic axes, one legend, a label at the end of each line."""

import math
from dataclasses import dataclass
from html import escape

# After Okabe and Ito, whose colours most colour-blind readers can tell apart; darker where text would be pale.
BLUE, ORANGE, GREEN, PURPLE, RED, BLACK = "#0072b2", "#c98500", "#009e73", "#b0559a", "#d55e00", "#222222"

WIDTH, HEIGHT = 400, 270  # of a panel's plotting area
LEFT, RIGHT, TOP, BOTTOM = 78, 84, 34, 52  # around it
LINE = 14  # between two lines of text


@dataclass
class Series:
    name: str  # in the legend; lines of the same name share an entry
    xs: list
    ys: list
    colour: str
    dash: str = ""  # SVG's stroke-dasharray
    label: str = ""  # beside the end of the line


@dataclass
class Panel:
    title: str
    x_label: str
    y_label: str
    series: list
    log_x: bool = False
    log_y: bool = False
    x_range: tuple | None = None  # default: all of the data
    y_range: tuple | None = None


class Axis:
    """Maps values to pixels from `first` to `last`."""

    def __init__(self, values, log, limits, first, last):
        values = [v for v in values if math.isfinite(v) and (v > 0 or not log)]
        low, high = limits or (min(values, default=1), max(values, default=1))
        if low == high:
            low, high = (low / 2, high * 2) if log else (low - 1, high + 1)
        self.low, self.high, self.log, self.first, self.last = low, high, log, first, last

    def pixel(self, value):
        if self.log:
            # Far below a logarithmic axis is as good as minus infinity.
            value = max(value, self.low * 1e-3)
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.first + share * (self.last - self.first)

    def inside(self, value):
        slack = 1e-9 * (self.high - self.low)
        return self.low - slack <= value <= self.high + slack

    def ticks(self):
        if not self.log:
            rough = (self.high - self.low) / 5
            power = 10 ** math.floor(math.log10(rough))
            step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
            first = math.ceil(self.low / step - 1e-9)
            last = math.floor(self.high / step + 1e-9)
            return [i * step for i in range(first, last + 1)]
        decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        ticks = [10.0**d for d in decades if self.inside(10.0**d)]
        if len(ticks) < 3:
            return [m * 10.0**d for d in decades for m in (1, 2, 5) if self.inside(m * 10.0**d)]
        return ticks[:: math.ceil(len(ticks) / 7)]


def number(value):
    if value != 0 and (abs(value) < 1e-3 or abs(value) >= 1e7):
        return f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")
    return f"{value:,.10g}"


def spread(positions, low, high):
    """Moves positions apart until lines of text at them do not overlap, and keeps their order."""
    order = sorted(range(len(positions)), key=lambda i: positions[i])
    placed, floor = dict.fromkeys(order, 0.0), low
    for i in order:
        placed[i] = floor = max(positions[i], floor)
        floor += LINE
    ceiling = high
    for i in reversed(order):
        placed[i] = ceiling = min(placed[i], ceiling)
        ceiling -= LINE
    return [placed[i] for i in range(len(positions))]


def text(x, y, words, anchor="middle", colour=BLACK, size=12, extra=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-size="{size}" {extra}>'
            f"{escape(words)}</text>")


def stroke(colour, dash, width=1.8):
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'fill="none" stroke="{colour}" stroke-width="{width}" stroke-linejoin="round"{dashes}'


def draw_panel(panel, left, top, clip):
    """The elements of one panel whose plotting area starts at (left, top)."""
    right, bottom = left + WIDTH, top + HEIGHT
    x = Axis([v for s in panel.series for v in s.xs], panel.log_x, panel.x_range, left, right)
    y = Axis([v for s in panel.series for v in s.ys], panel.log_y, panel.y_range, bottom, top)
    out = [f'<clipPath id="{clip}"><rect x="{left}" y="{top}" width="{WIDTH}" height="{HEIGHT}"/></clipPath>',
           text(left + WIDTH / 2, top - 12, panel.title, size=13, extra='font-weight="bold"'),
           text(left + WIDTH / 2, bottom + 38, panel.x_label),
           text(left - 60, top + HEIGHT / 2, panel.y_label,
                extra=f'transform="rotate(-90 {left - 60} {top + HEIGHT / 2})"')]
    for value in x.ticks():
        at = x.pixel(value)
        out.append(f'<line x1="{at:.1f}" y1="{top}" x2="{at:.1f}" y2="{bottom}" stroke="#e4e4e4"/>')
        out.append(text(at, bottom + 18, number(value), size=11))
    for value in y.ticks():
        at = y.pixel(value)
        out.append(f'<line x1="{left}" y1="{at:.1f}" x2="{right}" y2="{at:.1f}" stroke="#e4e4e4"/>')
        out.append(text(left - 7, at + 4, number(value), "end", size=11))
    out.append(f'<rect x="{left}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#888888"/>')

    ends = []
    for series in panel.series:
        points = [(x.pixel(a), y.pixel(b)) for a, b in zip(series.xs, series.ys)
                  if math.isfinite(a) and math.isfinite(b) and (a > 0 or not panel.log_x)]
        if not points:
            continue
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        out.append(f'<polyline points="{path}" clip-path="url(#{clip})" {stroke(series.colour, series.dash)}/>')
        if series.label:
            # Where the line leaves the picture, or ends.
            end = next((p for p in reversed(points) if p[0] <= right + 0.1), points[0])
            ends.append((series, end[0], min(max(end[1], top), bottom)))
    places = spread([end[2] for end in ends], top + 4, bottom - 2)
    for (series, end_x, end_y), place in zip(ends, places):
        out.append(f'<circle cx="{end_x:.1f}" cy="{end_y:.1f}" r="2.6" fill="{series.colour}"/>')
        out.append(f'<line x1="{end_x:.1f}" y1="{end_y:.1f}" x2="{right + 7}" y2="{place:.1f}" opacity="0.45" '
                   f'{stroke(series.colour, "1 3", 1)}/>')
        out.append(text(right + 10, place + 4, series.label, "start", series.colour, 11))
    return out


def draw_legend(panels, width, top):
    """The legend's elements and its height: as many entries in a row as fit."""
    entries = {}
    for panel in panels:
        for series in panel.series:
            entries.setdefault(series.name, series)
    out, at = [], 24
    for series in entries.values():
        length = 44 + 6.2 * len(series.name)
        if at + length > width and at > 24:
            at, top = 24, top + 20
        out.append(f'<line x1="{at}" y1="{top}" x2="{at + 30}" y2="{top}" {stroke(series.colour, series.dash, 2.2)}/>')
        out.append(text(at + 36, top + 4, series.name, "start"))
        at += length + 18
    return out, top


def write(path, title, panels, columns=2):
    """Draws the panels, row by row, into an SVG file."""
    columns = min(columns, len(panels))
    rows = math.ceil(len(panels) / columns)
    cell_width, cell_height = LEFT + WIDTH + RIGHT, TOP + HEIGHT + BOTTOM
    width = columns * cell_width
    legend, legend_end = draw_legend(panels, width, 56)
    start = legend_end + 14
    height = start + rows * cell_height
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           f'viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, sans-serif">',
           f'<rect width="{width}" height="{height}" fill="white"/>',
           text(24, 28, title, "start", size=16, extra='font-weight="bold"'), *legend]
    for i, panel in enumerate(panels):
        left = (i % columns) * cell_width + LEFT
        top = start + (i // columns) * cell_height + TOP
        out += draw_panel(panel, left, top, f"panel{i}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*out, "</svg>"]) + "\n")
