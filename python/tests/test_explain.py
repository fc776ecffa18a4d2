"""Explanations: contributions that add up, as text, HTML and data frames."""

import pytest

import espalier
from espalier import CRF


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("features", ["all", "observed"])
def test_contributions_add_up_to_the_score(sentences, held_out, order, features):
    crf = CRF(c2=0.1, order=order, features=features).fit(*sentences)
    for xseq in held_out[0][:10]:
        for labels, score, _ in crf.predict_kbest([xseq], 3)[0]:
            explanation = crf.explain(xseq, labels)
            assert explanation.labels == labels
            assert explanation.score == pytest.approx(score, rel=1e-12, abs=1e-12)
            for token in explanation.tokens:
                assert token.scores[token.label] == pytest.approx(token.score, rel=1e-12, abs=1e-12)
        assert crf.explain(xseq).labels == crf.predict_single(xseq)


def test_weights_are_those_of_the_model(sentences, held_out):
    crf = CRF(c2=0.1).fit(*sentences)
    states, transitions = crf.state_features_, crf.transition_features_
    for t, label, feature, value, weight, contribution in crf.explain(held_out[0][0]).rows():
        known = transitions.get(tuple(feature.split(" -> "))) or states.get((feature, label))
        assert weight == known and contribution == value * weight


def test_shown_as_text_html_and_frame():
    crf = CRF(c2=0.1).fit([[["<b>", "&"], ["x"]]], [["A<", "O"]])
    explanation, weights = crf.explain([["<b>"], ["x"]]), crf.explain_weights(top=3)
    assert str(explanation) == repr(explanation)
    assert str(explanation).splitlines()[0].startswith("token 0: A< (A< +")
    assert str(explanation).splitlines()[-1] == f"score {explanation.score:+.4f}"
    for shown in (explanation._repr_html_(), weights._repr_html_()):
        assert "&lt;b&gt;" in shown and "<b>" not in shown and "A&lt;" in shown
    frame = explanation.to_frame()
    assert list(frame.columns) == ["token", "label", "feature", "value", "weight", "contribution"]
    assert frame.contribution.sum() == pytest.approx(explanation.score)
    assert set(weights.to_frame().label) == {"A<", "O"}
    assert "transitions" in str(weights)


def test_heaviest_weights(sentences):
    crf = CRF(c2=0.1, all_possible_states=True).fit(*sentences)
    weights = crf.explain_weights(top=4)
    for label, top in weights.labels.items():
        own = [abs(weight) for (_, of), weight in crf.state_features_.items() if of == label]
        assert sorted((abs(weight) for _, weight in top), reverse=True) == sorted(own, reverse=True)[:4]
        assert [weight for _, weight in top] == sorted((weight for _, weight in top), reverse=True)


def test_a_model_of_a_kernel_has_no_weights_of_attributes(sentences):
    crf = CRF(l2=1, kernel="poly,2").fit(sentences[0][:10], sentences[1][:10])
    with pytest.raises(espalier.Error, match="which has no weights of them; expected one without a kernel"):
        crf.explain(sentences[0][0])


def test_how_many_weights(sentences):
    crf = CRF(c2=0.1).fit(*sentences)
    everything = len(crf.state_features_) + len(crf.transition_features_)
    assert len(list(crf.explain_weights(top=None).rows())) == everything == len(crf.explain_weights(10**6).to_frame())
    assert list(crf.explain_weights(top=0).rows()) == []
    with pytest.raises(espalier.Error) as error:
        crf.explain_weights(top=-1)
    assert str(error.value) == "top -1; expected a whole number >= 0, or None for all"


def test_what_cannot_be_explained(sentences):
    crf = CRF(c2=0.1).fit(*sentences)
    assert crf.explain([]).labels == [] and str(crf.explain([])) == "score +0.0000"
    assert crf.explain([{"unknown": 1}]).tokens[0].contributions == []
    for xseq, yseq, message in [
        ("ab", None, "xseq: str ''ab''; expected a list of items, one for each token"),
        ([["a"]], ["X"], "yseq[0]: the label 'X'; expected one of the model's"),
        ([["a"]], [], "xseq has 1 tokens and yseq has 0 labels; expected as many"),
    ]:
        with pytest.raises(espalier.Error) as error:
            crf.explain(xseq, yseq)
        assert str(error.value) == message
