#!/usr/bin/env python3
"""References with one XML element a field, as AnyStyle keeps them, to columns for `espalier train tag`.

    xml_to_columns.py FILE.xml[.gz] > FILE.txt

<dataset><sequence><author>Roe, J.</author><date>1999.</date>...</sequence>...</dataset>

One token (what is between white space) a line, a blank line after each reference. Columns:

    0 token
    1 plain: the token in lower case, without accents and without punctuation at its ends; "-" if nothing is left
    2 shape: X for capitals, x for other letters, d for digits, the rest as it is, a run of the same as one: Xx,
    3 place: which tenth of the reference the token is in, 0 to 9
    4 label: I-FIELD; B-FIELD where a field follows another one of its kind (IOB1)

With --plain, lines of text are references without labels: for `espalier predict`.
"""

import argparse
import gzip
import itertools
import sys
import unicodedata
import xml.etree.ElementTree as ElementTree


def plain(token):
    parts = unicodedata.normalize("NFKD", token.lower())
    letters = "".join(c for c in parts if not unicodedata.combining(c))
    ends = [k for k, c in enumerate(letters) if c.isalnum()]
    return "".join(letters[ends[0]:ends[-1] + 1].split()) if ends else "-"


def shape(token):
    kinds = ("X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c for c in token)
    return "".join(kind for kind, _ in itertools.groupby(kinds))


def columns(tokens):
    return [[token, plain(token), shape(token), str(10 * k // len(tokens))] for k, token in enumerate(tokens)]


def labels(fields):
    """Of the tokens of (name, text) pairs."""
    before = None
    for name, text in fields:
        for k, _ in enumerate(text.split()):
            yield ("B-" if k == 0 and name == before else "I-") + name
        before = name


def references(root):
    """The rows of each reference: columns and label."""
    for sequence in root.iter("sequence"):
        fields = [(field.tag, "".join(field.itertext())) for field in sequence]
        tokens = [token for _, text in fields for token in text.split()]
        yield [[*row, label] for row, label in zip(columns(tokens), labels(fields))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="XML, or text with --plain; packed if the name ends in .gz")
    parser.add_argument("--plain", action="store_true", help="one reference a line, without labels")
    arguments = parser.parse_args()
    open_file = gzip.open if arguments.file.endswith(".gz") else open
    with open_file(arguments.file, "rb") as file:
        if arguments.plain:
            found = (columns(line.decode().split()) for line in file)
        else:
            found = references(ElementTree.parse(file).getroot())
        for rows in found:
            if rows:
                sys.stdout.write("".join("\t".join(row) + "\n" for row in rows) + "\n")


if __name__ == "__main__":
    main()
