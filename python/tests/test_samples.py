"""Draws from the distributions of models, and their entropies: what `espalier predict --samples --entropy` has."""

import json
import math
import os
import subprocess
from collections import Counter

import espalier
import pytest
from conftest import OTHER_TASKS, _alignments, _classes, _graphs

PROGRAM = os.environ.get("ESPALIER_PROGRAM", "build/espalier")


def _tags():
    X = [[{"word": w} for w in text.split()] for text in ("a b", "b a c", "c c", "a")]
    return espalier.CRF(c2=1), (X, [["X", "Y"], ["Y", "X", "Y"], ["Y", "X"], ["X"]])


WITH_DRAWS = (_tags, *(make for make in OTHER_TASKS if make not in (_classes, _alignments)))


def hashable(parts):
    return json.dumps(parts)


@pytest.mark.parametrize("make", WITH_DRAWS)
def test_draws_have_the_probabilities_of_the_k_best(make):
    estimator, data = make()
    fitted = estimator.fit(*data)
    X = data[0]
    every = fitted.predict_kbest(X, 1000)
    for best, entropy in zip(every, fitted.entropy(X)):
        p = [one[-1] for one in best]
        assert sum(p) == pytest.approx(1, abs=1e-6)
        assert entropy == pytest.approx(-sum(q * math.log(q) for q in p if q > 0), abs=1e-5)
    n = 2000
    for best, drawn in zip(every, fitted.sample(X, n, seed=3)):
        assert len(drawn) == n
        counts = Counter(hashable(one[:-2]) for one in drawn)
        known = {hashable(one[:-2]): one[-1] for one in best}
        assert set(counts) <= set(known)
        for parts, q in known.items():
            assert abs(counts[parts] - n * q) <= 5 * math.sqrt(n * q * (1 - q)) + 1
        for one in drawn[:20]:
            assert known[hashable(one[:-2])] == pytest.approx(one[-1], abs=1e-9)
    # The first of many are those of few; another seed has others.
    assert [drawn[:5] for drawn in fitted.sample(X, 20, seed=3)] == fitted.sample(X, 5, seed=3)
    assert fitted.sample(X * 5, 20, seed=3) != fitted.sample(X * 5, 20, seed=4)
    assert [len(drawn) for drawn in fitted.sample(X)] == [1] * len(X)


def test_they_are_those_of_the_command_line(tmp_path):
    estimator, (X, y) = _graphs()
    fitted = estimator.fit(X, y)
    fitted.save(tmp_path / "model.esp")
    lines = [
        {"nodes": [{"features": {"0": a, "1": b}} for a, b in graph["nodes"]],
         "cliques": [{"type": "edge", "nodes": list(edge)} for edge in graph["edges"]]}
        for graph in X
    ]
    (tmp_path / "graphs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    said = subprocess.run(
        [PROGRAM, "predict", tmp_path / "model.esp", tmp_path / "graphs.jsonl", "--samples", "4", "--seed", "7", "--entropy"],
        check=True, capture_output=True, text=True,
    ).stdout
    theirs = [json.loads(line) for line in said.strip().split("\n")]
    theirs = [line for line in theirs if "samples" in line]
    assert [[one["labels"] for one in line["samples"]] for line in theirs] == [
        [labels for labels, _, _ in drawn] for drawn in fitted.sample(X, 4, seed=7)
    ]
    assert [line["entropy"] for line in theirs] == pytest.approx(fitted.entropy(X), abs=1e-8)


def test_what_is_refused():
    estimator, (X, y) = _tags()
    fitted = estimator.fit(X, y)
    for call, message in (
        (lambda: fitted.sample(X, 0), "n 0; expected at least 1"),
        (lambda: fitted.sample(X, 1.5), "n 1.5; expected a whole number"),
        (lambda: fitted.sample(X, 1, seed=-1), "seed -1; expected at least 0"),
    ):
        with pytest.raises(espalier.Error) as error:
            call()
        assert str(error.value) == message
    svm = espalier.CRF(loss="svm").fit(X, y)
    for call in (lambda: svm.sample(X), lambda: svm.entropy(X)):
        with pytest.raises(espalier.Error, match="a model of loss svm has no probabilities"):
            call()
