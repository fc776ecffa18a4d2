"""Structured prediction with certificates: CRFs, structural SVMs and parsers.

>>> import espalier
>>> crf = espalier.CRF(c2=0.1)
>>> X = [[{"word": "Anna", "title": True}, {"word": "sleeps"}], [{"word": "Bob", "title": True}]]
>>> y = [["PER", "O"], ["PER"]]
>>> crf.fit(X, y).predict([[{"word": "Eve", "title": True}]])
[['PER']]
>>> crf.certificate_.relative_gap <= 1e-3
True
"""

from . import metrics, pycrfsuite
from ._align import Aligner
from ._classifier import Classifier
from ._crf import CRF
from ._espalier import Certificate, Error, Progress, __version__
from ._graph import GraphModel
from ._load import load
from ._model import Model
from ._parser import Parser
from ._selection import CrossValidation, Path, cross_validate, path
from ._treebank import TreebankParser

__all__ = [
    "Aligner",
    "CRF",
    "Certificate",
    "Classifier",
    "CrossValidation",
    "Error",
    "GraphModel",
    "Model",
    "Parser",
    "Path",
    "Progress",
    "TreebankParser",
    "cross_validate",
    "load",
    "metrics",
    "path",
    "pycrfsuite",
    "__version__",
]
