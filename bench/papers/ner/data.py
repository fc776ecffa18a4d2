"""CoNLL-2003 with the shapes of its words, and what all runs on it have in common."""

import gzip
import itertools
import sys
from pathlib import Path

from bench import lib

TEMPLATE = Path(__file__).with_name("template.txt")


def add_options(parser, first=None):
    parser.add_argument("--conll", type=Path, default=lib.DATA / "conll2003", help="folder with eng.train.gz, ...")
    parser.add_argument("--template", type=Path, default=TEMPLATE, help="in place of template.txt")
    parser.add_argument("--first", type=int, default=first,
                        help=f"only the first N training sentences (default: {first or 'all'})")


def files(folder):
    """(training, testa, testb)"""
    paths = [folder / f"eng.{name}.gz" for name in ("train", "testa", "testb")]
    for path in paths:
        if not path.exists():
            sys.exit(f"{path} is missing; say where CoNLL-2003 is with --conll FOLDER or ESPALIER_DATA")
    return paths


def shape(word):
    """Collins 2002: kinds of characters, a run of the same kind as one: McDonald's is XxXx'x."""
    kinds = ("X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c for c in word)
    return "".join(kind for kind, _ in itertools.groupby(kinds))


def add_shapes(source, target):
    """The columns of CoNLL-2003 with the shape before the label: patterns can test characters, not map them."""
    with gzip.open(source, "rt") as lines, open(target, "w") as file:
        for line in lines:
            fields = line.split()
            if fields and fields[0] != "-DOCSTART-":
                fields.insert(-1, shape(fields[0]))
            file.write(" ".join(fields) + "\n")


def with_shapes(paths, folder):
    """The same files with shapes, in a folder."""
    shaped = [folder / path.stem for path in paths]
    for source, target in zip(paths, shaped):
        add_shapes(source, target)
    return shaped
