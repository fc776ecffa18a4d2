"""Opens model files as the estimators of their tasks."""

from ._align import Aligner
from ._classifier import Classifier
from ._crf import CRF
from ._graph import GraphModel
from ._model import Model
from ._parser import Parser
from ._treebank import TreebankParser

_ESTIMATORS = {estimator._task: estimator for estimator in (CRF, Classifier, Parser, TreebankParser, GraphModel, Aligner)}


def load(path, memory=None):
    """Opens a model file, and returns the fitted estimator of its task: CRF, Classifier, Parser, ...

    The file stays mapped: processes that open it share its memory. What the file does not say, such as how long
    training was to take, is at its default. Its model is the estimator's ``model_``. ``memory``, such as ``"1G"``, is a limit:
    a model with which this process would take more is refused.
    """
    model = Model.load(path, memory)
    return _ESTIMATORS[model.task]._of_model(model)
