"""Word alignment of Danish and English: a max-margin and a CRF model against Dice scores and the diagonal.

    python3 -m bench.papers.align.table

Trains on the first 1,000 pairs and tests on the 500 that follow. Both baselines link one word with one, the best pairs first, as
long as these are above a threshold, which is the best one on the training pairs.
"""

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from bench import lib

TRAIN, TEST = 1000, 500


@dataclass
class Variant:
    name: str
    options: tuple


VARIANTS = (
    Variant("svm", ("--loss", "svm", "--l2", 3)),
    Variant("svm, missing links cost 2", ("--loss", "svm", "--l2", 1, "--missing-cost", 2)),
    Variant("svm, two links per word", ("--loss", "svm", "--l2", 3, "--links", 2)),
    Variant("crf", ("--loss", "crf", "--l2", 3)),
)


def read(path):
    """(source words, target words, links) of each pair."""
    pairs = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            _, source, target, links = line.rstrip("\n").split("\t")
            pairs.append((source.split(" "), target.split(" "), {tuple(map(int, link.split("-"))) for link in links.split()}))
    return pairs


def write(pairs, path):
    with open(path, "w", encoding="utf-8") as file:
        for source, target, links in pairs:
            links = " ".join(f"{i}-{j}" for i, j in sorted(links))
            file.write(f"{' '.join(source)} ||| {' '.join(target)} ||| {links}\n")


class Dice:
    """2 C(s,t) / (C(s) + C(t)), of the training pairs; of one of these, without itself."""

    def __init__(self, pairs):
        self.source, self.target, self.both = Counter(), Counter(), Counter()
        for source, target, _ in pairs:
            source, target = {word.lower() for word in source}, {word.lower() for word in target}
            self.source.update(source)
            self.target.update(target)
            self.both.update((s, t) for s in source for t in target)

    def __call__(self, pair, held_out):
        less = 1 if held_out else 0

        def dice(s, t):
            both = self.both[s, t] - less
            return 2 * both / (self.source[s] + self.target[t] - 2 * less) if both > 0 else 0

        return {(i, j): dice(s.lower(), t.lower()) for i, s in enumerate(pair[0]) for j, t in enumerate(pair[1])}


def nearness(i, j, pair):
    return 1 - abs((i + 0.5) / len(pair[0]) - (j + 0.5) / len(pair[1]))


def diagonal(pair, _):
    return {(i, j): nearness(i, j, pair) for i in range(len(pair[0])) for j in range(len(pair[1]))}


def greedy(pair, scores, threshold):
    """Links one to one, the best pairs first; of equal ones those nearer to the diagonal."""
    links, sources, targets = set(), set(), set()
    for i, j in sorted(scores, key=lambda e: (-scores[e], -nearness(*e, pair))):
        score = scores[i, j]
        if score >= threshold and score > 0 and i not in sources and j not in targets:
            links.add((i, j))
            sources.add(i)
            targets.add(j)
    return links


def rates(predicted, pairs):
    found = sum(len(links & pair[2]) for links, pair in zip(predicted, pairs))
    all_predicted, gold = sum(map(len, predicted)), sum(len(pair[2]) for pair in pairs)
    return {"aer": 1 - 2 * found / (all_predicted + gold), "precision": found / max(all_predicted, 1), "recall": found / gold}


def baseline(name, score, train, test):
    lib.note(name)
    of_train = [score(pair, True) for pair in train]
    threshold = min((k / 20 for k in range(20)),
                    key=lambda t: rates([greedy(pair, scores, t) for pair, scores in zip(train, of_train)], train)["aer"])
    predicted = [greedy(pair, score(pair, False), threshold) for pair in test]
    return {"name": f"{name}, threshold {threshold:g}", **rates(predicted, test)}


def measure(variant, folder, gap):
    lib.note(variant.name)
    model = folder / "model.esp"
    run = lib.espalier("train", "align", folder / "train.txt", *variant.options, "--gap", gap, "--threads", 1, model=model)
    said = subprocess.run([lib.PROGRAM, "eval", model, folder / "test.txt", "--json"], stdout=subprocess.PIPE, check=True)
    result = json.loads(said.stdout)
    return {
        "name": variant.name,
        **{rate: result[rate] for rate in ("aer", "precision", "recall")},
        "l2": run.last["l2"],
        "passes": run.last["pass"],
        "relative_gap": run.last["relative_gap"],
        "certificate": "relaxed" if run.last.get("relaxed") or run.end.get("relaxed") else "exact",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=Path, default=lib.DATA / "cdt-align-da-en" / "da-en.1500.tsv.gz",
                        help="document, Danish words, English words and links of each pair, between TABs")
    parser.add_argument("--gap", type=float, default=1e-2, help="relative gap (default: %(default)s)")
    arguments = parser.parse_args()
    if not arguments.pairs.exists():
        sys.exit(f"{arguments.pairs} is missing; say where the pairs are with --pairs FILE or ESPALIER_DATA")

    lib.use_one_core()
    pairs = read(arguments.pairs)
    train, test = pairs[:TRAIN], pairs[TRAIN:TRAIN + TEST]
    rows = [baseline("diagonal", diagonal, train, test), baseline("Dice", Dice(train), train, test)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(train, folder / "train.txt")
        write(test, folder / "test.txt")
        rows += [measure(variant, folder, arguments.gap) for variant in VARIANTS]
    lib.keep("align", rows, gap=arguments.gap)
    print(f"Danish-English, {len(train):,} pairs to train and {len(test):,} to test, against all gold links\n")
    print(lib.table(["", "AER %", "precision %", "recall %", "passes", "relative gap", "certificate"], [
        [row["name"], *(f"{100 * row[rate]:.2f}" for rate in ("aer", "precision", "recall")),
         *([f"{row['passes']:.1f}", f"{row['relative_gap']:.1e}", row["certificate"]] if "passes" in row else ["", "", ""])]
        for row in rows]))
    print("\n" + lib.provenance())


if __name__ == "__main__":
    main()
