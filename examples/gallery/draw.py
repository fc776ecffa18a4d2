#!/usr/bin/env python3
"""Draws the pictures of docs/gallery.md from what the program has written.

    draw.py losses OUT.svg NAME=LOG...       the gap of each run against its passes
    draw.py path OUT.svg LOG                 held-out F1 and passes along a path over l2
    draw.py transitions OUT.svg WEIGHTS      the weights of label pairs; WEIGHTS is the output of `espalier show --weights`
    draw.py pixels OUT.svg NAME=FILE...      pictures as graphs, side by side: what was seen, and labels of files
"""

import json
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from bench import plot  # noqa: E402  (charts as SVG, without a library)

COLOURS = [plot.BLUE, plot.ORANGE, plot.GREEN, plot.PURPLE]


def records(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def progress(path):
    return [r for r in records(path) if r["event"] == "progress"]


def losses(out, runs):
    series = []
    for (name, log), colour in zip(runs, COLOURS):
        reports = progress(log)
        series.append(plot.Series(name, [r["pass"] for r in reports], [r["relative_gap"] for r in reports], colour))
    plot.write(out, "How the gap falls", [plot.Panel("one core, --l2 4", "passes over the data", "relative gap", series, log_y=True)])


def path(out, log):
    last = {r["l2"]: r for r in progress(log)}  # the last report of each value
    values = sorted(last)
    passes, before = [], 0.0
    for r in last.values():
        passes.append(r["pass"] - before)
        before = r["pass"]
    f1 = plot.Series("held-out F1", values, [100 * last[v]["dev"]["f1"] for v in values], plot.BLUE)
    cost = plot.Series("passes, each value from the last", list(last), passes, plot.ORANGE)
    panels = [plot.Panel("How good", "l2", "F1, %", [f1], log_x=True),
              plot.Panel("What it takes", "l2", "passes", [cost], log_x=True, y_range=(0, max(passes)))]
    plot.write(out, "A path over l2", panels)


def svg(out, width, height, elements):
    out.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif">\n<rect width="100%" height="100%" fill="#fff"/>\n' + "\n".join(elements) + "\n</svg>\n",
        encoding="utf-8")


def shade(weight, largest):
    """From red for the most negative weight over white for none to blue for the most positive."""
    share = 1 - abs(weight) / largest
    red, green, blue = (0, 114, 178) if weight > 0 else (213, 94, 0)
    mixed = [round(c + share * (255 - c)) for c in (red, green, blue)]
    return f"rgb({mixed[0]},{mixed[1]},{mixed[2]})"


def transitions(out, weights):
    table = {}
    with open(weights, encoding="utf-8") as lines:
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            if fields[0] == "(transition)":
                table[fields[1], fields[2]] = float(fields[3])
    labels = sorted({a for pair in table for a in pair}, key=lambda a: (a.split("-")[::-1]))
    largest = max(abs(w) for w in table.values())
    side, left, top = 52, 80, 60
    elements = [plot.text(left + side * len(labels) / 2, 18, "the label after", size=13)]
    for i, label in enumerate(labels):
        elements.append(plot.text(left + side * (i + 0.5), top - 8, label, size=11))
        elements.append(plot.text(left - 8, top + side * (i + 0.5) + 4, label, anchor="end", size=11))
        for j, after in enumerate(labels):
            weight = table.get((label, after), 0.0)
            x, y = left + side * j, top + side * i
            colour = "#fff" if abs(weight) > 0.6 * largest else plot.BLACK
            elements.append(f'<rect x="{x}" y="{y}" width="{side - 2}" height="{side - 2}" fill="{shade(weight, largest)}"/>')
            elements.append(plot.text(x + side / 2 - 1, y + side / 2 + 3, f"{weight:+.1f}", colour=colour, size=11))
    svg(out, left + side * len(labels) + 20, top + side * len(labels) + 16, elements)


def dark_pixels(graph, labels):
    """Which nodes are dark: as they were seen, or as they are labelled."""
    if labels == "seen":
        return [node["features"] == ["dark"] for node in graph["nodes"]]
    return [label == "ink" for label in graph["labels"]]


def pixels(out, columns, shown=6):
    """A row for each of the first pictures, a column for each file; `seen` as a name shows what was observed in it."""
    dot, gap, left, top = 9, 24, 20, 40
    elements = []
    for c, (name, file) in enumerate(columns):
        graphs = records(file)[:shown]
        for r, graph in enumerate(graphs):
            dark = dark_pixels(graph, name)
            width = math.isqrt(len(dark))
            x0, y0 = left + c * (width * dot + gap), top + r * (width * dot + gap)
            elements.append(f'<rect x="{x0}" y="{y0}" width="{width * dot}" height="{width * dot}" fill="#eee"/>')
            elements += [f'<rect x="{x0 + i % width * dot}" y="{y0 + i // width * dot}" width="{dot}" height="{dot}" fill="#222"/>'
                         for i, is_dark in enumerate(dark) if is_dark]
            if r == 0:
                elements.append(plot.text(x0 + width * dot / 2, top - 12, name, size=12))
    side = width * dot + gap
    svg(out, 2 * left - gap + len(columns) * side, top + shown * side, elements)


def main():
    if len(sys.argv) < 4 or sys.argv[1] not in ("losses", "path", "transitions", "pixels"):
        sys.exit(__doc__)
    kind, out, inputs = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    if kind in ("losses", "pixels"):
        {"losses": losses, "pixels": pixels}[kind](out, [tuple(i.split("=", 1)) for i in inputs])
    else:
        {"path": path, "transitions": transitions}[kind](out, inputs[0])


if __name__ == "__main__":
    main()
