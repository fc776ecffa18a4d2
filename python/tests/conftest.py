import os
import random

import espalier
import pytest
from hypothesis import settings

# One commit has one answer, and a busy machine is no failure.
settings.register_profile("espalier", deadline=None, derandomize=True, max_examples=25)
settings.load_profile("espalier")


@pytest.fixture(scope="session")
def program():
    """The command line, where it was built."""
    path = os.environ.get("ESPALIER_PROGRAM")
    if not path or not os.path.exists(path):
        pytest.skip("ESPALIER_PROGRAM does not name the program")
    return path


def make_sentences(size, seed=1):
    """Sentences whose labels can be learned from their words, as dicts."""
    draw = random.Random(seed)
    names, verbs, others = ("Anna", "Bob", "Eve", "Carl"), ("saw", "met", "left"), ("the", "a", "old", "day")
    X, y = [], []
    for _ in range(size):
        words, labels = [], []
        for _ in range(draw.randint(1, 6)):
            kind = draw.random()
            if kind < 0.3:
                words += [draw.choice(names), draw.choice(names)] if kind < 0.1 else [draw.choice(names)]
                labels += ["B-PER", "I-PER"][: len(words) - len(labels)]
            else:
                words.append(draw.choice(verbs + others))
                labels.append("O")
        X.append([features(words, t) for t in range(len(words))])
        y.append(labels)
    return X, y


def features(words, t):
    word = words[t]
    item = {"bias": 1.0, "word": word, "title": word.istitle(), "length": len(word) / 10}
    item["-1"] = {"word": words[t - 1], "title": words[t - 1].istitle()} if t > 0 else {"edge": True}
    item["ends"] = [word[-1:], word[-2:]]
    return item


@pytest.fixture(scope="session")
def sentences():
    return make_sentences(60)


@pytest.fixture(scope="session")
def held_out():
    return make_sentences(30, seed=2)


def _classes():
    X = [[0.0, 1.0], [1.0, 1.5], [3.0, 0.5], [4.0, 0.0], [2.0, 0.9], [2.5, 0.3]]
    return espalier.Classifier(l2=0.1), (X, ["low", "low", "high", "high", "low", "high"])


def _trees():
    heads = {"the dog barks": [2, 3, 0], "she saw a cat": [2, 0, 4, 2], "a dog saw the cat": [2, 3, 0, 5, 3]}
    X = [
        [{"form": word, "upos": word[0], "head": head, "deprel": "r"} for word, head in zip(text.split(), of_text)]
        for text, of_text in heads.items()
    ]
    return espalier.Parser(l2=1, hash_bits=10), (X,)


def _brackets():
    X = [
        "(S (NP (PRP she)) (VP (VP (VBD saw) (NP (NN cats))) (PP (IN in) (NP (NN town)))))",
        "(S (NP (PRP she)) (VP (VBD saw) (NP (NP (NN cats)) (PP (IN of) (NP (NN wood))))))",
    ]
    return espalier.TreebankParser(l2=1, hash_bits=10), (X,)


def _graphs():
    X = [
        {"nodes": [[1.0, 0.1], [0.1, 0.3], [0.9, 0.0]], "edges": [(0, 1), (1, 2)]},
        {"nodes": [[0.0, 1.0], [0.1, 0.2]], "edges": [(0, 1)]},
    ]
    return espalier.GraphModel(l2=0.1), (X, [["sky", "sky", "sky"], ["sea", "sea"]])


def _alignments():
    X = [("the old house", "huset gamle"), ("a house", "hus"), ("the house", "huset")]
    return espalier.Aligner(l2=0.1), (X, [[(0, 0, False), (1, 1), (2, 0)], [(1, 0)], [(1, 0)]])


# An estimator that is not fitted and what it can be fitted to, of every task but that of CRF.
OTHER_TASKS = (_classes, _trees, _brackets, _graphs, _alignments)
