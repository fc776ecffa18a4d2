"""The handwritten words of Kassel, as Taskar et al. 2003 used them, turned into CRFsuite attribute files.

    python3 -m bench.papers.ocr.data OUT_FOLDER

writes fold0.crfsuite to fold9.crfsuite: a line a letter, with an attribute "ROW,COLUMN" for each pixel that is set, and an
empty line behind each word.
"""

import argparse
import gzip
import sys
from pathlib import Path

from bench import lib

FOLDS, ROWS, COLUMNS = 10, 16, 8


def add_options(parser):
    parser.add_argument("--ocr", type=Path, default=lib.DATA / "ocr-letters", help="folder with letter.data.gz")


def read_words(folder):
    """Of each fold its words, each a list of lines."""
    path = folder / "letter.data.gz"
    if not path.exists():
        sys.exit(f"{path} is missing; say where the letters are with --ocr FOLDER or ESPALIER_DATA")
    folds = [[] for _ in range(FOLDS)]
    word = []
    with gzip.open(path, "rt") as file:
        for line in file:
            _, letter, following, _, _, fold, *pixels = line.split()
            attributes = [f"{p // COLUMNS},{p % COLUMNS}" for p, pixel in enumerate(pixels) if pixel == "1"]
            word.append("\t".join([letter, *attributes]))
            if following == "-1":
                folds[int(fold)].append(word)
                word = []
    return folds


def write(path, words):
    path.write_text("".join("\n".join(word) + "\n\n" for word in words))
    return path


def write_folds(folder, to):
    """(training, test) of each fold: one to train on, the nine others to test on."""
    folds = read_words(folder)
    for number, words in enumerate(folds):
        others = [word for other, more in enumerate(folds) if other != number for word in more]
        yield write(to / f"fold{number}.crfsuite", words), write(to / f"not{number}.crfsuite", others)


def write_split(folder, to, fold):
    """(three quarters, one quarter) of the words of a fold, to choose l2 by."""
    words = read_words(folder)[fold]
    return (write(to / "most.crfsuite", [word for i, word in enumerate(words) if i % 4]),
            write(to / "rest.crfsuite", words[::4]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    parser.add_argument("folder", type=Path, metavar="OUT_FOLDER")
    arguments = parser.parse_args()
    for number, words in enumerate(read_words(arguments.ocr)):
        write(arguments.folder / f"fold{number}.crfsuite", words)


if __name__ == "__main__":
    main()
