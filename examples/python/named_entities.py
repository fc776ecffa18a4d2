#!/usr/bin/python3
"""Named entities with espalier.CRF, in the manner of scripts for sklearn-crfsuite.

Sentences come from a small grammar. Words become dicts of features, a CRF is trained with c1 and c2, its marginals and
weights are looked at, and a randomised search finds better values of c1 and c2. The script is a test, too: it fails
where what it shows is not true.
"""

import random

import scipy.stats
from sklearn.metrics import make_scorer
from sklearn.model_selection import RandomizedSearchCV

from espalier import CRF, metrics

FIRST = "Anna Bruno Clara David Elena Felix Greta Hugo".split()
LAST = "Berg Costa Duarte Evans Fischer Garcia Horvat".split()
CITIES = "Lisbon Oslo Vienna Porto Turin Ghent Newport Bergen".split()
COMPANIES = "Acme Globex Initech Umbrella Hooli".split()
PATTERNS = [
    "PER lives in LOC",
    "yesterday PER met PER in LOC",
    "ORG opened an office in LOC",
    "PER works for ORG",
    "shares of ORG fell after PER left",
    "the road from LOC to LOC is closed",
    "nobody knows why ORG sued PER of LOC",
]


def draw_sentence(draw):
    """Words with labels in BIO."""
    sentence = []
    for word in draw.choice(PATTERNS).split():
        if word == "PER":
            names = [draw.choice(FIRST), draw.choice(LAST)] if draw.random() < 0.5 else [draw.choice(FIRST + LAST)]
        elif word == "LOC":
            names = [draw.choice(CITIES)] if draw.random() < 0.7 else ["San", draw.choice(CITIES)]
        elif word == "ORG":
            names = [draw.choice(COMPANIES), "Ltd"] if draw.random() < 0.5 else [draw.choice(COMPANIES + CITIES)]
        else:
            sentence.append((word, "O"))
            continue
        sentence += [(name, ("B-" if k == 0 else "I-") + word) for k, name in enumerate(names)]
    return sentence


def word_features(sentence, t):
    word = sentence[t][0]
    features = {
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-3:]": word[-3:],
        "word.istitle()": word.istitle(),
        "word.isupper()": word.isupper(),
    }
    for offset, name in ((-1, "BOS"), (1, "EOS")):
        if 0 <= t + offset < len(sentence):
            other = sentence[t + offset][0]
            features[f"{offset:+d}"] = {"word.lower()": other.lower(), "word.istitle()": other.istitle()}
        else:
            features[name] = True
    return features


def features_and_labels(sentences):
    X = [[word_features(sentence, t) for t in range(len(sentence))] for sentence in sentences]
    return X, [[label for _, label in sentence] for sentence in sentences]


def main():
    draw = random.Random(7)
    X_train, y_train = features_and_labels([draw_sentence(draw) for _ in range(300)])
    X_test, y_test = features_and_labels([draw_sentence(draw) for _ in range(100)])

    crf = CRF(algorithm="lbfgs", c1=0.1, c2=0.1, max_iterations=100, all_possible_transitions=True)
    crf.fit(X_train, y_train)
    print(crf.certificate_)
    assert crf.certificate_.relative_gap <= 1e-3

    y_pred = crf.predict(X_test)
    labels = [label for label in crf.classes_ if label != "O"]
    print(metrics.flat_classification_report(y_test, y_pred, labels=labels, digits=3))
    print(metrics.entity_classification_report(y_test, y_pred))
    assert metrics.flat_f1_score(y_test, y_pred, average="weighted", labels=labels) > 0.9
    assert metrics.entity_f1_score(y_test, y_pred) > 0.9

    print("How sure is it of the first sentence?")
    for item, label, marginals in zip(X_test[0], y_pred[0], crf.predict_marginals_single(X_test[0])):
        print(f"  {item['word.lower()']:12} {label:6} {marginals[label]:.3f}")
        assert abs(sum(marginals.values()) - 1) < 1e-9
    print("Its entities:", crf.predict_entities(X_test[:1])[0])

    print("Likely and unlikely transitions:")
    transitions = sorted(crf.transition_features_.items(), key=lambda item: -item[1])
    for (before, after), weight in transitions[:3] + transitions[-3:]:
        print(f"  {before:6} -> {after:6} {weight:+.3f}")
    assert crf.transition_features_["B-PER", "I-PER"] > 0 > crf.transition_features_["O", "I-PER"]

    print("Features that speak for and against a label:")
    states = sorted(crf.state_features_.items(), key=lambda item: -item[1])
    for (attribute, label), weight in states[:5] + states[-5:]:
        print(f"  {label:6} {attribute:24} {weight:+.3f}")

    print("Why these labels?")
    print(crf.explain(X_test[0][:3]))

    search = RandomizedSearchCV(
        CRF(max_iterations=100, all_possible_transitions=True),
        {"c1": scipy.stats.expon(scale=0.5), "c2": scipy.stats.expon(scale=0.05)},
        cv=3,
        n_iter=8,
        scoring=make_scorer(metrics.flat_f1_score, average="weighted", labels=labels),
        random_state=1,
    )
    search.fit(X_train, y_train)
    print("best of the search:", search.best_params_, f"F1 {search.best_score_:.3f}")
    best = search.best_estimator_
    print(f"size of its model: {best.size_} bytes; F1 of entities on the test data: "
          f"{metrics.entity_f1_score(y_test, best.predict(X_test)):.3f}")  # fmt: skip
    assert search.best_score_ > 0.9


if __name__ == "__main__":
    main()
