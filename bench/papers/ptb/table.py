"""Phrase structure on the Penn treebank sample: rule features alone and with span features, CRF and SVM.

    python3 -m bench.papers.ptb.table

Trains on wsj_0001-0159, watches wsj_0160-0179 and measures F1 on sentences of wsj_0180-0199 with at most 40 words, tags as
given. Bartlett et al. 2004 (example 2) describe such models and measure none.
"""

import argparse
import gzip
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import lib

LAST_TRAIN, LAST_DEV = 159, 179
LONGEST = 40  # words of a test sentence
MODELS = (
    ("rules, CRF", ["--features", "rules", "--loss", "crf", "--l2", 1]),
    ("rules, SVM", ["--features", "rules", "--loss", "svm", "--l2", 0.1]),
    ("rules and spans, CRF", ["--features", "spans", "--loss", "crf", "--l2", 1]),
    ("rules and spans, SVM", ["--features", "spans", "--loss", "svm", "--l2", 10]),
)


def trees_of(text):
    """The trees of a file in brackets, each on one line."""
    depth, begin = 0, 0
    for at, character in enumerate(text):
        if character == "(":
            begin = at if depth == 0 else begin
            depth += 1
        elif character == ")":
            depth -= 1
            if depth == 0:
                yield " ".join(text[begin:at + 1].split())


def num_words(tree):
    """Without traces."""
    return len(re.findall(r"\((?!-NONE- )[^\s()]+ [^\s()]+\)", tree))


def split(folder):
    """(training, dev, test) trees by the numbers of the files that they come from."""
    path = folder / "wsj_0001-0199.mrg.gz"
    if not path.exists():
        sys.exit(f"{path} is missing; say where the sample is with --ptb FOLDER or ESPALIER_DATA")
    with gzip.open(path, "rt") as file:
        trees = list(trees_of(file.read()))
    counts = [line.split("\t") for line in (folder / "file_tree_counts.tsv").read_text().splitlines()]
    counts = [(int(re.search(r"\d{4}", row[0]).group()), int(row[1])) for row in counts if row[0].startswith("wsj")]
    train, dev = (sum(count for number, count in counts if number <= last) for last in (LAST_TRAIN, LAST_DEV))
    return trees[:train], trees[train:dev], [tree for tree in trees[dev:] if num_words(tree) <= LONGEST]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ptb", type=Path, default=lib.DATA / "ptb-sample", help="the folder of the sample")
    parser.add_argument("--gap", type=float, default=1e-2)
    parser.add_argument("--seconds", type=float, default=1200, help="the most that a model may take")
    parser.add_argument("--first", type=int, help="only so many training sentences")
    parser.add_argument("--only", help="only models whose name contains this")
    arguments = parser.parse_args()

    lib.use_one_core()
    rows, printed = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts = dict(zip(("train", "dev", "test"), split(arguments.ptb), strict=True))
        for part, trees in parts.items():
            (folder / part).write_text("\n".join(trees) + "\n")
        words = sum(map(num_words, parts["test"]))
        for model, options in MODELS:
            if arguments.only and arguments.only not in model:
                continue
            lib.note(model)
            first = ["--first", arguments.first] if arguments.first else []
            run = lib.espalier("train", "treebank", folder / "train", "--dev", folder / "dev", *options, *first, "--gap",
                               arguments.gap, "--seconds", arguments.seconds, model=folder / "model.esp")
            started = time.monotonic()
            done = subprocess.run([lib.PROGRAM, "eval", folder / "model.esp", folder / "test", "--json"],
                                  capture_output=True, text=True, check=True)
            seconds = time.monotonic() - started
            rates = json.loads(done.stdout)
            last = run.last
            row = {"model": model, "l2": last["l2"], "passes": last["pass"], "seconds": last["seconds"],
                   "seconds_a_pass": last["seconds"] / last["pass"], "relative_gap": last["relative_gap"],
                   "dev_f1": last["dev"]["f1"], **{key: rates[key] for key in ("f1", "precision", "recall", "exact")},
                   "unparsed": rates["unparsed"], "sentences_a_second": len(parts["test"]) / seconds,
                   "wall_seconds": run.wall_seconds, "peak_bytes": run.peak_bytes}
            rows.append(row)
            printed.append([model, f"{row['l2']:g}", f"{100 * row['f1']:.2f}", f"{100 * row['precision']:.2f}",
                            f"{100 * row['recall']:.2f}", f"{100 * row['exact']:.1f}", f"{100 * row['dev_f1']:.2f}",
                            f"{row['passes']:.1f}", f"{row['seconds_a_pass']:.1f}", f"{row['relative_gap']:.1e}",
                            f"{row['sentences_a_second']:.0f}"])
    lib.keep("ptb", rows)
    training = min(arguments.first or len(parts["train"]), len(parts["train"]))
    print(f"Penn treebank sample: {training} training, {len(parts['dev'])} dev and {len(parts['test'])} test "
          f"sentences (at most {LONGEST} words, {words} in all), gold tags. Precision, recall and F1 as evalb counts "
          "them; dev is of all lengths. Sentences parsed a second include reading them and the model.\n")
    print(lib.table(["features, loss", "l2", "F1", "precision", "recall", "exact", "dev F1", "passes", "seconds a pass",
                     "relative gap", "sentences/s"], printed))
    print(f"\n{lib.provenance()}")


if __name__ == "__main__":
    main()
