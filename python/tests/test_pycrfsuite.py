"""espalier.pycrfsuite: what code for python-crfsuite does."""

import pickle

import pytest

import espalier
from espalier import CRF, pycrfsuite
from espalier.pycrfsuite import ItemSequence, Tagger, Trainer


@pytest.fixture
def trainer(sentences):
    trainer = Trainer(verbose=False)
    for xseq, yseq in zip(*sentences):
        trainer.append(xseq, yseq)
    trainer.set_params({"c1": 0.1, "c2": 0.1, "feature.possible_transitions": True})
    return trainer


@pytest.fixture
def path(trainer, tmp_path):
    trainer.train(str(tmp_path / "model.esp"))
    return str(tmp_path / "model.esp")


def test_trains_what_crf_trains(path, sentences):
    crf = CRF(c1=0.1, c2=0.1, all_possible_transitions=True).fit(*sentences)
    with open(path, "rb") as file:
        assert file.read() == crf.model_._model.to_bytes()


def test_tags(path, sentences, held_out):
    X, _ = held_out
    crf = CRF(c1=0.1, c2=0.1, all_possible_transitions=True).fit(*sentences)
    tagger = Tagger()
    with tagger.open(path) as opened:
        assert opened is tagger
        for xseq, labels in zip(X, crf.predict(X)):
            assert tagger.tag(xseq) == labels
            assert tagger.tag() == labels
            assert tagger.probability(labels) == pytest.approx(crf.sequence_probability(xseq, labels), rel=1e-12)
            assert tagger.marginal("O", 0) == crf.predict_marginals_single(xseq)[0]["O"]
        tagger.set(ItemSequence(X[0]))
        assert tagger.tag() == crf.predict_single(X[0])
    with open(path, "rb") as file, Tagger().open_inmemory(file.read()) as tagger:
        assert tagger.labels() == crf.classes_


def test_info_and_dump(path, tmp_path, capsys):
    with Tagger().open(path) as tagger:
        info = tagger.info()
        tagger.dump(str(tmp_path / "dump.txt"))
        tagger.dump()
    text = (tmp_path / "dump.txt").read_text()
    assert capsys.readouterr().out == text
    assert info.header["num_labels"] == "3" and set(info.labels) == {"B-PER", "I-PER", "O"}
    assert set(info.attributes) == {attribute for attribute, _ in info.state_features}
    assert info.transitions["B-PER", "I-PER"] > info.transitions["O", "I-PER"]
    assert "LABELS = {\n      0: B-PER\n" in text
    assert f"  (1) B-PER --> I-PER: {info.transitions['B-PER', 'I-PER']:.6f}\n" in text


def test_dump_is_what_convert_reads(path, tmp_path, program, held_out):
    import subprocess

    with Tagger().open(path) as tagger:
        tagger.dump(str(tmp_path / "dump.txt"))
        labels = [tagger.tag(xseq) for xseq in held_out[0]]
    subprocess.run([program, "convert", tmp_path / "dump.txt", "-o", tmp_path / "again.esp"], check=True)
    with Tagger().open(str(tmp_path / "again.esp")) as tagger:
        assert [tagger.tag(xseq) for xseq in held_out[0]] == labels


def test_history_and_events(sentences, tmp_path):
    class Listener(Trainer):
        def __init__(self):
            self.seen = []
            super().__init__("lbfgs", {"c2": 0.1})

        def message(self, message):
            self.seen.append(message)

    trainer = Listener()
    for i, (xseq, yseq) in enumerate(zip(*sentences)):
        trainer.append(xseq, yseq, i % 5)
    trainer.train(str(tmp_path / "m"), holdout=4)
    assert trainer.seen[0].startswith("48 sequences, ") and trainer.seen[-1].startswith("saved ")
    assert trainer.logparser.log == trainer.seen
    last = trainer.logparser.last_iteration
    assert trainer.logparser.iterations[-1] is last and last["num"] == len(trainer.logparser.iterations)
    assert 0.5 < last["item_accuracy_float"] <= 1
    names = {"num", "loss", "time", "dual", "relative_gap", "passes", "scores"}
    assert names <= set(last) <= names | {"item_accuracy_float", "avg_precision", "avg_recall", "avg_f1"}
    assert all(iteration["time"] >= 0 for iteration in trainer.logparser.iterations)


def test_exceptions_in_events_end_training(sentences, tmp_path):
    class Failing(Trainer):
        def on_iteration(self, log, info):
            raise KeyError("stop")

    trainer = Failing(verbose=False)
    for xseq, yseq in zip(*sentences):
        trainer.append(xseq, yseq)
    with pytest.raises(KeyError, match="stop"):
        trainer.train(str(tmp_path / "m"))
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("algorithm", ["lbfgs", "l2sgd", "ap", "averaged-perceptron"])
def test_parameters(algorithm):
    trainer = Trainer(algorithm)
    params = trainer.get_params()
    assert list(params) == trainer.params()
    trainer.set_params(params)
    assert trainer.get_params() == params
    trainer.set("feature.possible_states", 1)
    assert trainer.get("feature.possible_states") is True
    trainer.set("feature.possible_states", "0")
    assert trainer.get("feature.possible_states") is False
    assert trainer.help("max_iterations").endswith("passes over the data.")
    trainer.set("gap", 1e-5)  # espalier's own
    assert trainer.get("gap") == 1e-5


def test_what_is_refused(tmp_path, sentences):
    trainer = Trainer(verbose=False)
    for wrong, message in [
        (lambda: trainer.set("c3", 1), "unknown parameter 'c3' of lbfgs; expected one of feature.minfreq, "),
        (lambda: trainer.set("c1", "x"), "c1: found 'x'; expected a value such as 0.0"),
        (lambda: trainer.select("pa"), "algorithm 'pa' does not exist here; expected loss='svm', solver='mira' instead"),
        (lambda: trainer.select("foo"), "unknown algorithm 'foo'; expected 'lbfgs', 'l2sgd' or 'ap'"),
        (lambda: trainer.select("lbfgs", "tree"), "type 'tree' does not exist here; expected 'crf1d'"),
        (lambda: trainer.train("m"), "no sentences to train on; expected some, by append()"),
        (lambda: trainer.train("none/m"), "none/m: cannot create: No such file or directory; expected a folder that exists"),
        (lambda: trainer.append([["a"]], []), "xseq has 1 tokens and yseq has 0 labels; expected as many"),
        (lambda: Tagger().labels(), "the tagger is closed; expected open() before"),
        (lambda: Tagger().tag([["a"]]), "the tagger is closed; expected open() before"),
        (lambda: Tagger().open(__file__), f"{__file__}: not a model"),
        (lambda: Tagger().open_inmemory(b""), "the model in memory: truncated"),
    ]:
        with pytest.raises(espalier.Error) as error:
            wrong()
        assert str(error.value).startswith(message)
    with pytest.raises(OSError, match="no such file; expected a model"):
        Tagger().open(str(tmp_path / "none"))
    with pytest.raises(RuntimeError):
        Tagger().info()
    trainer.clear()


def test_a_tagger_without_a_sentence(path):
    with Tagger().open(path) as tagger:
        with pytest.raises(espalier.Error, match=r"there is no sentence; expected set\(\) or tag\(\) before"):
            tagger.probability(["O"])
        tagger.set([["a"]])
        with pytest.raises(espalier.Error, match="unknown label 'X'; expected one of B-PER, I-PER, O"):
            tagger.marginal("X", 0)
        for token in (1, -1):
            with pytest.raises(pycrfsuite.CRFSuiteError) as error:
                tagger.marginal("O", token)
            assert str(error.value) == f"token {token} of a sentence of 1; expected one of these, from 0 on"


def test_item_sequences():
    sequence = ItemSequence([{"a": 1}, ["b"]])
    assert len(sequence) == 2 and repr(sequence) == "<ItemSequence of size 2>"
    assert pickle.loads(pickle.dumps(sequence)).items() == sequence.items()
    assert pycrfsuite.CRFSUITE_VERSION == espalier.__version__
