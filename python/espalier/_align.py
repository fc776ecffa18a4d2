"""The estimator for word alignment: Aligner."""

from . import _espalier
from ._estimator import Parameter, count_of
from ._task import TaskEstimator, as_sequence


class Aligner(TaskEstimator):
    """A matching of the words of two sentences, trained with certificates: which of them translate each other.

    X has pairs ``(source, target)``; each sentence is a list of words, or a text with white space between them. y has a list of
    links for each: ``(i, j)`` links source word i and target word j, from 0, and ``(i, j, False)`` is a possible link, which is
    neither right nor wrong.

    >>> from espalier import Aligner
    >>> X = [("the old house", "huset gamle"), (["a", "house"], ["hus"])]
    >>> y = [[(0, 0, False), (1, 1), (2, 0)], [(1, 0)]]
    >>> aligner = Aligner(loss="svm", l2=0.1).fit(X, y)
    >>> aligner.predict(X)
    [[(1, 1), (2, 0)], [(1, 0)]]
    >>> aligner.score(X, y)
    1.0
    """

    _task = "align"
    _engine_type = _espalier.WordAligner
    _own_parameters = (
        Parameter("l2", 1.0, "l2/2 |w|^2 against the sum of losses; 'auto': the best on X_dev"),
        Parameter("verbose", False, "print progress"),
        Parameter("warm_start", False, "fit() starts from the weights that the last one ended with"),
    )
    _left_out = ("first",)

    def fit(self, X, y, X_dev=None, y_dev=None):
        """Trains on sentence pairs with the links y; returns the estimator.

        X_dev and y_dev are held-out data, for ``l2='auto'``, ``patience`` and progress.
        """
        return self._fit(*self._prepare(X, y, X_dev, y_dev))

    def _prepare(self, X, y, X_dev=None, y_dev=None, sample_weight=None):
        if sample_weight is not None:
            raise _espalier.Error("sample_weight: given for sentence pairs; expected none, as they all count the same")
        train = _espalier.SentencePairs(as_sequence(X), as_sequence(y, "y"))
        dev = None
        if X_dev is not None:
            dev = _espalier.SentencePairs(as_sequence(X_dev, "X_dev"), as_sequence(y_dev, "y_dev"), "X_dev", "y_dev")
        return _espalier.align_training(train, dev, self._options("task"), self.loss), self._settings()

    def predict(self, X):
        """The best links of each pair: a list of tuples ``(i, j)`` for each."""
        return self._engine().links(_espalier.SentencePairs(as_sequence(X)))

    def predict_marginals(self, X):
        """How probable each link is: for each pair a list for each source word, with a number for each target word.

        They are the marginals of a bound, since nobody can count matchings (docs/alignment.md).
        """
        return self._engine().marginals(_espalier.SentencePairs(as_sequence(X)))

    def predict_kbest(self, X, k):
        """The k best alignments of each pair, best first, as tuples ``(links, score, probability)``.

        The probability is at least so large; None where the loss has none, as that of an SVM.
        """
        return self._engine().kbest(_espalier.SentencePairs(as_sequence(X)), count_of(k))

    def evaluate(self, X, y):
        """How good the links are: a dict, as ``espalier eval --json`` prints it."""
        return self._engine().evaluate(_espalier.SentencePairs(as_sequence(X), as_sequence(y, "y")))

    def score(self, X, y):
        """1 less the alignment error rate."""
        return 1 - self.evaluate(X, y)["aer"]
