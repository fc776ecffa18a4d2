"""How good label sequences are: of single tokens, of whole sentences, and of the chunks that labels spell.

>>> from espalier import metrics
>>> gold, predicted = [["B-PER", "I-PER", "O"]], [["B-PER", "O", "O"]]
>>> round(metrics.flat_accuracy_score(gold, predicted), 3)
0.667
>>> metrics.entity_f1_score(gold, predicted)
0.0

The flat metrics but accuracy are scikit-learn's, of all tokens one after the other; those of entities count as conlleval
does, and need nothing else.
"""

from . import _espalier

__all__ = [
    "entity_classification_report",
    "entity_f1_score",
    "entity_precision_score",
    "entity_recall_score",
    "entity_scores",
    "flat_accuracy_score",
    "flat_classification_report",
    "flat_f1_score",
    "flat_fbeta_score",
    "flat_precision_score",
    "flat_recall_score",
    "sequence_accuracy_score",
]


def _flat(y_true, y_pred):
    if len(y_true) != len(y_pred):
        raise _espalier.Error(
            f"y_true has {len(y_true)} sentences and y_pred has {len(y_pred)}; expected as many"
        )
    for i, (gold, predicted) in enumerate(zip(y_true, y_pred)):
        if len(gold) != len(predicted):
            raise _espalier.Error(
                f"y_true[{i}] has {len(gold)} labels and y_pred[{i}] has {len(predicted)}; expected as many"
            )
    return [label for labels in y_true for label in labels], [label for labels in y_pred for label in labels]


def flat_accuracy_score(y_true, y_pred, *, sample_weight=None):
    """The share of tokens whose label is right; sample_weight says how much each sentence counts."""
    _flat(y_true, y_pred)
    weights = [1] * len(y_true) if sample_weight is None else list(sample_weight)
    right = total = 0
    for gold, predicted, weight in zip(y_true, y_pred, weights):
        right += weight * sum(a == b for a, b in zip(gold, predicted))
        total += weight * len(gold)
    return right / total if total else 0.0


def sequence_accuracy_score(y_true, y_pred):
    """The share of sentences whose labels are all right."""
    _flat(y_true, y_pred)
    right = sum(list(gold) == list(predicted) for gold, predicted in zip(y_true, y_pred))
    return right / len(y_true) if len(y_true) else 0.0


def flat_precision_score(y_true, y_pred, **kwargs):
    """scikit-learn's precision_score of all tokens."""
    from sklearn.metrics import precision_score

    return precision_score(*_flat(y_true, y_pred), **kwargs)


def flat_recall_score(y_true, y_pred, **kwargs):
    """scikit-learn's recall_score of all tokens."""
    from sklearn.metrics import recall_score

    return recall_score(*_flat(y_true, y_pred), **kwargs)


def flat_f1_score(y_true, y_pred, **kwargs):
    """scikit-learn's f1_score of all tokens."""
    from sklearn.metrics import f1_score

    return f1_score(*_flat(y_true, y_pred), **kwargs)


def flat_fbeta_score(y_true, y_pred, beta, **kwargs):
    """scikit-learn's fbeta_score of all tokens."""
    from sklearn.metrics import fbeta_score

    return fbeta_score(*_flat(y_true, y_pred), beta=beta, **kwargs)


def flat_classification_report(y_true, y_pred, labels=None, **kwargs):
    """scikit-learn's classification_report of all tokens."""
    from sklearn.metrics import classification_report

    return classification_report(*_flat(y_true, y_pred), labels=labels, **kwargs)


def entity_scores(y_true, y_pred, encoding=None):
    """Accuracy, and precision, recall and F1 of chunks as conlleval counts them, as a dict; also of each type.

    conlleval takes neighbouring chunks of one type for one in encodings other than BIO; with ``encoding='bioes'`` (or
    another one) labels are converted to BIO first. Where labels do not spell chunks there is an accuracy alone.

    >>> scores = entity_scores([["B-PER", "I-PER", "O"]], [["B-PER", "I-PER", "B-LOC"]])
    >>> scores["precision"], scores["recall"], scores["types"]["PER"]["f1"]
    (0.5, 1.0, 1.0)
    """
    return _espalier.evaluate_tags(list(y_true), list(y_pred), encoding)[0]


def entity_classification_report(y_true, y_pred, encoding=None):
    """The same as a text: what ``espalier eval`` prints."""
    return _espalier.evaluate_tags(list(y_true), list(y_pred), encoding)[1]


def _entity_rate(name, y_true, y_pred, encoding):
    scores = entity_scores(y_true, y_pred, encoding)
    if name not in scores:
        raise _espalier.Error("labels that do not spell chunks; expected some such as B-PER")
    return scores[name]


def entity_precision_score(y_true, y_pred, encoding=None):
    """The share of predicted chunks that are right."""
    return _entity_rate("precision", y_true, y_pred, encoding)


def entity_recall_score(y_true, y_pred, encoding=None):
    """The share of chunks that were found."""
    return _entity_rate("recall", y_true, y_pred, encoding)


def entity_f1_score(y_true, y_pred, encoding=None):
    """The harmonic mean of precision and recall of chunks."""
    return _entity_rate("f1", y_true, y_pred, encoding)
