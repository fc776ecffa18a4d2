"""The program of examples/verify, which shares no code with ours, comes to the same objectives and bounds."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numpy")

VERIFY = Path(__file__).parents[2] / "examples" / "verify" / "verify.py"

RUNS = [
    ("classify", "libsvm", "crf"),
    ("classify", "libsvm", "svm"),
    ("classify", "libsvm", "2,0.5"),
    ("tag", "crfsuite", "crf"),
    ("tag", "crfsuite", "softmax-margin"),
]


def make_classes(path):
    lines = []
    for i in range(40):
        label = "abc"[i * i % 3]
        lines.append(f"{label} 1:{i % 3} 2:{(i * 7) % 5 / 4} 3:{'-' if i % 4 else ''}0.5 4:{'abc'.index(label) + i % 2}")
    path.write_text("\n".join(lines) + "\n")


def make_chains(path):
    text = ""
    for i in range(12):
        for t in range(1 + i % 4):
            label = "XYZ"[(i + t * t) % 3]
            text += f"{label}\tw={(i * 3 + t) % 7}\tp\\:{label if t % 2 else 'none'}:0.5\n"
        text += "\n"
    path.write_text(text)


def verify(program, model, data):
    command = [sys.executable, VERIFY, model, data, "--program", program]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("task, format, loss", RUNS)
def test_agrees(tmp_path, program, task, format, loss):
    data, model = tmp_path / "train", tmp_path / "model.esp"
    (make_classes if task == "classify" else make_chains)(data)
    command = [program, "train", task, data, "--format", format, "--loss", loss, "--gap", "1e-2", "-q", "-o", model]
    subprocess.run(command, check=True)
    outcome = verify(program, model, data)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert outcome.stdout.endswith("\nagrees\n")
    # Ours says the same of the model.
    ours = subprocess.run([program, "verify", model, data, "--json"], check=True, capture_output=True)
    objective = json.loads(ours.stdout)["objective"]
    assert float(outcome.stdout.split()[4]) == pytest.approx(objective, rel=1e-11)


def test_finds_out_other_data(tmp_path, program):
    data, model = tmp_path / "train", tmp_path / "model.esp"
    make_classes(data)
    subprocess.run([program, "train", "classify", data, "-q", "-o", model], check=True)
    data.write_text("\n".join(data.read_text().splitlines()[1:]))
    outcome = verify(program, model, data)
    assert outcome.returncode == 1
    assert outcome.stdout.endswith("\ndoes not agree\n")
