#!/usr/bin/python3
"""A first look at the package, with nothing but Python: a CRF that finds names."""

from espalier import CRF, metrics

TRAIN = """
Anna/B-PER met/O Bob/B-PER Lee/I-PER in/O Oslo/B-LOC
Clara/B-PER lives/O in/O Porto/B-LOC
in/O Vienna/B-LOC Bob/B-PER slept/O
nobody/O met/O Clara/B-PER Lee/I-PER
Oslo/B-LOC is/O near/O Bergen/B-LOC
Anna/B-PER Lee/I-PER left/O Oslo/B-LOC
"""
TEST = "David/B-PER met/O Anna/B-PER in/O Turin/B-LOC"


def read(text):
    lines = [[token.split("/") for token in line.split()] for line in text.strip().splitlines()]
    X = [[features([word for word, _ in line], t) for t in range(len(line))] for line in lines]
    return X, [[label for _, label in line] for line in lines]


def features(words, t):
    before = words[t - 1].lower() if t > 0 else "(start)"
    return {"word": words[t].lower(), "title": words[t].istitle(), "before": before, "length": len(words[t]) / 10}


crf = CRF(c2=0.05, all_possible_transitions=True).fit(*read(TRAIN))
X, y = read(TEST)
print("trained:", crf.message_)
print("tagged: ", " ".join(f"{item['word']}/{label}" for item, label in zip(X[0], crf.predict(X)[0])))
print("F1 of entities:", metrics.entity_f1_score(y, crf.predict(X)))
print("why the last one?")
print("\n".join(str(crf.explain(X[0])).splitlines()[-6:]))
print("next: docs/python.md, examples/python/named_entities.py, help(espalier.CRF)")
assert crf.predict(X) == y
