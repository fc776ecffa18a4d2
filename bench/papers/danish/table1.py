"""Table 1 of Martins et al. 2010, dependency parsing: losses from the CRF to the SVM, non-projective trees, on Danish.

    python3 -m bench.papers.danish.table1
"""

import argparse
import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench import lib
from bench.papers.danish import data


@dataclass
class Row:
    """A column of the paper's table."""

    name: str
    loss: str  # beta, gamma
    paper_c: float  # the best one; our 1/l2
    paper_uas: float  # percent
    gap: float = 1e-3  # near the SVM small gaps are dear
    smallest: float = 1  # l2 of the path
    options: tuple = ()


# Martins, Gimpel, Smith, Xing, Figueiredo and Aguiar, "Learning Structured Classifiers with Dual Coordinate Ascent",
# CMU-ML-10-109 (2010), Table 1, dependency parsing: English, arc-factored.
ROWS = (
    Row("beta 1, gamma 0 (CRF)", "1,0", 0.1, 90.76, smallest=0.3),
    Row("beta 1, gamma 1", "1,1", 0.01, 90.95, smallest=0.3),
    Row("beta 1, gamma 3", "1,3", 0.01, 91.04),
    Row("beta 1, gamma 5", "1,5", 0.01, 91.01),
    Row("beta 3, gamma 1", "3,1", 0.01, 90.94, gap=1e-2),
    Row("beta 5, gamma 1", "5,1", 0.01, 90.91, gap=1e-2),
    Row("beta inf, gamma 1 (SVM)", "inf,1", 0.1, 90.75, gap=1e-2, smallest=3, options=("--passes", 300)),
)
LARGEST, FACTOR = 100, 0.1 ** 0.5  # l2 100, 31.6, 10, 3.16, 1, 0.316


def measure(row, order, files, first):
    lib.note(f"{row.name}, order {order}")
    train, dev, test = files
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.esp"
        run = lib.espalier("path", "parse", train, "--dev", dev, *data.MODEL, "--loss", row.loss, "--gap", row.gap,
                           "--l2-max", LARGEST, "--l2-min", row.smallest, "--factor", FACTOR, *row.options,
                           *data.order(order), *first, model=model)
        said = subprocess.run([lib.PROGRAM, "eval", model, test, "--json"], stdout=subprocess.PIPE, check=True)
    test_scores = json.loads(said.stdout)
    last = {event["l2"]: event for event in run.progress}
    best = max(last.values(), key=lambda event: event["dev"]["uas"])
    return {
        "name": row.name,
        "loss": row.loss,
        "order": order,
        "gap": row.gap,
        "l2": best["l2"],
        "dev_uas": best["dev"]["uas"],
        "test_uas": test_scores["uas"],
        "test_uas_nopunct": test_scores["uas_nopunct"],
        "paper_c": row.paper_c,
        "paper_uas": row.paper_uas,
        "passes": run.last["pass"],
        "seconds": run.last["seconds"],
        "wall_seconds": run.wall_seconds,
        "path": [{"l2": l2, "pass": event["pass"], "relative_gap": event["relative_gap"],
                  "dev_uas": event["dev"]["uas"]} for l2, event in last.items()],
    }


def cells(row):
    unfinished = row["path"][-1]["relative_gap"] > row["gap"]
    return [f"{row['l2']:.3g}", f"{100 * row['dev_uas']:.2f}", f"{100 * row['test_uas']:.2f}",
            f"{100 * row['test_uas_nopunct']:.2f}",
            f"{row['passes']:.0f}" + (f", at l2 = {row['path'][-1]['l2']:.3g}" if unfinished else ""),
            f"{row['seconds']:.0f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data.add_options(parser)
    parser.add_argument("--losses", nargs="+", choices=[row.loss for row in ROWS], metavar="BETA,GAMMA",
                        default=[row.loss for row in ROWS], help="some of %(default)s (default: all)")
    arguments = parser.parse_args()

    lib.use_one_core()
    files, first = data.files(arguments.danish), data.first(arguments)
    kept = [row for row in ROWS if row.loss in arguments.losses]
    rows = [measure(row, order, files, first) for row in kept for order in arguments.orders]
    lib.keep("danish", rows)

    print("Danish, non-projective, unlabelled, a path of l2 from 100 down for each loss; l2 by UAS on the "
          "development data, UAS of that model on test, in the column \"words\" without punctuation, as the paper "
          "counts. Paper: Martins et al. 2010, Table 1, C = 1/l2, English, first order.\n")
    titles = ["l2", "dev UAS", "test UAS", "words", "passes", "seconds"]
    print(lib.table(["", "gap", *(title if order == 1 else f"{title}, order {order}"
                                  for order in arguments.orders for title in titles), "1/C, paper", "words, paper"],
                    [[row.name, f"{row.gap:g}",
                      *(cell for found in rows if found["loss"] == row.loss for cell in cells(found)),
                      f"{1 / row.paper_c:g}", f"{row.paper_uas:.2f}"] for row in kept]))
    print(f"\n{sum(row['wall_seconds'] for row in rows):.0f} s in all.\n\n{lib.provenance()}")


if __name__ == "__main__":
    main()
