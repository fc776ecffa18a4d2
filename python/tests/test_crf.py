"""espalier.CRF: what sklearn-crfsuite's estimator does, and what it does not."""

import contextlib
import copy
import inspect
import io
import os
import pickle
import pty
import subprocess
import sys
import warnings

import numpy
import pandas
import pytest
import scipy.sparse

import espalier
from espalier import CRF, metrics


@pytest.fixture(scope="module")
def crf(sentences):
    return CRF(c1=0.1, c2=0.1, all_possible_transitions=True).fit(*sentences)


def test_predicts_what_it_learned(crf, held_out):
    X, y = held_out
    predicted = crf.predict(X)
    assert [len(labels) for labels in predicted] == [len(labels) for labels in y]
    assert crf.score(X, y) > 0.95
    assert crf.predict_single(X[3]) == predicted[3]
    assert crf.predict([]) == []
    assert crf.predict([[]]) == [[]]
    assert crf.predict(iter(X)) == predicted
    assert crf.predict(numpy.array(X, dtype=object)) == predicted
    assert crf.predict(pandas.Series(X, index=range(len(X))[::-1])) == predicted


def test_score_is_the_accuracy_of_tokens(crf, held_out):
    X, y = held_out
    pairs = [(a, b) for gold, labels in zip(y, crf.predict(X)) for a, b in zip(gold, labels)]
    assert crf.score(X, y) == pytest.approx(sum(a == b for a, b in pairs) / len(pairs), abs=1e-15)
    weights = [0.5] * len(X)
    weights[0] = 7
    assert crf.score(X, y, weights) != crf.score(X, y) or crf.score(X, y) == 1


def test_marginals(crf, held_out):
    X, _ = held_out
    marginals = crf.predict_marginals(X)
    for sentence, labels in zip(marginals, crf.predict(X)):
        assert len(sentence) == len(labels)
        for probabilities in sentence:
            assert list(probabilities) == crf.classes_
            assert sum(probabilities.values()) == pytest.approx(1, abs=1e-12)
    assert crf.predict_marginals_single(X[0]) == marginals[0]


def test_kbest_probabilities_of_a_short_sentence_sum_to_one(crf, held_out):
    X = [sentence for sentence in held_out[0] if len(sentence) == 2][:1]
    [labellings] = crf.predict_kbest(X, 100)
    assert len(labellings) == len(crf.classes_) ** 2
    assert sum(probability for _, _, probability in labellings) == pytest.approx(1, abs=1e-9)
    assert labellings[0][0] == crf.predict(X)[0]
    scores = [score for _, score, _ in labellings]
    assert scores == sorted(scores, reverse=True)
    for labels, score, probability in labellings:
        assert crf.sequence_score(X[0], labels) == pytest.approx(score, rel=1e-9, abs=1e-9)
        assert crf.sequence_probability(X[0], labels) == pytest.approx(probability, rel=1e-9)
    for t, probabilities in enumerate(crf.predict_marginals(X)[0]):
        for label, marginal in probabilities.items():
            total = sum(probability for labels, _, probability in labellings if labels[t] == label)
            assert total == pytest.approx(marginal, abs=1e-9)


def test_entities_are_those_of_the_labels(crf, held_out):
    X, _ = held_out
    for entities, labels in zip(crf.predict_entities(X), crf.predict(X)):
        assert [begin for _, begin, _, _ in entities] == [t for t, label in enumerate(labels) if label == "B-PER"]
        assert all(kind == "PER" and 0 < probability <= 1 + 1e-12 for kind, _, _, probability in entities)


def test_what_the_model_has(crf, sentences):
    X, y = sentences
    assert crf.classes_ == ["B-PER", "I-PER", "O"]
    assert crf.num_attributes_ == len(crf.attributes_)
    states, transitions = crf.state_features_, crf.transition_features_
    assert {attribute for attribute, _ in states} == set(crf.attributes_)
    assert {label for _, label in states} <= set(crf.classes_)
    assert ("B-PER", "I-PER") in transitions
    assert all(weight != 0 for weight in [*states.values(), *transitions.values()])
    assert crf.size_ == len(crf.model_._model.to_bytes())
    assert crf.tagger_.tag(X[0]) == crf.predict_single(X[0])


def test_certificate_and_history(crf):
    certificate = crf.certificate_
    assert certificate.dual <= certificate.primal
    assert certificate.gap == certificate.primal - certificate.dual
    assert certificate.relative_gap == certificate.gap / certificate.primal <= crf.gap
    assert certificate.inference == "exact"
    assert crf.history_[-1].primal == certificate.primal
    assert crf.training_log_.last_iteration["loss"] == certificate.primal
    assert crf.status_ == "converged" and crf.message_.startswith("converged: relative gap")


def test_the_objective_is_that_of_c1_and_c2(crf, sentences):
    X, y = sentences
    weights = [*crf.state_features_.values(), *crf.transition_features_.values()]
    loss = -sum(numpy.log(crf.sequence_probability(a, b)) for a, b in zip(X, y))
    penalty = 0.1 * sum(abs(w) for w in weights) + 0.1 * sum(w * w for w in weights)
    assert crf.certificate_.primal == pytest.approx(loss + penalty, rel=1e-6)
    assert crf.model_.info["l2"] == 0.2 and crf.model_.info["l1"] == 0.1


def test_which_features_have_weights(sentences):
    X, y = sentences
    pairs = {(a, b) for labels in y for a, b in zip(labels, labels[1:])}
    observed = CRF(c2=0.1).fit(X, y)
    assert set(observed.transition_features_) == pairs
    transitions = CRF(c2=0.1, all_possible_transitions=True).fit(X, y)
    assert len(transitions.transition_features_) == 9
    assert set(transitions.state_features_) == set(observed.state_features_)
    states = CRF(c2=0.1, all_possible_states=True).fit(X, y)
    assert set(states.transition_features_) == pairs
    assert len(states.state_features_) > len(observed.state_features_)
    both = CRF(c2=0.1, all_possible_states=True, all_possible_transitions=True, gap=1e-7).fit(X, y)
    assert set(both.state_features_) == set(states.state_features_)
    # With all features it is the same problem in another layout.
    same = CRF(c2=0.1, features="all", gap=1e-7).fit(X, y)
    assert same.certificate_.primal == pytest.approx(both.certificate_.primal, rel=1e-6)


def test_min_freq_counts_pairs():
    X = [[{"a": 1}, {"a": 1, "b": 0.5}], [{"a": 1, "b": 0.5}, {"c": 2}]]
    y = [["x", "y"], ["x", "x"]]
    crf = CRF(min_freq=2, c2=0.01).fit(X, y)
    # a with x twice, c with x by its value; a with y once, b with either less, and no transition is seen twice
    assert set(crf.state_features_) == {("a", "x"), ("c", "x")}
    assert crf.transition_features_ == {}
    assert set(CRF(c2=0.01, min_freq=1, all_possible_states=True).fit(X, y).state_features_) == {
        ("a", "x"),
        ("a", "y"),
        ("c", "x"),
    }


def test_held_out_data_is_in_the_log(sentences, held_out):
    crf = CRF(c2=0.1).fit(*sentences, *held_out)
    last = crf.training_log_.last_iteration
    assert last["item_accuracy_float"] == pytest.approx(crf.score(*held_out))
    assert last["avg_f1"] == pytest.approx(metrics.entity_f1_score(held_out[1], crf.predict(held_out[0])))
    with pytest.raises(espalier.Error, match="needs both X_dev and y_dev"):
        CRF().fit(*sentences, X_dev=held_out[0])


def test_weights_of_sentences(sentences):
    X, y = sentences
    twice = CRF(c2=0.1, gap=1e-6).fit(X + X[:10], y + y[:10])
    weighted = CRF(c2=0.1, gap=1e-6).fit(X, y, sample_weight=numpy.array([2.0] * 10 + [1.0] * (len(X) - 10)))
    assert weighted.certificate_.primal == pytest.approx(twice.certificate_.primal, rel=1e-5)


def test_losses_and_solvers(sentences, held_out):
    svm = CRF(loss="svm", c2=0.5, solver="frank-wolfe", sampling="random", gap=0.05).fit(*sentences)
    assert svm.score(*held_out) > 0.9
    assert svm.predict_kbest(held_out[0][:1], 2)[0][0][2] is None
    with pytest.raises(espalier.Error) as error:
        svm.predict_marginals(held_out[0])
    assert str(error.value) == "a model of loss svm has no probabilities; expected one with a finite beta"
    assert CRF(algorithm="ap").fit(*sentences).score(*held_out) > 0.9
    second = CRF(c2=0.1, order=2).fit(*sentences)
    assert any(len(labels) == 3 for labels in second.transition_features_)


def test_constraints(sentences, held_out):
    X, y = sentences
    crf = CRF(c2=50, valid="bio", transitions=[("O", "B-PER")], invalid="drop").fit(X, y)
    for labels in crf.predict(held_out[0]):
        assert ("O", "B-PER") not in zip(labels, labels[1:])
        assert ("O", "I-PER") not in zip(["O", *labels], labels)


def test_warm_start_continues(sentences):
    crf = CRF(c2=0.1, warm_start=True, gap=1e-5).fit(*sentences)
    passes = crf.certificate_.passes
    crf.fit(*sentences)
    assert crf.certificate_.passes < passes
    assert crf.certificate_.relative_gap <= 1e-5


def test_threads(sentences, held_out):
    assert CRF(c2=0.1, threads=2).fit(*sentences).score(*held_out) > 0.95


def test_real_values_by_rows():
    rng = numpy.random.default_rng(1)
    X = [rng.normal(size=(5, 3)) for _ in range(40)]
    y = [["p" if row[0] > 0 else "n" for row in sentence] for sentence in X]
    dense = CRF(c2=0.01).fit(X, y)
    assert dense.score(X, y) > 0.95
    sparse = CRF(c2=0.01).fit([scipy.sparse.csr_matrix(sentence) for sentence in X], y)
    assert sparse.model_._model.to_bytes() == dense.model_._model.to_bytes()


def test_pickles_and_copies(crf, held_out):
    X, _ = held_out
    crf.predict(X)
    for other in (pickle.loads(pickle.dumps(crf)), copy.copy(crf), copy.deepcopy(crf)):
        assert other.predict(X) == crf.predict(X)
        assert other.get_params() == crf.get_params()
        assert other.certificate_.primal == crf.certificate_.primal
        assert other.history_[-1].passes == crf.history_[-1].passes


def test_model_filename(tmp_path, sentences, held_out):
    path = tmp_path / "names.esp"
    crf = CRF(c2=0.1, model_filename=str(path)).fit(*sentences)
    assert path.read_bytes() == crf.model_._model.to_bytes()
    assert CRF(model_filename=str(path)).predict(held_out[0]) == crf.predict(held_out[0])


def test_not_fitted():
    for use in (lambda: CRF().predict([[]]), lambda: CRF().classes_, lambda: CRF().certificate_):
        with pytest.raises(ValueError, match=r"this CRF is not fitted; call fit\(\) first"):
            use()


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"algorithm": "pa"}, "algorithm 'pa' does not exist here; expected loss='svm', solver='mira' instead"),
        ({"algorithm": "arow"}, "algorithm 'arow' does not exist here; expected loss='softmax-margin', or loss='svm' instead"),
        ({"algorithm": "sgd"}, "unknown algorithm 'sgd'; expected 'lbfgs', 'l2sgd' or 'ap'"),
        ({"gamma": 1}, "gamma 1: not for algorithm 'lbfgs'; expected None"),
        ({"trainer_cls": object}, "trainer_cls: there is one way to train; expected None"),
        ({"c2": 1, "l2": 2}, "l2 and c2: the same regulariser twice; expected one of the two"),
        ({"c1": 1, "l1": 2}, "l1 and c1: the same regulariser twice; expected one of the two"),
        ({"max_iterations": 5, "passes": 7}, "passes and max_iterations: the same limit twice; expected one of the two"),
        ({"c2": -1}, "c2: found -1; expected a number >= 0"),
        ({"c2": 0}, "l2 0; expected a number > 0, or l1"),
        ({"c1": "many"}, "c1: found 'many'; expected a number >= 0"),
        ({"gap": "small"}, "gap: found 'small'; expected a number >= 0"),
        ({"threads": -1}, "threads: found '-1'; expected a whole number >= 0"),
        ({"order": 9}, "order: found '9'; expected a whole number from 1 to 4"),
        ({"loss": "crv"}, "loss: unknown loss 'crv'; did you mean crf?"),
        ({"solver": "eg", "cache": 3}, "cache 3: not for solver eg; expected solver cutting-plane"),
        ({"features": "all", "all_possible_states": True},
         "features: given with all_possible_states or all_possible_transitions; expected one of the two"),
        ({"kernel": "rbf,1", "min_freq": 2},
         "min_freq 2: given with kernel, whose coefficients are not of features; expected features all and no min_freq"),
        ({"transitions": [("O", "Q")]},
         "transitions: the label 'Q'; expected a label of the training data, (start), (stop) or *"),
        ({"valid": "bio", "transitions": "/nowhere/pairs"},
         "/nowhere/pairs: cannot open: No such file or directory; expected a file that can be read"),
    ],
)  # fmt: skip
def test_wrong_parameters(parameters, message, sentences):
    with pytest.raises(espalier.Error) as error:
        CRF(**parameters).fit(*sentences)
    assert str(error.value) == message


def test_unknown_parameters():
    with pytest.raises(TypeError) as error:
        CRF(c3=1)
    assert str(error.value) == "CRF.__init__() got an unexpected keyword argument 'c3'"


def test_ignored_parameters(sentences, held_out):
    ignored = CRF(c2=0.1, epsilon=1e-3, period=5, delta=0.1, num_memories=3, linesearch="Backtracking",
                  max_linesearch=5, calibration_eta=1, keep_tempfiles=True).fit(*sentences)  # fmt: skip
    assert ignored.model_._model.to_bytes() == CRF(c2=0.1).fit(*sentences).model_._model.to_bytes()


@pytest.mark.parametrize(
    "X, y, message",
    [
        ([[["a"]]] * 2, [["x"]], "X has 2 sentences and y has 1; expected as many"),
        ([[["a"], ["b"]]], [["x"]], "X[0] has 2 tokens and y[0] has 1 labels; expected as many"),
        ([], [], "data in memory: no sequences; expected at least one"),
        ([[]], [[]], "data in memory: no sequences; expected at least one"),
        ([[["a"], ["b"]]], [["x", "x"]], "data in memory: only the label 'x'; expected at least two labels"),
        ([[["a"], ["b"]]], [["x", 1]], "y[0][1]: int '1'; expected a text, the label of a token"),
        ([[["a"], ["b"]]], ["xy"], "y[0]: a text; expected a list of labels, one for each token"),
        ([[["a"], ["b"]]], [5], "y[0]: 5; expected a list of labels, one for each token"),
        ([[["a"], [""]]], [["x", "y"]], "data in memory:2: an attribute without a name; expected one"),
        ([[["a"], ["b"]]], [["x", ""]], "data in memory:2: no label; expected one for each token"),
        ([[["a"], [{}]]], [["x", "y"]], "X[0][1]: dict '{}'; expected texts, the names of attributes"),
        ([[{"a": float("nan")}, ["b"]]], [["x", "y"]], "X[0][0]: the value nan of 'a'; expected a finite number"),
    ],
)
def test_wrong_data(X, y, message):
    with pytest.raises(espalier.Error) as error:
        CRF().fit(X, y)
    assert str(error.value) == message


@pytest.mark.parametrize(
    "weights, message",
    [
        ([1], "sample_weight has 1 weights for 60 sentences; expected one for each"),
        ([0] * 60, "data in memory:5: the weight 0; expected a positive, finite number"),
        ([-1] * 60, "data in memory:5: the weight -1; expected a positive, finite number"),
    ],
)
def test_wrong_weights(weights, message, sentences):
    with pytest.raises(espalier.Error) as error:
        CRF().fit(*sentences, sample_weight=weights)
    assert str(error.value).split(":")[0] == message.split(":")[0]
    assert str(error.value).split(": ")[-1] == message.split(": ")[-1]


def test_unknown_attributes_and_labels_at_prediction(crf, held_out):
    assert len(crf.predict([[["never seen"], {"nor": "this"}]])[0]) == 2
    y = [["X"] * len(labels) for labels in held_out[1]]
    assert crf.score(held_out[0], y) == 0
    with pytest.raises(espalier.Error) as error:
        crf.sequence_score(held_out[0][0][:1], ["X"])
    assert str(error.value) == "yseq[0]: the label 'X'; expected one of the model's"
    for X in ("text", {"a": 1}, b"bytes", None, 5):
        with pytest.raises(espalier.Error, match="expected a list of sentences"):
            crf.predict(X)
        with pytest.raises(espalier.Error, match="^y: .*expected a list of sentences"):
            CRF().fit([[["a"]]], X)


def test_arguments_of_sklearn_crfsuite_come_first_and_help_shows_them_all():
    names = list(inspect.signature(CRF).parameters)
    assert names[:5] == ["algorithm", "min_freq", "all_possible_states", "all_possible_transitions", "c1"]
    assert {"l2", "loss", "gap", "threads", "solver", "order", "valid", "warm_start", "step", "kbest"} <= set(names)
    assert CRF("l2sgd", 2).min_freq == 2
    for row in ("gap", "order"):
        assert f"{row}\n" in CRF.__init__.__doc__


def test_progress_is_printed(sentences, capsys):
    CRF(c2=0.1, verbose=True).fit(*sentences)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("60 sequences, ") and lines[-1].startswith("converged: relative gap")
    assert lines[1].startswith("pass")
    CRF(c2=0.1).fit(*sentences)
    assert capsys.readouterr().out == ""


TERMINAL = """
import sys
sys.path.insert(0, sys.argv[1])
from conftest import make_sentences
from espalier import CRF
CRF(c2=1e-3, gap=1e-6, verbose=True).fit(*make_sentences(60))
"""


def test_a_terminal_has_one_line_that_is_rewritten():
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", TERMINAL, os.path.dirname(__file__)]
    process = subprocess.Popen(command, stdout=theirs)
    os.close(theirs)
    said = b""
    with contextlib.suppress(OSError):  # what Linux says at the end
        while part := os.read(ours, 4096):
            said += part
    os.close(ours)
    assert process.wait(60) == 0
    lines = said.decode().replace("\r\n", "\n").rstrip("\n").split("\n")
    assert len(lines) == 2 and lines[0].strip("\r ").startswith("60 sequences, ")
    shown = lines[1].split("\r")[1:]
    assert len(shown) > 2 and all(text.startswith("pass ") for text in shown[:-1])
    assert shown[-1].startswith("converged: relative gap")
    # Nothing of a longer line before is left.
    assert all(len(after) >= len(before.rstrip()) for before, after in zip(shown, shown[1:]))


def test_a_notebook_has_one_line_that_is_rewritten(sentences, monkeypatch):
    class OutStream(io.StringIO):
        """What the kernel of a notebook has in place of standard output: no terminal."""

    OutStream.__module__ = "ipykernel.iostream"
    monkeypatch.setitem(sys.modules, "ipykernel", object())
    monkeypatch.setattr(sys, "stdout", OutStream())
    CRF(c2=1e-3, gap=1e-6, verbose=True).fit(*sentences)
    said = sys.stdout.getvalue()
    assert said.count("\n") == 2 and said.count("\rpass ") > 2


def test_a_file_has_lines(sentences, monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    CRF(c2=1e-3, gap=1e-6, verbose=True).fit(*sentences)
    assert "\r" not in sys.stdout.getvalue() and sys.stdout.getvalue().count("\npass ") > 2


def test_a_model_file_that_cannot_be_written_is_found_out_before_training(tmp_path, sentences, capsys):
    path = str(tmp_path / "none" / "model.esp")
    with pytest.raises(espalier.Error) as error:
        CRF(model_filename=path, verbose=True).fit(*sentences)
    expected = f"{path}: cannot create: No such file or directory; expected a folder that exists and can be written"
    assert str(error.value) == expected and capsys.readouterr().out == ""


@pytest.mark.parametrize("k, message", [
    (0, "k 0; expected at least 1"), (-1, "k -1; expected at least 1"), ("2", "k '2'; expected a whole number"),
])
def test_wrong_k(crf, held_out, k, message):
    with pytest.raises(espalier.Error) as error:
        crf.predict_kbest(held_out[0], k)
    assert str(error.value) == message


def test_no_warnings(sentences):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CRF(c2=0.1).fit(*sentences)
