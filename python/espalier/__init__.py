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

from ._crf import CRF
from ._espalier import Certificate, Error, Progress, __version__
from ._model import Model, load

__all__ = ["CRF", "Certificate", "Error", "Model", "Progress", "load", "__version__"]
