"""The Spanish treebank of CoNLL-X in the paper's sizes, and what all runs on it have in common."""

import sys
from pathlib import Path

from bench import lib

FOLDER = lib.DATA / "conllx-spanish"
# Collins et al. 2008, section 7.2: projective trees, heads alone, the log-linear model.
MODEL = ("--structure", "projective", "--unlabelled", "--loss", "crf", "--threads", 1)


def add_options(parser):
    parser.add_argument("--spanish", type=Path, default=FOLDER,
                        help="folder with train2306.conll.gz and valid1000.conll.gz")
    parser.add_argument("--first", type=int, default=2306, help="training sentences (default: %(default)s)")


def files(folder):
    """(training, validation)"""
    paths = [folder / name for name in ("train2306.conll.gz", "valid1000.conll.gz")]
    for path in paths:
        if not path.exists():
            sys.exit(f"{path} is missing; say where the treebank is with --spanish FOLDER or ESPALIER_DATA")
    return paths
