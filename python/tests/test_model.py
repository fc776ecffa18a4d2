"""espalier.load and espalier.Model, of any task."""

import copy
import pickle
import subprocess
import sys

import pytest

import espalier
from espalier import CRF


@pytest.fixture(scope="module")
def path(tmp_path_factory, sentences):
    path = tmp_path_factory.mktemp("model") / "model.esp"
    CRF(c2=0.1).fit(*sentences).save(path)
    return path


def test_what_it_says(path):
    model = espalier.load(path)
    assert model.task == "tag"
    assert model.info == {"task": "tag", "loss": "crf", "l2": 0.2, "l1": 0.0, "solver": "auto", "bits": 32}
    assert model.certificate.relative_gap <= 1e-3
    assert model.describe()["settings"]["format"] == "crfsuite"
    assert model.labels() == ["B-PER", "I-PER", "O"]
    assert "bias" in model.attributes()
    assert model.size == path.stat().st_size
    assert repr(model).startswith("<espalier.Model of tag: 3 labels, ")


def test_copies_and_files_are_the_same(path, tmp_path):
    model = espalier.load(str(path))
    for other in (pickle.loads(pickle.dumps(model)), copy.copy(model), copy.deepcopy(model)):
        other.save(tmp_path / "again.esp")
        assert (tmp_path / "again.esp").read_bytes() == path.read_bytes()


def test_rounded(path):
    model = espalier.load(path).rounded(16)
    assert model.certificate is None and model.info["bits"] == 16
    assert model.size < path.stat().st_size


def test_a_model_of_another_task(tmp_path, program):
    (tmp_path / "train.svm").write_text("a 1:1\nb 2:1\n")
    subprocess.run([program, "train", "classify", tmp_path / "train.svm", "-q", "-o", tmp_path / "m.esp"], check=True)
    model = espalier.load(tmp_path / "m.esp")
    assert model.task == "classify"
    crf = CRF(model_filename=str(tmp_path / "m.esp"))
    with pytest.raises(espalier.Error) as error:
        crf.predict([[["a"]]])
    assert str(error.value) == f"{tmp_path}/m.esp: a model of classify; expected a model of tag"


def test_a_model_of_columns(tmp_path, program):
    (tmp_path / "train.txt").write_text("a X\nb Y\n")
    subprocess.run([program, "train", "tag", tmp_path / "train.txt", "-q", "-o", tmp_path / "m.esp"], check=True)
    with pytest.raises(espalier.Error, match="a model of columns; expected one of attributes"):
        CRF(model_filename=str(tmp_path / "m.esp")).predict([[["a"]]])


def test_what_is_no_model(tmp_path):
    with pytest.raises(espalier.Error, match="/nowhere: cannot open: No such file"):
        espalier.load("/nowhere")
    (tmp_path / "text").write_text("x" * 200)
    with pytest.raises(espalier.Error, match="not a model; expected a file that 'espalier train' wrote"):
        espalier.load(tmp_path / "text")


def test_errors_are_value_errors():
    assert issubclass(espalier.Error, ValueError)
    assert espalier.Error.__module__ == "espalier"
    assert pickle.loads(pickle.dumps(espalier.Error("text"))).args == ("text",)


def test_python_m_espalier():
    lines = subprocess.run([sys.executable, "-m", "espalier"], check=True, capture_output=True, text=True).stdout
    assert lines.startswith(f"espalier {espalier.__version__} in ")
