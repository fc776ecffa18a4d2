"""Max-margin Markov networks and CRFs with kernels on handwritten words (Taskar et al. 2003): error of characters.

    python3 -m bench.papers.ocr.table

A chain over the letters of a word: a kernel on the 128 pixels of a letter, and a weight for each pair of neighbouring
letters. Each fold in turn is trained on and the nine others are what the model is tested on, as in the paper. l2 is chosen
once for each row, on the first fold alone: three quarters of its words to train on, one quarter to choose by.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench import lib
from bench.papers.ocr import data


@dataclass
class Row:
    name: str
    loss: str
    options: tuple
    l2: tuple  # largest and smallest that are tried, by factors of 10^(1/2)
    gap: float = 1e-2  # of an SVM small gaps are dear


# Kernels of degree d are (x.y/32 + 1)^d: x.x is 32 at about the mean letter, so that K(x, x) is about 2^d and pixels count about
# as much as transitions, whose features have length 1.
QUADRATIC, CUBIC = ("--kernel", "poly,2,1,0.03125"), ("--kernel", "poly,3,1,0.03125")
ROWS = (
    Row("svm, linear", "svm", (), (30, 3), 5e-2),
    Row("svm, quadratic", "svm", QUADRATIC, (3, 0.3), 5e-2),
    Row("svm, cubic", "svm", CUBIC, (1, 0.1), 5e-2),
    Row("crf, linear", "crf", (), (10, 1)),
    Row("crf, quadratic", "crf", QUADRATIC, (0.1, 0.01)),
    Row("crf, cubic", "crf", CUBIC, (0.1, 0.01)),
)
FACTOR = 0.1 ** 0.5


def options(row):
    return ("--format", "crfsuite", "--loss", row.loss, "--gap", row.gap, *row.options)


def choose_l2(row, most, rest):
    run = lib.espalier("path", "tag", most, "--dev", rest, *options(row), "--l2-max", row.l2[0], "--l2-min", row.l2[1],
                       "--factor", FACTOR)
    last = {event["l2"]: event for event in run.progress}
    return max(last, key=lambda l2: last[l2]["dev"]["accuracy"]), {l2: 1 - e["dev"]["accuracy"] for l2, e in last.items()}


def measure(row, l2, fold, train, test, folder):
    model = folder / "model.esp"
    run = lib.espalier("train", "tag", train, *options(row), "--l2", l2, model=model)
    started = time.monotonic()
    said = subprocess.run([lib.PROGRAM, "eval", model, test, "--json"], stdout=subprocess.PIPE, check=True)
    shown = subprocess.run([lib.PROGRAM, "show", model, "--json"], stdout=subprocess.PIPE, check=True)
    return {"name": row.name, "l2": l2, "fold": fold, "error": 1 - json.loads(said.stdout)["accuracy"],
            "passes": run.last["pass"], "seconds": run.last["seconds"], "wall_seconds": run.wall_seconds,
            "relative_gap": run.last["relative_gap"], "test_seconds": time.monotonic() - started,
            "nodes": json.loads(shown.stdout)["settings"].get("nodes"), "bytes": model.stat().st_size}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data.add_options(parser)
    parser.add_argument("--folds", type=int, default=data.FOLDS, help="only the first N folds (default: all)")
    parser.add_argument("--rows", nargs="+", choices=[row.name for row in ROWS], metavar="ROW",
                        default=[row.name for row in ROWS], help="some of %(default)s (default: all)")
    arguments = parser.parse_args()

    lib.use_one_core()
    rows, printed = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        most, rest = data.write_split(arguments.ocr, folder, 0)
        folds = list(data.write_folds(arguments.ocr, folder))[: arguments.folds]
        for row in (row for row in ROWS if row.name in arguments.rows):
            l2, errors = choose_l2(row, most, rest)
            lib.note(f"{row.name}: l2 {l2:.3g}; error by l2: " +
                     ", ".join(f"{k:.3g}: {100 * v:.2f}" for k, v in errors.items()))
            found = []
            for fold, (train, test) in enumerate(folds):
                found.append(measure(row, l2, fold, train, test, folder))
                lib.note(f"  fold {fold}: {100 * found[-1]['error']:.2f} % wrong, {found[-1]['seconds']:.1f} s")
            rows += found

            def mean(key):
                return statistics.mean(one[key] for one in found)

            spread = statistics.stdev(one["error"] for one in found) if len(found) > 1 else 0
            printed.append([row.name, f"{l2:.3g}", f"{100 * mean('error'):.2f}", f"{100 * spread:.2f}",
                            f"{mean('passes'):.0f}", f"{mean('seconds'):.1f}", f"{mean('test_seconds'):.1f}",
                            f"{mean('bytes') / 1e6:.2f}"])
    lib.keep("ocr", rows)
    print(f"OCR letters, {len(folds)} folds: mean and standard deviation of the error of characters, in percent; passes and "
          "seconds to train to a relative gap of 5e-2 (svm) or 1e-2 (crf), seconds to test on nine folds, megabytes of a "
          "model.\n")
    print(lib.table(["", "l2", "error", "deviation", "passes", "seconds", "test", "MB"], printed))
    print(f"\n{lib.provenance()}")


if __name__ == "__main__":
    main()
