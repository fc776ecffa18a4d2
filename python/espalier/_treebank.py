"""The estimator for phrase structure: TreebankParser."""

import os

from . import _espalier
from ._estimator import Parameter, count_of, drawn
from ._parser import _refuse
from ._task import TaskEstimator, as_sequence, is_path


class TreebankParser(TaskEstimator):
    """A constituency parser: a tree over the words of a sentence, from a treebank in brackets, certified.

    Trees are brackets in a text, the path of a file of them, or a list, each as brackets, as nested tuples
    ``(label, child, ...)`` with ``(tag, word)`` for words, or as a tree of NLTK.

    >>> from espalier import TreebankParser
    >>> trees = ["(S (NP (DT the) (NN dog)) (VP (VBZ barks)))", "(S (NP (DT a) (NN cat)) (VP (VBZ sleeps)))"]
    >>> parser = TreebankParser(l2=0.1).fit(trees)
    >>> parser.predict([[("the", "DT"), ("cat", "NN"), ("barks", "VBZ")]])
    [('S', ('NP', ('DT', 'the'), ('NN', 'cat')), ('VP', ('VBZ', 'barks')))]
    >>> parser.score(trees)
    1.0

    With ``tags='predicted'`` sentences may come without tags; ``output='brackets'`` gives texts in place of tuples.
    """

    _task = "treebank"
    _engine_type = _espalier.TreebankParser
    _own_parameters = (
        Parameter("l2", 1.0, "l2/2 |w|^2 against the sum of losses; 'auto': the best on X_dev"),
        Parameter("output", "tuples", "what predict() gives trees as: 'tuples' or 'brackets'"),
        Parameter("verbose", False, "print progress"),
        Parameter("warm_start", False, "fit() starts from the weights that the last one ended with"),
    )
    _left_out = ("format", "first")

    def fit(self, X, y=None, X_dev=None, y_dev=None):
        """Trains on trees, and returns the estimator.

        y is not used. X_dev is held-out data, for ``l2='auto'``, ``patience`` and progress.
        """
        return self._fit(*self._prepare(X, y, X_dev, y_dev))

    def _prepare(self, X, y=None, X_dev=None, y_dev=None, sample_weight=None):
        _refuse(y=y, y_dev=y_dev, sample_weight=sample_weight)
        self._brackets()
        train = _trees(X)
        dev = None if X_dev is None else _trees(X_dev, "X_dev")
        return _espalier.treebank_training(train, dev, self._options("task"), self.threads), self._settings()

    def predict(self, X):
        """The best tree of each sentence: a list of words or of ``(word, tag)``, or a tree, whose words and tags it takes."""
        return self._engine().parse(_sentences(X), self._brackets())

    def predict_kbest(self, X, k):
        """The k best trees of each sentence, best first, as tuples ``(tree, score, probability)``.

        The probability is None where the loss has none, as that of an SVM.
        """
        return self._engine().kbest(_sentences(X), count_of(k), self._brackets())

    def sample(self, X, n=1, seed=1):
        """n trees of each sentence, drawn from the model's distribution: those of ``espalier predict --samples n --seed seed``.

        They are independent of each other and have the form of ``predict_kbest``; the first of many are those of few.
        """
        return self._engine().samples(_sentences(X), *drawn(n, seed), self._brackets())

    def entropy(self, X):
        """The entropy of the model's distribution for each sentence, in nats: 0 where it is certain."""
        return self._engine().entropies(_sentences(X))

    def evaluate(self, X):
        """How good the trees are against those of X, as evalb counts: a dict, as ``espalier eval --json`` prints it."""
        return self._engine().evaluate(_trees(X))

    def score(self, X, y=None):
        """The F1 of labelled brackets, as evalb counts them."""
        return self.evaluate(X)["f1"]

    def _brackets(self):
        if self.output not in ("tuples", "brackets"):
            raise _espalier.Error(f"output: {self.output!r}; expected 'tuples' or 'brackets'")
        return self.output == "brackets"


def _trees(X, name="X"):
    if is_path(X):
        return _espalier.Trees.of_file(os.fspath(X))
    if isinstance(X, str):
        return _espalier.Trees.of_text(X)
    return _espalier.Trees.of_list(as_sequence(X, name), name)


def _sentences(X):
    """Sentences to parse; a text or a file has trees."""
    return _trees(X).to_list() if isinstance(X, (str, os.PathLike)) else as_sequence(X)
