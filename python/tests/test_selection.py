"""espalier.path and espalier.cross_validate with a CRF; the other estimators are in their own tests."""

import statistics
import subprocess

import espalier
import pytest
from espalier import CRF, metrics
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, PredefinedSplit

from conftest import make_sentences
from test_program import write

VALUES = [10.0, 1.0, 0.1]


def flat(X):
    """Items of single attributes, which files can hold."""
    return [[{f"word={item['word']}": 1.0, f"title={item['title']}": 1.0} for item in xseq] for xseq in X]


def test_a_path_certifies_the_optimum_of_every_value(sentences, held_out):
    crf = CRF(c1=0.05, c2=7.0, all_possible_transitions=True, gap=1e-4)
    path = espalier.path(crf, *sentences, *held_out, l2_max=10, l2_min=0.1, factor=0.1)
    assert [point["l2"] for point in path] == pytest.approx(VALUES)
    for point in path:
        alone = CRF(c1=0.05, l2=point["l2"], all_possible_transitions=True, gap=1e-4).fit(*sentences).certificate_
        found = point["certificate"]
        assert found.relative_gap <= 1e-4 and point["l1"] == 0.05
        # The optimum lies in both intervals.
        assert max(found.dual, alone.dual) <= min(found.primal, alone.primal)
    errors = [point["dev_error"] for point in path]
    assert path.best["dev_error"] == min(errors)
    assert path.best["dev_error"] == pytest.approx(
        1 - metrics.entity_f1_score(held_out[1], path.estimator.predict(held_out[0]))
    )
    assert path.estimator.get_params() == {**crf.get_params(), "c2": None, "l2": path.best_l2}
    assert crf.c2 == 7.0 and not hasattr(crf, "model_")
    assert list(path.to_frame().l2) == [point["l2"] for point in path]
    assert str(path).splitlines()[1 + path.best_index].endswith("best")


def test_a_path_is_that_of_the_command_line(tmp_path, program, sentences, held_out):
    for name, (X, y) in (("train", sentences), ("dev", held_out)):
        write(tmp_path / name, [list(zip(xseq, yseq)) for xseq, yseq in zip(flat(X), y)])
    command = [program, "path", "tag", tmp_path / "train", "--dev", tmp_path / "dev", "--format", "crfsuite", "--quiet"]
    values = ["--l2-max", "10", "--l2-min", "0.1", "--factor", "0.1"]
    subprocess.run([*command, *values, "-o", tmp_path / "theirs.esp"], check=True)
    path = espalier.path(
        CRF(features="all"), flat(sentences[0]), sentences[1], flat(held_out[0]), held_out[1], l2_max=10, l2_min=0.1, factor=0.1
    )
    path.estimator.save(tmp_path / "ours.esp")
    assert (tmp_path / "ours.esp").read_bytes() == (tmp_path / "theirs.esp").read_bytes()


def test_a_path_chooses_what_a_grid_search_chooses(held_out):
    X, y = make_sentences(40)
    scorer = make_scorer(metrics.entity_f1_score)
    folds = PredefinedSplit([-1] * len(X) + [0] * len(held_out[0]))
    grid = GridSearchCV(CRF(gap=1e-6), {"l2": VALUES}, scoring=scorer, cv=folds, refit=False)
    grid.fit(X + held_out[0], y + held_out[1])
    path = espalier.path(CRF(gap=1e-6), X, y, *held_out, l2_max=10, l2_min=0.1, factor=0.1)
    assert [1 - point["dev_error"] for point in path] == pytest.approx(list(grid.cv_results_["mean_test_score"]))


def test_cross_validation_of_a_crf(sentences):
    crf = CRF(c2=3.0, gap=1e-4)
    result = espalier.cross_validate(crf, *sentences, l2=(10.0, 0.1, 0.1), folds=3)
    assert [point["l2"] for point in result] == pytest.approx(VALUES) and result.metric == "F1 %"
    assert result.best["mean"] == max(point["mean"] for point in result)
    assert result.simplest_l2 >= result.best_l2
    assert all(point["folds"] == 3 and point["passes"] > 0 for point in result)
    assert crf.c2 == 3.0 and not hasattr(crf, "model_")
    again = espalier.cross_validate(CRF(gap=1e-4, threads=2), *sentences, l2=(10.0, 0.1, 0.1), folds=3)
    assert [point["mean"] for point in again] == pytest.approx([point["mean"] for point in result])
    one = espalier.cross_validate(CRF(gap=1e-4, seed=3), *sentences, l2=1.0, folds=3)
    other = espalier.cross_validate(CRF(gap=1e-4, seed=4), *sentences, l2=1.0, folds=3)
    assert one.best["mean"] != other.best["mean"]  # the seed deals out the folds
    assert statistics.mean(point["l2"] for point in espalier.cross_validate(CRF(), *sentences, folds=2)) > 0


def test_automatic_l2_of_a_crf(sentences, held_out):
    crf = CRF(l2="auto").fit(*sentences, *held_out)
    assert crf.get_params()["l2"] == "auto" and crf.model_.info["l2"] > 0
    with pytest.raises(espalier.Error) as error:
        CRF(l2="auto").fit(*sentences)
    assert str(error.value) == "a search for l2: no held-out data to choose on; expected X_dev"
    with pytest.raises(espalier.Error) as error:
        CRF(patience=2).fit(*sentences)
    assert str(error.value) == "patience: no held-out data to look at; expected X_dev"


@pytest.mark.parametrize("given, message", [
    ({"l2": None}, "l2: None; expected a number, 'auto', (min, max) to search in or (max, min, factor) of a path"),
    ({"l2": "best"}, "l2: 'best'; expected a number, 'auto', (min, max) to search in or (max, min, factor) of a path"),
    ({"l2": (0.1, 10.0, 0.1)}, "l2_max 0.1 l2_min 10: invalid range; expected 0 < l2_min <= l2_max"),
    ({"folds": 1}, "folds 1: found 60 examples; expected at least 2 folds, and at least one example per fold"),
    ({"sample_weight": [1.0]}, "sample_weight has 1 weights for 60 sentences; expected one for each"),
])
def test_cross_validate_refuses(sentences, given, message):
    with pytest.raises(espalier.Error) as error:
        espalier.cross_validate(CRF(), *sentences, **given)
    assert str(error.value) == message


@pytest.mark.parametrize("given, message", [
    ({"l2_max": "a"}, "l2_max: found 'a'; expected a number"),
    ({"l2_max": 0.1}, "l2_max 0.1 l2_min 0.3: invalid range; expected 0 < l2_min <= l2_max"),
    ({"factor": 2}, "factor 2: l2 would not decrease; expected a number between 0 and 1"),
])
def test_path_refuses(sentences, given, message):
    with pytest.raises(espalier.Error) as error:
        espalier.path(CRF(), *sentences, **given)
    assert str(error.value) == message
