"""EG against excessive gap with a cubic kernel (Zhang et al. 2011, section 4.3): the gap against passes, on one fold of letters.

    python3 -m bench.papers.ocr.figure

Excessive gap reduction promises a gap of O(1/k^2) after k passes, that is O(1/sqrt(eps)) passes to a gap of eps: on
logarithmic axes a line of slope -2.
"""

import argparse
import math
import tempfile
from pathlib import Path

from bench import lib, plot
from bench.papers.ocr import data
from bench.papers.ocr.table import CUBIC

SOLVERS = {
    "eg": (("--solver", "eg"), plot.BLUE),
    "excessive-gap": (("--solver", "excessive-gap"), plot.RED),
    "excessive-gap, the paper's steps": (("--solver", "excessive-gap", "--step", "paper"), plot.ORANGE),
    "frank-wolfe": (("--solver", "frank-wolfe"), plot.GREEN),
}


def measure(name, train, arguments):
    run = lib.espalier("train", "tag", train, "--format", "crfsuite", *CUBIC, "--loss", "svm", "--l2", arguments.l2,
                       "--gap", arguments.gap, "--passes", arguments.passes, "--report-every", 2, *SOLVERS[name][0])
    for event in run.progress:
        yield {"solver": name, "passes": event["pass"], "seconds": event["seconds"], "gap": event["gap"],
               "relative_gap": event["relative_gap"], "primal": event["primal"], "dual": event["dual"]}


def slope(points):
    """Of log gap against log passes over the last half of the way, by least squares."""
    points = [(math.log(p["passes"]), math.log(p["gap"])) for p in points if p["gap"] > 0 and p["passes"] > 0]
    points = [p for p in points if p[0] >= points[-1][0] - math.log(10)]
    x, y = (sum(values) / len(points) for values in zip(*points))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data.add_options(parser)
    parser.add_argument("--l2", type=float, default=10)
    parser.add_argument("--first", type=int, default=150, help="words of the fold (default: %(default)s)")
    parser.add_argument("--passes", type=float, default=300, help="most passes of a run (default: %(default)s)")
    parser.add_argument("--gap", type=float, default=1e-3, help="where a run ends earlier (default: %(default)s)")
    arguments = parser.parse_args()

    lib.use_one_core()
    rows, printed = [], []
    with tempfile.TemporaryDirectory() as folder:
        train = data.write(Path(folder) / "fold0.crfsuite", data.read_words(arguments.ocr)[0][: arguments.first])
        for name in SOLVERS:
            lib.note(name)
            found = list(measure(name, train, arguments))
            rows += found
            last = found[-1]
            printed.append([name, f"{last['passes']:.0f}", f"{last['relative_gap']:.1e}", f"{last['seconds']:.1f}",
                            f"{slope(found):.2f}"])
    lib.keep("ocr-gap", rows, l2=arguments.l2)
    series = [plot.Series(name, [r["passes"] for r in rows if r["solver"] == name],
                          [r["relative_gap"] for r in rows if r["solver"] == name], colour)
              for name, (_, colour) in SOLVERS.items()]
    ends = (10, arguments.passes)
    series.append(plot.Series("1/passes^2", list(ends), [100 / end**2 for end in ends], plot.BLACK, "6 4"))
    panel = plot.Panel(f"cubic kernel, svm, {arguments.first} words, l2 = {arguments.l2:g}", "passes over the data", "relative gap", series,
                       log_x=True, log_y=True, y_range=(arguments.gap / 2, 1))
    plot.write(lib.RESULTS / "ocr-gap.svg", "EG and excessive gap", [panel])
    print(lib.table(["solver", "passes", "relative gap", "seconds", "slope of the last decade"], printed))
    print(f"\nPicture: {(lib.RESULTS / 'ocr-gap.svg').relative_to(lib.ROOT)}\n\n{lib.provenance()}")


if __name__ == "__main__":
    main()
