"""espalier.CRF: what sklearn-crfsuite's estimator does, and what it does not."""

import espalier

X = [[{"word": "Anna", "title": True}, {"word": "sleeps"}], [{"word": "Bob", "title": True}]]
Y = [["PER", "O"], ["PER"]]


def test_fits_and_predicts():
    crf = espalier.CRF(c2=0.1).fit(X, Y)
    assert crf.predict(X) == Y
    assert crf.certificate_.relative_gap <= 1e-3
