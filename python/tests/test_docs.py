"""Examples in docstrings are true, stubs are the signatures, and examples run."""

import ast
import doctest
import importlib
import inspect
import os
import pathlib
import pkgutil
import subprocess
import sys

import pytest

import espalier

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULES = sorted(
    f"espalier.{module.name}" for module in pkgutil.iter_modules(espalier.__path__) if module.name != "__main__"
)


@pytest.mark.parametrize("name", ["espalier", *MODULES])
def test_docstrings(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("script", sorted(path.name for path in (ROOT / "examples" / "python").glob("*.py")))
def test_examples(script, tmp_path):
    if script == "tag_with_dask.py":
        pytest.importorskip("distributed")
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.abspath(espalier.__path__[0]))}
    path = ROOT / "examples" / "python" / script
    subprocess.run([sys.executable, path], check=True, cwd=tmp_path, env=environment, timeout=120)


def stub_functions(path):
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    yield node.name, inner
        elif isinstance(node, ast.FunctionDef):
            yield None, node


@pytest.mark.parametrize("name", [path.stem for path in sorted(pathlib.Path(espalier.__path__[0]).glob("*.pyi"))])
def test_stubs_have_the_names_of_the_arguments(name):
    module = importlib.import_module("espalier" if name == "__init__" else f"espalier.{name}")
    seen = 0
    for of_class, function in stub_functions(pathlib.Path(espalier.__path__[0]) / f"{name}.pyi"):
        found = getattr(module, of_class) if of_class else module
        found = inspect.getattr_static(found, function.name)
        if isinstance(found, property):
            continue
        found = getattr(found, "__func__", found)
        arguments = [a.arg for a in [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]]
        try:
            assert [n for n in inspect.signature(found).parameters if n != "kwargs"] == arguments, (of_class, function.name)
        except (ValueError, TypeError):
            continue  # a method of the extension has no signature
        seen += 1
    assert seen > 0 or name == "_espalier"


def test_every_public_method_has_a_docstring():
    for name in espalier.__all__:
        value = getattr(espalier, name)
        if not inspect.isclass(value) or issubclass(value, Exception):
            continue
        for member, of_class in inspect.getmembers(value):
            if not member.startswith("_") and value.__module__.startswith("espalier") and member in value.__dict__:
                assert inspect.getdoc(of_class), f"{name}.{member}"


def test_help_shows_signatures(capsys):
    help(espalier.CRF)
    text = capsys.readouterr().out
    assert "algorithm=None" in text and "gap=0.001" in text
