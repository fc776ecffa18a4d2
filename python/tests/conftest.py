import os
import random

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
