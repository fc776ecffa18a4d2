"""The Danish Dependency Treebank, and what all runs on it have in common."""

import sys
from pathlib import Path

from bench import lib

MODEL = ("--structure", "nonprojective", "--unlabelled", "--threads", 1)


def add_options(parser):
    parser.add_argument("--danish", type=Path, default=lib.DATA / "danish-ddt",
                        help="folder with danish_ddt_{train,dev,test}.conll.gz")
    parser.add_argument("--first", type=int, help="only the first N training sentences")
    parser.add_argument("--orders", type=int, nargs="+", choices=(1, 2), default=[1],
                        help="of the models; 2: siblings and grandparents too (default: 1)")


def files(folder):
    """(training, development, test)"""
    paths = [folder / f"danish_ddt_{name}.conll.gz" for name in ("train", "dev", "test")]
    for path in paths:
        if not path.exists():
            sys.exit(f"{path} is missing; say where the treebank is with --danish FOLDER or ESPALIER_DATA")
    return paths


def first(arguments):
    return [] if arguments.first is None else ["--first", arguments.first]


def order(number):
    """Options of models of that order."""
    return [] if number == 1 else ["--order", number]
