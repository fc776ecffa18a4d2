"""Differences of losses (Martins et al. 2010, footnote 1) where labels are wrong: ramp beside SVM, risk beside CRF.

    python3 -m bench.papers.losses.noise

A share of the labels of the training and of the held-out data becomes another one, drawn evenly from the others;
those of the test data stay. Every loss has its l2 chosen by the accuracy on the held-out data, as a user with such
labels would.
"""

import argparse
import gzip
import json
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench import lib


@dataclass
class Data:
    name: str
    task: str
    format: str
    separator: str  # after the label
    train: Path
    test: Path
    sizes: tuple  # examples for training, and held-out ones that follow
    grid: tuple  # values of l2
    metric: str  # of the test data, as eval --json calls it
    selection: str  # the same of the held-out data

    def examples(self):
        """Lists of lines, of which each has a label."""
        if not self.train.exists():
            sys.exit(f"{self.train} is missing; say where the data is with ESPALIER_DATA")
        with gzip.open(self.train, "rt") as file:
            found = [part.split("\n") for part in file.read().strip().split("\n\n" if self.task == "tag" else "\n")]
        return found[:sum(self.sizes)]


DATA = (
    Data("CoNLL-2000", "tag", "crfsuite", "\t", lib.DATA / "conll2000/train.crfsuite.gz",
         lib.DATA / "conll2000/test.crfsuite.gz", (2000, 500), (5, 10, 20, 50, 100), "f1", "accuracy"),
    Data("letter-scale", "classify", "libsvm", " ", lib.DATA / "letter-scale/letter.scale.train.svm.gz",
         lib.DATA / "letter-scale/letter.scale.test.svm.gz", (12000, 3000), (0.03, 0.1, 0.3, 1, 3, 10),
         "error", "error"),
)


@dataclass
class Loss:
    gap: float
    scale: float = 1  # of the values of l2


# Where beta is infinite a small gap and a small l2 are dear; where it is not, a smaller l2 is the right one.
LOSSES = {"svm": Loss(1e-2), "ramp": Loss(1e-2), "crf": Loss(1e-3, 0.1), "risk": Loss(1e-3, 0.1)}


def flip(examples, separator, rate, seed=1):
    """The examples with a share of their labels exchanged for others."""
    labels = sorted({line.split(separator, 1)[0] for lines in examples for line in lines})
    draw = random.Random(seed)
    for lines in examples:
        changed = []
        for line in lines:
            label, rest = line.split(separator, 1)
            if draw.random() < rate:
                label = draw.choice([other for other in labels if other != label])
            changed.append(f"{label}{separator}{rest}")
        yield changed


def write(path, examples, task):
    end = "\n\n" if task == "tag" else "\n"
    path.write_text("".join("\n".join(lines) + end for lines in examples))


def better(selection, a, b):
    return a > b if selection == "accuracy" else a < b


def measure(data, loss, rate, files, grid):
    """The row of one loss: the best of all l2 on held-out data."""
    best = None
    for l2 in (LOSSES[loss].scale * value for value in grid):
        lib.note(f"{data.name}, {100 * rate:g} %, {loss}, l2 {l2:g}")
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder) / "model.esp"
            run = lib.espalier("train", data.task, files[0], "--format", data.format, "--dev", files[1], "--loss", loss,
                               "--l2", l2, "--gap", LOSSES[loss].gap, "--threads", 1, model=model)
            held_out = run.last["dev"][data.selection]
            if best and not better(data.selection, held_out, best["held_out"]):
                continue
            said = subprocess.run([lib.PROGRAM, "eval", model, data.test, "--json"], stdout=subprocess.PIPE, check=True)
            best = {"data": data.name, "flipped": rate, "loss": loss, "l2": l2, "held_out": held_out,
                    "test": json.loads(said.stdout)[data.metric], "rounds": run.last.get("round", 1),
                    "passes": run.last["pass"], "status": run.end["status"]}
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rates", type=float, nargs="+", default=[0, 0.05, 0.2],
                        help="shares of labels that are wrong")
    parser.add_argument("--l2", type=float, nargs="+",
                        help="values to choose from, in place of those of each data set")
    parser.add_argument("--losses", nargs="+", choices=LOSSES, default=list(LOSSES))
    parser.add_argument("--data", nargs="+", choices=[data.name for data in DATA], default=[data.name for data in DATA])
    arguments = parser.parse_args()

    lib.use_one_core()
    rows = []
    for data in DATA:
        if data.name not in arguments.data:
            continue
        for rate in arguments.rates:
            with tempfile.TemporaryDirectory() as folder:
                files = Path(folder) / "train", Path(folder) / "held-out"
                examples = list(flip(data.examples(), data.separator, rate))
                write(files[0], examples[:data.sizes[0]], data.task)
                write(files[1], examples[data.sizes[0]:], data.task)
                rows += [measure(data, loss, rate, files, arguments.l2 or data.grid) for loss in arguments.losses]
    lib.keep("losses-noise", rows)

    for data in DATA:
        of_data = [row for row in rows if row["data"] == data.name]
        if not of_data:
            continue
        print(f"{data.name}, the first {data.sizes[0]:,} training examples; l2 from "
              f"{', '.join(f'{l2:g}' for l2 in arguments.l2 or data.grid)}, for crf and risk a tenth of these, by "
              f"{data.selection} on the next {data.sizes[1]:,}.\n")
        print(lib.table(["labels flipped", "loss", "l2", f"held-out {data.selection}", f"test {data.metric}", "rounds",
                         "passes"],
                        [[f"{100 * row['flipped']:g} %", f"`{row['loss']}`", f"{row['l2']:g}",
                          f"{100 * row['held_out']:.2f} %", f"{100 * row['test']:.2f} %", row["rounds"],
                          f"{row['passes']:.1f}"] for row in of_data]))
        print()
    print(lib.provenance())


if __name__ == "__main__":
    main()
