"""``python3 -m espalier``: which version this is, and where it and its documentation are."""

import os

from . import __version__

if __name__ == "__main__":
    print(f"espalier {__version__} in {os.path.dirname(os.path.abspath(__file__))}")
    print("help(espalier) describes the package, `espalier --help` the program; docs/python.md is its guide")
