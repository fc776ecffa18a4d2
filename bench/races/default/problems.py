"""The grid of problems on which the default solver is held against the others."""

import gzip
import itertools
import random
import subprocess
from dataclasses import dataclass

from bench import lib
from bench.papers.snakes import convert


@dataclass
class Problem:
    """What `espalier train TASK FILE OPTIONS...` trains on."""

    name: str
    task: str
    file: str  # in the folder of prepared data; two with a comma are images and labels
    options: tuple = ()


PROBLEMS = (
    Problem("MNIST", "classify", "mnist-images.gz,mnist-labels.gz", ("--first", 10000)),
    Problem("letter-scale", "classify", "letter.svm.gz"),
    Problem("topics", "classify", "topics.txt", ("--format", "crfsuite")),
    Problem("CoNLL-2000", "tag", "chunks.txt", ("--format", "crfsuite")),
    Problem("CoNLL-2000, bias", "tag", "chunks-bias.txt", ("--format", "crfsuite")),
    Problem("CoNLL-2003", "tag", "names.txt"),
    Problem("CoNLL-2003, few", "tag", "names.txt", ("--template", "few.template")),
    Problem("20 sentences", "tag", "sentences-20.txt"),
    Problem("2,000 sentences", "tag", "sentences-2000.txt"),
    Problem("one sequence", "tag", "one-sequence.txt"),
    Problem("dense chains", "tag", "dense.txt", ("--format", "crfsuite")),
    Problem("Spanish", "parse", "spanish.conll", ("--unlabelled", "--structure", "projective")),
    Problem("Snakes", "graph", "snakes.jsonl", ("--inference", "exact")),
    Problem("PTB", "treebank", "trees.mrg"),
)


def first_blocks(path, count):
    """The first `count` blocks of lines, as blank lines separate them."""
    with gzip.open(path, "rt") as file:
        blocks = (list(lines) for filled, lines in itertools.groupby(file, key=lambda line: line.strip() != "") if filled)
        return ["".join(block) for block in itertools.islice(blocks, count)]


def dense_chains(path, chains=20, length=1000, features=25, labels=5):
    """Long chains of tokens with a few real-valued features: features x labels + labels^2 = 150 weights."""
    draw = random.Random(1)
    centres = [[draw.gauss(0, 1) for _ in range(features)] for _ in range(labels)]
    with open(path, "w") as file:
        for _ in range(chains):
            label = 0
            for _ in range(length):
                if draw.random() < 0.3:
                    label = draw.randrange(labels)
                values = (f"f{k}:{centre + 3 * draw.gauss(0, 1):.3f}" for k, centre in enumerate(centres[label]))
                file.write("\t".join((f"L{label}", *values)) + "\n")
            file.write("\n")


def generate(path, task, count):
    subprocess.run([lib.PROGRAM, "generate", task, "-n", str(count), "--seed", "1", "-o", path], check=True)


def prepare(source, folder):
    """Writes everything that PROBLEMS names; the data sets come from `source`."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind, name in (("images-idx3", "images"), ("labels-idx1", "labels")):
        (folder / f"mnist-{name}.gz").write_bytes((source / "mnist" / f"train-{kind}-ubyte.gz").read_bytes())
    (folder / "letter.svm.gz").write_bytes((source / "letter-scale" / "letter.scale.train.svm.gz").read_bytes())
    generate(folder / "topics.txt", "classify", 20000)

    chunks = first_blocks(source / "conll2000" / "train.crfsuite.gz", 2000)
    (folder / "chunks.txt").write_text("\n".join(chunks))
    biased = ["".join(line.rstrip("\n") + "\tbias\n" for line in block.splitlines()) for block in chunks]
    (folder / "chunks-bias.txt").write_text("\n".join(biased))
    (folder / "names.txt").write_text("\n".join(first_blocks(source / "conll2003" / "eng.train.gz", 3000)))
    (folder / "few.template").write_text("U00:%x[0,0]\nU01:%x[0,1]\nB\n")

    for count in (20, 2000):
        generate(folder / f"sentences-{count}.txt", "tag", count)
    lines = (folder / "sentences-2000.txt").read_text().splitlines()
    (folder / "one-sequence.txt").write_text("\n".join(line for line in lines if line.strip()) + "\n")
    dense_chains(folder / "dense.txt")
    trees = first_blocks(source / "conllx-spanish" / "train2306.conll.gz", 300)
    (folder / "spanish.conll").write_text("\n".join(trees))
    convert.write(source / "snakes" / "snakes_train.txt.gz", folder / "snakes.jsonl", True, None, 100)
    with gzip.open(source / "ptb-sample" / "wsj_0001-0199.mrg.gz", "rt") as file:
        trees = list(bracketed(file))[:500]
    (folder / "trees.mrg").write_text("".join(trees))


def bracketed(file):
    """The trees of a file of brackets, one after the other."""
    depth, tree = 0, []
    for line in file:
        if line.strip():
            tree.append(line)
            depth += line.count("(") - line.count(")")
            if depth == 0:
                yield "".join(tree)
                tree = []
