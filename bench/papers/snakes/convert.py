"""The Snakes images as JSON Lines for the graph task.

    python3 -m bench.papers.snakes.convert snakes_train.txt.gz > train.jsonl

A node for each cell, with the colours of its 3 x 3 neighbourhood; an edge of the type right or down between neighbours, with the
colours of both ends, alone and together. Labels: 0 is background, 1 to 10 count along the snake. With --snake-only the
background, which its colour tells, has no nodes.
"""

import argparse
import gzip
import json
import sys

BACKGROUND = "B"


def images(path):
    """Lists of rows of (colour, label)."""
    with gzip.open(path, "rt") as lines:
        for line in lines:
            if not line.strip():
                continue
            height, _ = map(int, line.split())
            yield [[(cell[0], cell[1:]) for cell in next(lines).split()] for _ in range(height)]


def graph(image, snake_only=False):
    height, width = len(image), len(image[0])

    def colour(row, column):
        inside = 0 <= row < height and 0 <= column < width
        return image[row][column][0] if inside else BACKGROUND

    nodes, labels, number = [], [], {}
    for row in range(height):
        for column in range(width):
            if snake_only and colour(row, column) == BACKGROUND:
                continue
            number[row, column] = len(nodes)
            features = [f"{down},{right}={colour(row + down, column + right)}"
                        for down in (-1, 0, 1) for right in (-1, 0, 1)]
            nodes.append({"type": "cell", "features": features})
            labels.append(image[row][column][1])
    cliques = []
    for (row, column), first in number.items():
        for kind, place in (("right", (row, column + 1)), ("down", (row + 1, column))):
            if place not in number:
                continue
            a, b = colour(row, column), colour(*place)
            cliques.append({"type": kind, "nodes": [first, number[place]],
                            "features": ["constant", f"a={a}", f"b={b}", f"a={a} b={b}"]})
    return {"nodes": nodes, "cliques": cliques, "labels": labels}


def write(path, target, snake_only=False, first=None, last=None):
    """The images first, ..., last - 1."""
    with open(target, "w") as file:
        for image in list(images(path))[first:last]:
            file.write(json.dumps(graph(image, snake_only), separators=(",", ":")) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("images")
    parser.add_argument("--snake-only", action="store_true")
    arguments = parser.parse_args()
    for image in images(arguments.images):
        sys.stdout.write(json.dumps(graph(image, arguments.snake_only), separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
