"""Table 1 of Martins et al. 2010, named entities: losses from the CRF to the SVM on CoNLL-2003, ours beside theirs.

    python3 -m bench.papers.ner.table1
"""

import argparse
import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench import lib
from bench.papers.ner import data


@dataclass
class Column:
    """Of the paper's table."""

    name: str
    loss: str  # beta, gamma
    paper_c: float | None = None  # the best one; our 1/l2
    paper_f1: float | None = None  # on testb
    gap: float = 1e-3  # near the SVM small gaps are dear, and change hardly any tag
    options: tuple = ()


# Martins, Gimpel, Smith, Xing, Figueiredo and Aguiar, "Learning Structured Classifiers with Dual Coordinate Ascent",
# CMU-ML-10-109 (2010), Table 1, NER.
COLUMNS = (
    Column("beta 1, gamma 0 (CRF)", "1,0", 1, 0.8548),
    Column("beta 1, gamma 1", "1,1", 10, 0.8554),
    Column("beta 1, gamma 3", "1,3", 1, 0.8565),
    Column("beta 1, gamma 5", "1,5", 1, 0.8572),
    Column("beta 3, gamma 1", "3,1", 1, 0.8555, gap=1e-2),
    Column("beta 5, gamma 1", "5,1", 1, 0.8548, gap=1e-2),
    Column("beta inf, gamma 1 (SVM)", "inf,1", 1, 0.8541, gap=5e-2, options=("--passes", 800)),
)
# What the paper does not have.
MORE = (
    Column("CRF, BIOES labels", "1,0", options=("--encoding", "bioes")),
    Column("CRF, labels of order 2", "1,0", options=("--order", "2")),
)


def measure(column, train, dev, test, options):
    lib.note(column.name)
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.esp"
        run = lib.espalier("path", "tag", train, "--dev", dev, "--loss", column.loss, "--gap", column.gap,
                           "--l2-max", 10, "--l2-min", 0.1, "--factor", 0.1 ** (1 / 3), *column.options, *options,
                           model=model)
        said = subprocess.run([lib.PROGRAM, "eval", model, test, "--json"], stdout=subprocess.PIPE, check=True)
    last = {event["l2"]: event for event in run.progress}
    best = max(last.values(), key=lambda event: event["dev"]["f1"])
    return {
        "name": column.name,
        "loss": column.loss,
        "gap": column.gap,
        "attributes": run.number_of("attributes"),
        "l2": best["l2"],
        "testa_f1": best["dev"]["f1"],
        "testb_f1": json.loads(said.stdout)["f1"],
        "paper_c": column.paper_c,
        "paper_f1": column.paper_f1,
        "passes": run.last["pass"],
        "seconds": run.last["seconds"],
        "wall_seconds": run.wall_seconds,
        "path": [{"l2": l2, "pass": event["pass"], "relative_gap": event["relative_gap"],
                  "testa_f1": event["dev"]["f1"]} for l2, event in last.items()],
    }


def percent(rate):
    return "-" if rate is None else f"{100 * rate:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data.add_options(parser)
    parser.add_argument("--gazetteer", action="append", default=[], help="a file of names, for all rows but the first")
    arguments = parser.parse_args()

    lib.use_one_core()
    files = data.files(arguments.conll)
    first = [] if arguments.first is None else ["--first", arguments.first]
    # Nothing but the files as they are: what a user gets without a template.
    rows = [measure(Column("built-in attributes, CRF", "1,0"), *files, first)]
    with tempfile.TemporaryDirectory() as folder:
        shaped = data.with_shapes(files, Path(folder))
        options = [*first, "--template", arguments.template]
        for gazetteer in arguments.gazetteer:
            options += ["--gazetteer", gazetteer]
        rows += [measure(column, *shaped, options) for column in (*COLUMNS, *MORE)]
    lib.keep("ner", rows, template=arguments.template.read_text())

    builtin = rows[0]
    print(f"Built-in attributes, no template: testb F1 {percent(builtin['testb_f1'])} at l2 = {builtin['l2']:.3g}, "
          f"which testa chose (F1 {percent(builtin['testa_f1'])}); the path took {builtin['passes']:.0f} passes, "
          f"{builtin['seconds']:.1f} s of training, {builtin['wall_seconds']:.1f} s in all.\n")
    print(f"CoNLL-2003, template.txt ({rows[1]['attributes']:,} attributes), a path of 7 values of l2 from 10 to 0.1 "
          "for each row; l2 by F1 on testa. Paper: Martins et al. 2010, Table 1, C = 1/l2, with gazetteers.\n")
    print(lib.table(["", "gap", "l2 down to", "best l2", "1/C, paper", "testa F1", "testb F1", "paper",
                     "passes", "seconds", "wall"],
                    [[row["name"], f"{row['gap']:g}", f"{row['path'][-1]['l2']:.2g}", f"{row['l2']:.3g}",
                      "-" if row["paper_c"] is None else f"{1 / row['paper_c']:g}", percent(row["testa_f1"]),
                      percent(row["testb_f1"]), percent(row["paper_f1"]), f"{row['passes']:.0f}",
                      f"{row['seconds']:.1f}", f"{row['wall_seconds']:.1f}"] for row in rows[1:]]))
    print(f"\n{sum(row['wall_seconds'] for row in rows):.0f} s in all.\n\n{lib.provenance()}")


if __name__ == "__main__":
    main()
