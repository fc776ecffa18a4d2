"""With scikit-learn, and without it."""

import subprocess
import sys

import joblib
import pytest
from sklearn.base import clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_predict, cross_val_score

from espalier import CRF, Classifier, metrics


def test_clone_and_params():
    crf = CRF(c1=0.1, c2=0.2, gap=1e-4, solver="eg")
    copy = clone(crf)
    assert copy.get_params() == crf.get_params() and copy is not crf
    assert copy.set_params(c2=3.0) is copy and copy.c2 == 3.0
    with pytest.raises(ValueError):
        copy.set_params(c3=1)
    assert repr(CRF(c2=0.5)) == "CRF(c2=0.5)"


def test_searches(sentences, held_out):
    X, y = sentences
    grid = GridSearchCV(CRF(), {"c2": [0.01, 100.0]}, cv=3).fit(X, y)
    assert grid.best_params_ == {"c2": 0.01}
    assert grid.predict(held_out[0]) == grid.best_estimator_.predict(held_out[0])
    scorer = make_scorer(metrics.flat_f1_score, average="weighted")
    search = RandomizedSearchCV(
        CRF(all_possible_transitions=True), {"c1": [0.0, 0.1], "c2": [0.01, 0.1, 1.0]}, n_iter=3, cv=2, scoring=scorer,
        random_state=1, n_jobs=2,
    ).fit(X, y)  # fmt: skip
    assert search.best_score_ > 0.9
    assert metrics.flat_f1_score(held_out[1], search.predict(held_out[0]), average="weighted") > 0.9


def test_cross_validation(sentences):
    X, y = sentences
    assert min(cross_val_score(CRF(c2=0.1), X, y, cv=3)) > 0.85
    predicted = [list(labels) for labels in cross_val_predict(CRF(c2=0.1), X, y, cv=3)]
    assert metrics.flat_accuracy_score(y, predicted) > 0.85


def test_joblib(sentences, held_out, tmp_path):
    crf = CRF(c2=0.1).fit(*sentences)
    joblib.dump(crf, tmp_path / "crf")
    assert joblib.load(tmp_path / "crf").predict(held_out[0]) == crf.predict(held_out[0])
    parts = [held_out[0][:15], held_out[0][15:]]
    predicted = joblib.Parallel(n_jobs=2)(joblib.delayed(crf.predict)(part) for part in parts)
    assert predicted[0] + predicted[1] == crf.predict(held_out[0])


ABSENT = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("numpy", "sklearn", "pandas", "scipy"): raise ImportError(name)
sys.meta_path.insert(0, Absent())
"""


def test_without_other_packages():
    code = ABSENT + """
import copy, pickle
from espalier import CRF, Classifier, metrics
X, y = [[{"a": 1}, {"b": 1}]], [["x", "y"]]
crf = CRF(c2=0.1, gap=1e-4).fit(X, y)
assert crf.predict(X) == y and crf.score(X, y) == 1 and not {"numpy", "sklearn"} & set(sys.modules)
assert crf.predict([[["a"], {"b"}], ()]) == [["x", "y"], []]
assert crf.get_params()["c2"] == 0.1 and crf.set_params(c2=1).c2 == 1
assert pickle.loads(pickle.dumps(crf)).predict(X) == y == copy.deepcopy(crf).predict(X)
assert repr(CRF(c2=0.5)) == "CRF(c2=0.5)"
try: crf.set_params(c3=1)
except ValueError as error: assert str(error).startswith("unknown parameter 'c3' of CRF; expected one of ['algorithm'")
else: raise AssertionError
try: CRF().predict(X)
except ValueError as error: assert str(error) == "this CRF is not fitted; call fit() first"
else: raise AssertionError
assert metrics.entity_f1_score([["B-A"]], [["B-A"]]) == 1
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_other_tasks_without_other_packages(tmp_path):
    Classifier().fit([[0.0], [1.0]], [0, 1]).save(tmp_path / "classes.esp")
    code = ABSENT + """
import espalier
from espalier import CRF, GraphModel, Parser, TreebankParser
trees = [[("a", "_", "D", "_", "_", 2, "d"), ("b", "_", "N", "_", "_", 0, "r")]] * 2
parser = Parser(l2=0.1).fit(trees)
assert parser.predict(trees) == trees and parser.score(trees) == 1 and len(parser.predict_kbest(trees, 2)[0]) == 2
brackets = ["(S (NP (DT the) (NN dog)) (VP (VBZ barks)))"]
assert TreebankParser(l2=0.1, output="brackets").fit(brackets).predict(brackets) == brackets
graphs, labels = [{"nodes": [[1.0, 0.0], [0.5, 0.1]], "edges": [(0, 1)]}, {"nodes": [[0.0, 1.0]], "edges": []}], [["a", "a"], ["b"]]
assert GraphModel(l2=0.1).fit(graphs, labels).predict(graphs) == labels
X, y = [[{"a": 1}, {"b": 1}]] * 4, [["x", "y"]] * 4
crf = CRF(c2=0.1).fit(X, y)
assert crf.explain(X[0]).labels == ["x", "y"] and "<table>" in crf.explain_weights()._repr_html_()
assert len(espalier.path(CRF(), X, y, X, y, l2_max=1, l2_min=0.1, factor=0.1)) == 2
assert espalier.cross_validate(CRF(), X, y, l2=1.0, folds=2).best["mean"] == 100
assert crf.score(X, y, sample_weight=[1, 2, 3, 4]) == 1
for call in (lambda: espalier.load(sys.argv[1]), lambda: espalier.Classifier().fit([[0.0], [1.0]], [0, 1])):
    try: call()
    except ImportError as error: assert str(error) == "espalier.Classifier needs NumPy"
    else: raise AssertionError
assert not {"numpy", "sklearn"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code, tmp_path / "classes.esp"], check=True)


def test_submodules_are_there():
    code = "import espalier; espalier.metrics.entity_f1_score, espalier.pycrfsuite.Trainer"
    subprocess.run([sys.executable, "-c", code], check=True)
