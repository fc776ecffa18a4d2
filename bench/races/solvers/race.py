"""Every solver on a problem of each structure (classes, chains, projective trees, phrase structure, graphs), for the CRF,
softmax-margin and the SVM.

    python3 -m bench.races.solvers.race
"""

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import lib
from bench.papers.snakes import convert
from bench.races.default.problems import bracketed

SMOOTH = ("eg", "sdca", "eg-batch", "bmrm", "lbfgs", "sgd", "dca", "perceptron")
MAXIMUM = ("frank-wolfe", "eg", "smo", "cutting-plane", "excessive-gap", "extragradient", "eg-batch", "bmrm", "sgd",
           "dca", "mira", "perceptron")
LOSSES = {"crf": SMOOTH, "softmax-margin": SMOOTH, "svm": MAXIMUM}
NAMES = ("MNIST", "CoNLL-2000", "Spanish", "PTB", "Snakes")
TRAINING_IMAGES = 160  # of Snakes; the rest is development data
TRAINING_TREES = 3000  # of the PTB sample, in the same way
GAPS = (1e-1, 1e-2, 1e-3, 1e-4)


def problems(folder, first, prepared):
    """(name, task, training data, options, l2 of each loss). Writes what it has to convert to the folder `prepared`."""
    limit = ("--first", first) if first else ()
    train, test = lib.mnist(folder / "mnist")
    yield "MNIST", "classify", train, ("--dev", test, *limit), {"crf": 10, "softmax-margin": 10, "svm": 10}
    chunks = folder / "conll2000"
    yield ("CoNLL-2000", "tag", chunks / "train.crfsuite.gz",
           ("--format", "crfsuite", "--dev", chunks / "test.crfsuite.gz", *limit),
           {"crf": 2, "softmax-margin": 2, "svm": 20})
    trees = folder / "conllx-spanish"
    yield ("Spanish", "parse", trees / "train2306.conll.gz",
           ("--unlabelled", "--structure", "projective", "--dev", trees / "valid1000.conll.gz", *limit),
           {"crf": 10, "softmax-margin": 10, "svm": 100})
    with gzip.open(folder / "ptb-sample" / "wsj_0001-0199.mrg.gz", "rt") as file:
        brackets = list(bracketed(file))
    for name, part in (("train", brackets[:TRAINING_TREES]), ("dev", brackets[TRAINING_TREES:])):
        (prepared / f"{name}.mrg").write_text("".join(part))
    yield ("PTB", "treebank", prepared / "train.mrg", ("--dev", prepared / "dev.mrg", *limit),
           {"crf": 1, "softmax-margin": 1, "svm": 10})
    images = folder / "snakes" / "snakes_train.txt.gz"
    convert.write(images, prepared / "train.jsonl", True, None, TRAINING_IMAGES)
    convert.write(images, prepared / "dev.jsonl", True, TRAINING_IMAGES)
    yield ("Snakes", "graph", prepared / "train.jsonl", ("--inference", "exact", "--dev", prepared / "dev.jsonl", *limit),
           {"crf": 1, "softmax-margin": 1, "svm": 1})


def race(task, train, solvers, loss, l2, options, picture):
    """The `race` event of a race."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "race.jsonl"
        line = [lib.PROGRAM, "race", task, train, "--solvers", ",".join(solvers), "--loss", loss, "--l2", l2,
                "--log", log, "--picture", picture, "--quiet", *options]
        done = subprocess.run([str(part) for part in line], stdout=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, line))}: status {done.returncode}")
        return json.loads(log.read_text().splitlines()[-1])


def arrival(target):
    if target["reached"] not in ("yes", "at most"):
        return "?" if target["reached"] == "perhaps" else "-"
    return f"{target['passes']:.1f}, {target['seconds']:.2f} s"


def row(run):
    """`gap` columns are passes and seconds to so much of the best known optimum."""
    found = {"solver": run["solver"], "status": run["status"]}
    if "targets" not in run:
        return found | {"message": run.get("message", "")}
    reached = {target["gap"]: arrival(target) for target in run["targets"]}
    near = run["dev"]["near_best"]
    return found | {f"{gap:g}": reached[gap] for gap in GAPS} | {
        "certified": f"{run['relative_gap']:.1e}", "dev": f"{run['dev']['value']:.2f}",
        "near best": f"{near['passes']:.1f}, {near['seconds']:.2f} s"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=lib.DATA, help="folder of the data sets")
    parser.add_argument("--budget", type=float, default=60, help="seconds of a solver (default: %(default)s)")
    parser.add_argument("--report-every", type=float, default=1,
                        help="passes between two reports, each with a certificate, which the budget does not count "
                             "(default: %(default)s)")
    parser.add_argument("--first", type=int, help="training examples (default: all)")
    parser.add_argument("--problems", nargs="+", choices=NAMES)
    parser.add_argument("--losses", nargs="+", choices=list(LOSSES), default=list(LOSSES))
    arguments = parser.parse_args()

    lib.use_one_core()
    lib.RESULTS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as prepared:
        rows = run_all(arguments, Path(prepared))
    lib.keep("solvers", rows, budget=arguments.budget, first=arguments.first)
    print(f"Pictures: {lib.RESULTS.relative_to(lib.ROOT)}/solvers-*.svg\n\n{lib.provenance()}")


def run_all(arguments, prepared):
    """Prints the table of each race; returns their rows."""
    rows = []
    for name, task, train, options, l2s in problems(arguments.data.resolve(), arguments.first, prepared):
        if arguments.problems and name not in arguments.problems:
            continue
        for loss in arguments.losses:
            lib.note(f"{name}, {loss}")
            picture = lib.RESULTS / f"solvers-{task}-{loss}.svg"
            event = race(task, train, LOSSES[loss], loss, l2s[loss],
                         (*options, "--budget", arguments.budget, "--report-every", arguments.report_every,
                          "--gap", 1e-5), picture)
            found = [row(run) for run in event["runs"]]
            rows += [{"problem": name, "loss": loss, "l2": l2s[loss], **one} for one in found]
            optimum = event["optimum"]
            print(f"{name}, `{loss}`, l2 = {l2s[loss]:g}; optimum between {optimum['lower']:.8g} and "
                  f"{optimum['upper']:.8g}. Passes and seconds to a gap; -: not within {arguments.budget:g} s; ?: perhaps.\n")
            columns = [f"{gap:g}" for gap in GAPS] + ["certified", "dev", "near best"]
            print(lib.table(["solver", *columns],
                            [[one["solver"], *(one.get(column, "") for column in columns)] for one in found]) + "\n")
    return rows


if __name__ == "__main__":
    main()
