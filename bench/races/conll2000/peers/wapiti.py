"""Wapiti: L-BFGS on a first-order CRF, its features given ready-made: u for attributes, b for transitions."""

import re

from bench.races.conll2000.peers import program


class Wapiti:
    def __init__(self, found):
        self.path, version = found
        self.name = f"Wapiti {version} l-bfgs"

    @staticmethod
    def find():
        # Debian's package of this name is a scanner of web sites.
        found = program.find("wapiti", "--version", r"^Wapiti v(\S+)\n +Optimization mode",
                             "https://github.com/Jekub/Wapiti")
        return Wapiti(found) if found else None

    def train(self, train, objective, model):
        """It would stop when the training error has settled, far from the optimum; so it looks at the objective."""
        return program.run([self.path, "train", "-a", "l-bfgs", "-t", "1", "--rho1", objective.l1, "--rho2", objective.l2, "-w", "0", "-o",
                            "10", "-e", "1e-5", train, model])

    @staticmethod
    def iterations(log):
        found = re.findall(r"^ *\[ *\d+\] obj=(\S+) .* time=\S+/(\S+)s$", log, re.MULTILINE)
        return [program.Iteration(float(seconds), float(objective)) for objective, seconds in found]

    @staticmethod
    def convert(source, target, labelled):
        for line in source:
            label, *attributes = line.rstrip("\n").split("\t")
            if label:
                fields = [f"u:{attribute}" for attribute in attributes] + ["b"] + ([label] if labelled else [])
                target.write(" ".join(fields))
            target.write("\n")

    def tag(self, model, test, output):
        return program.run([self.path, "label", "--label", "-m", model, test], output)
