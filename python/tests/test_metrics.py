"""espalier.metrics: flat ones are scikit-learn's, those of entities conlleval's."""

import numpy
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

import espalier
from espalier import metrics

labels = st.sampled_from(["O", "B-A", "I-A", "B-B", "I-B"])
pairs = st.lists(st.lists(st.tuples(labels, labels), min_size=1, max_size=6), min_size=1, max_size=5)


def chunks(tags):
    """Those of BIO as conlleval has them: an I that does not continue begins one, too."""
    found, begin, kind = set(), None, None
    for t, tag in enumerate([*tags, "O"]):
        prefix, _, of = tag.partition("-")
        if begin is not None and (prefix != "I" or of != kind):
            found.add((begin, t, kind))
            begin = None
        if prefix != "O" and begin is None:
            begin, kind = t, of
    return found


@given(pairs)
def test_entities_as_conlleval_counts(sentences):
    gold = [[a for a, _ in sentence] for sentence in sentences]
    predicted = [[b for _, b in sentence] for sentence in sentences]
    found = [(chunks(a), chunks(b)) for a, b in zip(gold, predicted)]
    right = sum(len(a & b) for a, b in found)
    of_gold, of_predicted = sum(len(a) for a, _ in found), sum(len(b) for _, b in found)
    if of_gold + of_predicted == 0:
        return  # all O: no chunk tags
    assert metrics.entity_precision_score(gold, predicted) == (right / of_predicted if of_predicted else 0)
    assert metrics.entity_recall_score(gold, predicted) == (right / of_gold if of_gold else 0)
    assert metrics.entity_f1_score(gold, predicted) == pytest.approx(2 * right / (of_gold + of_predicted))
    assert metrics.entity_scores(gold, predicted)["chunks"] == {
        "gold": of_gold,
        "predicted": of_predicted,
        "correct": right,
    }


@given(pairs)
def test_flat_ones_are_of_all_tokens(sentences):
    gold = [[a for a, _ in sentence] for sentence in sentences]
    predicted = [[b for _, b in sentence] for sentence in sentences]
    flat = [a for s in gold for a in s], [b for s in predicted for b in s]
    assert metrics.flat_accuracy_score(gold, predicted) == pytest.approx(sklearn.metrics.accuracy_score(*flat))
    options = {"average": "weighted", "zero_division": 0}
    for name in ("f1", "precision", "recall"):
        ours = getattr(metrics, f"flat_{name}_score")(gold, predicted, **options)
        assert ours == getattr(sklearn.metrics, f"{name}_score")(*flat, **options)
    assert metrics.flat_fbeta_score(gold, predicted, 2, **options) == sklearn.metrics.fbeta_score(*flat, beta=2, **options)
    assert metrics.flat_classification_report(
        gold, predicted, zero_division=0
    ) == sklearn.metrics.classification_report(*flat, zero_division=0)
    whole = sum(a == b for a, b in zip(gold, predicted)) / len(gold)
    assert metrics.sequence_accuracy_score(gold, predicted) == whole


def test_reports_and_encodings():
    gold, predicted = [["S-A", "S-A", "O"]], [["S-A", "S-A", "S-A"]]
    assert metrics.entity_scores(gold, predicted)["chunks"]["gold"] == 1  # as conlleval has it
    assert metrics.entity_scores(gold, predicted, encoding="bioes")["chunks"]["gold"] == 2
    report = metrics.entity_classification_report([["B-A", "O"]], [["B-A", "O"]])
    assert "accuracy 100.00 %" in report and "all types" in report
    arrays = [numpy.array(["B-A", "O"])], [numpy.array(["B-A", "B-A"])]
    assert metrics.entity_recall_score(*arrays) == 1


@pytest.mark.parametrize(
    "gold, predicted, message",
    [
        ([["O"]], [], "y_true has 1 sentences and y_pred has 0; expected as many"),
        ([["O"]], [["O", "O"]], "y_true[0] has 1 labels and y_pred[0] has 2; expected as many"),
    ],
)
def test_ragged(gold, predicted, message):
    for metric in (metrics.entity_scores, metrics.flat_accuracy_score, metrics.sequence_accuracy_score):
        with pytest.raises(espalier.Error) as error:
            metric(gold, predicted)
        assert str(error.value) == message


def test_wrong_labels():
    with pytest.raises(espalier.Error, match="labels that do not spell chunks"):
        metrics.entity_f1_score([["NN"]], [["NN"]])
    with pytest.raises(espalier.Error, match=r"y_pred\[0\]\[0\]: int '1'; expected a text, the label of a token"):
        metrics.entity_f1_score([["O"]], [[1]])
    with pytest.raises(espalier.Error, match="unknown encoding"):
        metrics.entity_scores([["O"]], [["O"]], encoding="bloops")
