"""Figure 4 of Martins et al. 2010, redrawn on Danish: learning curves of DCA, eg and SGD, CRF, non-projective trees.

    python3 -m bench.papers.danish.figure4
"""

import argparse
import math

from bench import lib, plot
from bench.papers.curves import MEASURES, Curves, Solver, reports
from bench.papers.danish import data

COLOURS = {100: plot.GREEN, 10: plot.RED, 1: plot.PURPLE}
SOLVERS = {
    "dca": Solver("DCA", ("--solver", "dca"), plot.RED, "DCA"),
    "eg": Solver("eg", ("--solver", "eg"), plot.BLUE, "eg"),
    "sgd": Solver("SGD", ("--solver", "sgd"), plot.ORANGE, "SGD"),
}
DASHES = {"dca": "2 3", "eg": "", "sgd": "6 4"}


def uas(row):
    return 100 * row["uas"]


def panel(curves, title, l2s):
    series = [curves.line(key, l2, uas, f"{solver.name}, l2 = {l2}", colour, DASHES[key], f"{solver.label}, {l2}")
              for key, solver in SOLVERS.items() for l2, colour in COLOURS.items() if l2 in l2s]
    high = math.ceil(max(value for line in series for value in line.ys) + 0.5)
    return curves.panel(title, "UAS on the development data, %", series, y_range=(high - 10, high))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data.add_options(parser)
    parser.add_argument("--l2", type=float, nargs="+", default=list(COLOURS), choices=list(COLOURS), metavar="L2",
                        help="some of %(default)s (default: all)")
    parser.add_argument("--passes", type=float, default=20, help="of a run (default: %(default)s)")
    arguments = parser.parse_args()

    lib.use_one_core()
    train, dev, _ = data.files(arguments.danish)
    rows = []
    for order in arguments.orders:
        for l2 in arguments.l2:
            for key, solver in SOLVERS.items():
                lib.note(f"order {order}, l2 = {l2}: {solver.name}")
                run = lib.espalier("train", "parse", train, "--dev", dev, *data.MODEL, "--l2", l2, "--gap", 1e-4,
                                   "--passes", arguments.passes, "--report-every", 1, *solver.options,
                                   *data.order(order), *data.first(arguments))
                rows += [{"order": order, **row} for row in reports(run, key, l2, "uas")]
    lib.keep("danish-curves", rows, first=arguments.first, passes=arguments.passes)
    for x in MEASURES:
        panels = [panel(Curves([row for row in rows if row["order"] == order], x, SOLVERS, COLOURS), f"order {order}", arguments.l2)
                  for order in arguments.orders]
        plot.write(lib.RESULTS / f"danish-figure4-{x}.svg", f"Figure 4: DCA, eg and SGD on Danish, by {x}", panels)

    print("Danish, CRF, non-projective, unlabelled: the best UAS on the development data in a run of "
          f"{arguments.passes:g} passes at most, and when it was first there. The five passes in which SGD chooses its "
          "rate count.\n")
    printed = []
    for order in arguments.orders:
        for l2 in arguments.l2:
            for key, solver in SOLVERS.items():
                run = [row for row in rows if (row["order"], row["l2"], row["solver"]) == (order, l2, key)]
                best = max(run, key=uas)
                printed.append([solver.name, order, l2, f"{uas(best):.2f}", f"{best['passes']:.1f}",
                                f"{best['seconds']:.1f}", f"{uas(run[-1]):.2f}"])
    print(lib.table(["solver", "order", "l2", "best UAS", "passes", "seconds", "last UAS"], printed))
    print(f"\nPictures: {lib.RESULTS.relative_to(lib.ROOT)}/danish-figure4-*.svg\n\n{lib.provenance()}")


if __name__ == "__main__":
    main()
