"""Snakes: cells without edges against grids with edges, by inference that is approximate, bounds or is exact.

    python3 -m bench.papers.snakes.table

l2 is chosen on the last 50 of the 200 training images; then all of them train.
"""

import argparse
import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench import lib
from bench.papers.snakes import convert


@dataclass
class Variant:
    name: str
    options: tuple
    snake_only: bool = False


VARIANTS = (
    Variant("no edges", ("--nodes-only",)),
    Variant("edges, trw", ("--inference", "trw")),
    Variant("edges, bp", ("--inference", "bp")),
    Variant("edges, exact, cells of the snake", ("--inference", "exact"), snake_only=True),
)
TRAIN, DEV = 150, 200
L2 = (10, 1, 0.1)


def background(path):
    """How many cells, and how many of them background."""
    cells = [cell for image in convert.images(path) for row in image for cell in row]
    return len(cells), sum(colour == convert.BACKGROUND for colour, _ in cells)


def measure(variant, folder, source, options):
    lib.note(variant.name)
    files = {"part": (None, TRAIN), "dev": (TRAIN, DEV), "train": (None, None)}
    for name, (first, last) in files.items():
        convert.write(source / "snakes_train.txt.gz", folder / f"{name}.jsonl", variant.snake_only, first, last)
    test = folder / "test.jsonl"
    convert.write(source / "snakes_test.txt.gz", test, variant.snake_only)
    # Each l2 from the start: duals of one problem may be a bad start for the next where inference is approximate.
    runs = [lib.espalier("train", "graph", folder / "part.jsonl", "--dev", folder / "dev.jsonl", "--l2", l2, *variant.options,
                         *options, model=folder / "part.esp") for l2 in L2]
    best = max((run.last for run in runs), key=lambda event: event["dev"]["accuracy"])
    model = folder / "model.esp"
    run = lib.espalier("train", "graph", folder / "train.jsonl", "--l2", best["l2"], *variant.options, *options, model=model)
    said = subprocess.run([lib.PROGRAM, "eval", model, test, "--json"], stdout=subprocess.PIPE, check=True)
    result = json.loads(said.stdout)
    cells, empty = background(source / "snakes_test.txt.gz")
    # Background without a node is right by its colour.
    right = result["correct_nodes"] + (empty if variant.snake_only else 0)
    return {
        "name": variant.name,
        "l2": best["l2"],
        "dev_accuracy": best["dev"]["accuracy"],
        "accuracy": right / cells,
        "exact": result["exact"],
        "passes": run.last["pass"],
        "relative_gap": run.last["relative_gap"],
        "seconds": run.last["seconds"],
        "certificate": "approximate" if run.last.get("approximate") else "relaxed" if run.end.get("relaxed") else "exact",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gap", type=float, default=1e-2)
    parser.add_argument("--variant", help="just this one")
    arguments = parser.parse_args()
    lib.use_one_core()
    rows = []
    for variant in VARIANTS:
        if arguments.variant in (None, variant.name):
            with tempfile.TemporaryDirectory() as folder:
                rows.append(measure(variant, Path(folder), lib.DATA / "snakes", ("--gap", arguments.gap, "--passes", 60)))
    header = ["", "l2", "dev cells %", "test cells %", "whole images %", "passes", "seconds", "relative gap", "certificate"]
    print(lib.table(header, [
        [row["name"], f"{row['l2']:g}", f"{100 * row['dev_accuracy']:.2f}", f"{100 * row['accuracy']:.2f}",
         f"{100 * row['exact']:.0f}", f"{row['passes']:.1f}", f"{row['seconds']:.1f}", f"{row['relative_gap']:.1e}",
         row["certificate"]] for row in rows]))
    print("\n" + lib.provenance())
    lib.keep("snakes", rows, gap=arguments.gap)


if __name__ == "__main__":
    main()
