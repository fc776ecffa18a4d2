"""CRFsuite: L-BFGS on a first-order CRF, with every attribute-label and label-label pair as a feature or those that were seen."""

import re

from bench.races.conll2000.peers import program


class CRFsuite:
    def __init__(self, found):
        self.path, version = found
        self.name = f"CRFsuite {version} lbfgs"

    @staticmethod
    def find():
        found = program.find("crfsuite", "-h", r"^CRFSuite (\S+)", "https://github.com/chokkan/crfsuite")
        return CRFsuite(found) if found else None

    def train(self, train, objective, model):
        """Its objective is the sum of losses + c1 |w|_1 + c2 |w|^2."""
        every = 0 if objective.observed else 1
        return program.run([self.path, "learn", "-a", "lbfgs", "-p", f"c1={objective.l1}", "-p", f"c2={objective.l2 / 2}",
                            "-p", f"feature.possible_states={every}", "-p", f"feature.possible_transitions={every}",
                            "-m", model, train])

    def active(self, model):
        """Weights that are not zero."""
        dump = program.run([self.path, "dump", model]).said
        return len(re.findall(r"^\s+\(\d+\) .*: (?!-?0\.0+$)", dump, re.MULTILINE))

    @staticmethod
    def iterations(log):
        seconds, result = 0, []
        for objective, duration in re.findall(
                r"^Loss: (\S+)$.*?^Seconds required for this iteration: (\S+)$", log, re.MULTILINE | re.DOTALL):
            seconds += float(duration)
            result.append(program.Iteration(seconds, float(objective)))
        return result

    @staticmethod
    def convert(source, target, labelled):
        """Its own format has a label in any case."""
        del labelled
        target.writelines(source)

    def tag(self, model, test, output):
        return program.run([self.path, "tag", "-m", model, test], output)
