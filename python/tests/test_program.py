"""Python and the command line are the same library: the same data gives the same model, to the byte."""

import json
import subprocess

from hypothesis import given, settings
from hypothesis import strategies as st

import espalier
from espalier import CRF

attributes = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from([1.0, 0.5, -2.0, 0.1]), max_size=4)
tokens = st.tuples(attributes, st.sampled_from("XYZ"))
data = st.lists(st.lists(tokens, min_size=1, max_size=5), min_size=2, max_size=8).filter(
    lambda sentences: len({label for sentence in sentences for _, label in sentence}) > 1
)


def write(path, sentences):
    text = ""
    for sentence in sentences:
        for item, label in sentence:
            text += "\t".join([label, *(f"{name}:{value!r}" for name, value in item.items())]) + "\n"
        text += "\n"
    path.write_text(text)


@settings(max_examples=15)
@given(
    data,
    st.sampled_from(["all", "observed", "observed-attributes", "observed-transitions"]),
    st.sampled_from([("auto", "crf", 0.0), ("eg", "crf", 0.0), ("lbfgs", "crf", 0.3), ("smo", "svm", 0.0)]),
    st.sampled_from([0.1, 2.0]),
)
def test_same_model_to_the_byte(tmp_path_factory, program, sentences, features, run, l2):
    solver, loss, l1 = run
    if solver == "smo":
        features = "all"  # what it is for
    folder = tmp_path_factory.mktemp("same")
    write(folder / "train.txt", sentences)
    command = [program, "train", "tag", folder / "train.txt", "--format", "crfsuite", "--features", features]
    command += ["--solver", solver, "--loss", loss, "--l2", repr(l2), "--l1", repr(l1), "--gap", "1e-4"]
    subprocess.run([*command, "-q", "-o", folder / "program.esp"], check=True)
    X = [[item for item, _ in sentence] for sentence in sentences]
    y = [[label for _, label in sentence] for sentence in sentences]
    crf = CRF(features=features, solver=solver, loss=loss, l2=l2, l1=l1, gap=1e-4).fit(X, y)
    crf.save(folder / "python.esp")
    assert (folder / "python.esp").read_bytes() == (folder / "program.esp").read_bytes()

    predicted = subprocess.run(
        [program, "predict", folder / "program.esp", folder / "train.txt"], check=True, capture_output=True, text=True
    ).stdout
    labels = [[line.split("\t")[-1] for line in part.splitlines()] for part in predicted.strip("\n").split("\n\n")]
    assert crf.predict(X) == labels


def test_describe_is_what_show_prints(tmp_path, program, sentences):
    crf = CRF(c2=0.1).fit(*sentences)
    crf.save(tmp_path / "model.esp")
    shown = subprocess.run([program, "show", tmp_path / "model.esp", "--json"], check=True, capture_output=True)
    assert json.loads(shown.stdout) == json.loads(json.dumps(espalier.load(tmp_path / "model.esp").describe()))
