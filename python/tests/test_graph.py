"""espalier.GraphModel: the command line's weights, all ways to say a graph, and what is refused."""

import copy
import itertools
import json
import os
import pickle
import subprocess

import espalier
import numpy as np
import pytest
from espalier import GraphModel
from hypothesis import given, settings, strategies as st
from sklearn.base import clone

PROGRAM = os.environ.get("ESPALIER_PROGRAM", "build/espalier")


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def chains(n=12, seed=0):
    """Rows of two features with labels that neighbours share."""
    random = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        size = random.integers(1, 6)
        label = random.integers(0, 2)
        X.append({
            "nodes": random.normal(size=(size, 2)) + [label, -label],
            "edges": np.array([(v, v + 1) for v in range(size - 1)]).reshape(-1, 2),
        })
        y.append([int(label)] * size)
    return X, y


@pytest.fixture(scope="module")
def pictures():
    lines = run("generate", "graph", "-n", 6, "--seed", 1).strip().split("\n")
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("options", [{}, {"loss": "svm"}, {"inference": "trw"}, {"nodes_only": True}])
def test_same_weights_as_the_command_line(pictures, tmp_path, options):
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(graph) + "\n" for graph in pictures))
    words = []
    for name, value in options.items():
        words += ["--" + name.replace("_", "-")] + ([] if value is True else [value])
    run("train", "graph", tmp_path / "train.jsonl", *words, "--gap", 0.05, "-o", tmp_path / "theirs.esp", "--quiet")
    graphs = [graph for graph in pictures if "nodes" in graph]
    types = next((graph["types"] for graph in pictures if "types" in graph), None)
    fitted = GraphModel(types=types, gap=0.05, **options).fit(graphs)
    fitted.save(tmp_path / "ours.esp")
    assert (tmp_path / "ours.esp").read_bytes() == (tmp_path / "theirs.esp").read_bytes()
    predicted = run("predict", tmp_path / "ours.esp", tmp_path / "train.jsonl").strip().split("\n")
    assert fitted.predict(graphs) == [json.loads(line)["labels"] for line in predicted if "labels" in line]


def test_ways_to_say_the_same():
    X, y = chains()
    expected = GraphModel(l2=0.1).fit(X, y)
    lists = [{
        "nodes": [{"features": [float(v) for v in row]} for row in graph["nodes"]],
        "cliques": [{"type": "edge", "nodes": [int(a), int(b)]} for a, b in graph["edges"]],
        "labels": labels,
    } for graph, labels in zip(X, y)]
    dicts = [{
        "nodes": [{"features": {"0": row[0], "1": row[1]}} for row in graph["nodes"]],
        "edges": [tuple(edge) for edge in graph["edges"]],
        "edge_features": [["constant"] for _ in graph["edges"]],
    } for graph in X]
    for other in (GraphModel(l2=0.1).fit(lists), GraphModel(l2=0.1).fit(dicts, y), GraphModel(l2=0.1).fit(X, np.array(y, dtype=object))):
        assert other.model_._model.to_bytes() == expected.model_._model.to_bytes()
        assert other.predict(X) == expected.predict(X)
    assert sorted(expected.classes_) == [0, 1]
    assert expected.score(X, y) == np.mean([a == b for p, g in zip(expected.predict(X), y) for a, b in zip(p, g)])


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 10**6))
def test_probabilities_are_those_of_all_labellings(seed):
    X, y = chains(seed=seed)
    y[0], y[1] = [0] * len(y[0]), [1] * len(y[1])
    fitted = GraphModel(l2=1).fit(X, y)
    for graph, nodes in zip(X, fitted.predict_marginals(X)):
        size = len(nodes)
        best = fitted.predict_kbest([graph], 2**size)[0]
        assert {tuple(labels) for labels, _, _ in best} == set(itertools.product([0, 1], repeat=size))
        assert sum(p for _, _, p in best) == pytest.approx(1)
        for v in range(size):
            of_one = sum(p for labels, _, p in best if labels[v] == 1)
            assert nodes[v][1] == pytest.approx(of_one, abs=1e-9)
        assert best[0][0] == fitted.predict([graph])[0]


def test_features_of_edges_and_types():
    X = [{"nodes": [["a"], ["b"]], "edges": [(0, 1)], "edge_features": np.array([[0.5, 1.0]])}] * 2
    fitted = GraphModel(types={"node": {"labels": ["x", "y", "z"]}}).fit(X, [["x", "y"]] * 2)
    assert sorted(fitted.classes_) == ["x", "y", "z"]
    assert repr(fitted.model_).endswith("edge of 2 nodes: 2 features>")
    forbidden = {"edge": {"nodes": ["node", "node"], "forbidden": [["x", "x"]]}, "node": {"labels": ["x", "y"]}}
    fitted = GraphModel(types=forbidden).fit([{"nodes": [["a"], ["a"]], "edges": [(0, 1)]}] * 2, [["x", "y"]] * 2)
    assert all(labels != ["x", "x"] for labels, _, _ in fitted.predict_kbest([{"nodes": [["a"], ["a"]], "edges": [(0, 1)]}], 4)[0])


@pytest.mark.parametrize("X, y, message", [
    ([3], [["a"]], "X[0]: 3; expected a dict with nodes, and edges or cliques"),
    ([{"edges": []}], [["a"]], "X[0]: {'edges': []}; expected nodes"),
    ([{"nodes": [["f"]]}], [["a", "b"]], "y[0] has 2 labels for 1 nodes; expected one for each"),
    ([{"nodes": [["f"]]}], [["a"], ["b"]], "X has 1 graphs and y has 2; expected as many"),
    ([{"nodes": [["f"]]}], None, "X[0]: no labels; expected y, or the key 'labels' in each graph"),
    ([{"nodes": [["f"]], "edges": [(0,)]}], [["a"]], "X[0], edges: (0,); expected two nodes"),
    ([{"nodes": [["f"]], "edges": [(0, 7)]}], [["a"]], "data in memory:1: "),
    ([{"nodes": [{"colour": "red"}]}], [["a"]], "X[0], nodes: 'colour'; expected type, features, allowed or cost"),
    ([{"nodes": np.array([[np.nan]])}], [["a"]], "data in memory:1: "),
    ([], [], "data in memory: no graphs; expected at least one"),
    (3, None, "X: int 3; expected a list"),
])
def test_refuses(X, y, message):
    with pytest.raises((espalier.Error, TypeError)) as error:
        GraphModel().fit(X, y)
    assert str(error.value).startswith(message)


def test_refuses_what_a_model_cannot_do():
    X, y = chains()
    svm = GraphModel(loss="svm").fit(X, y)
    with pytest.raises(espalier.Error, match="probabilities"):
        svm.predict_marginals(X)
    assert svm.predict_kbest(X, 1)[0][0][2] is None
    with pytest.raises(espalier.Error, match="^inference: "):
        GraphModel(inference="guess").fit(X, y)
    with pytest.raises(espalier.Error, match="names that differ"):
        GraphModel().fit([{"nodes": [["a"], ["b"]]}], [["1", 1]])


def test_pickle_copy_clone_save_load_and_selection(tmp_path):
    X, y = chains(n=30)
    fitted = GraphModel(l2=0.5).fit(X, y)
    for other in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        assert other.predict(X) == fitted.predict(X)
    fitted.save(tmp_path / "model.esp")
    loaded = espalier.load(tmp_path / "model.esp")
    assert isinstance(loaded, GraphModel) and loaded.l2 == 0.5
    assert loaded.predict(X) == [[str(label) for label in labels] for labels in fitted.predict(X)]
    assert not hasattr(clone(fitted), "model_")
    assert fitted.certificate_.relative_gap <= 1e-3
    path = espalier.path(GraphModel(), X[:20], y[:20], X[20:], y[20:], l2_max=10, l2_min=0.1, factor=0.1)
    assert path.best["dev_error"] == pytest.approx(1 - path.estimator.score(X[20:], y[20:]))
    result = espalier.cross_validate(GraphModel(), X, y, l2=(10.0, 1.0, 0.1), folds=3)
    assert len(result) == 2
    weighted = GraphModel()
    data, _ = weighted._prepare(X, y, sample_weight=[2.0] * 30)
    assert data.describe().startswith("30 graphs")
