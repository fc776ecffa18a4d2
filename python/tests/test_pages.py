"""Python on the pages of docs/: blocks that begin with ```python run in order, in one namespace and an empty folder for each page.

Blocks that begin with >>> are sessions, run as doctests. What another block prints is compared with a block ```text right below it.
In both, ... stands for anything, and white space is equal to any other. Blocks that begin with ```py are not run.
"""

import contextlib
import doctest
import io
import os
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n*```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page):
    """(line, code, output or None) of each block."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, b.start()) + 2, *b.groups()) for b in BLOCK.finditer(text)]


PAGES = sorted(page for page in DOCS.glob("*.md") if blocks(page))


def run_session(code, names, page, line):
    test = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), line)
    report = io.StringIO()
    failed = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.write, clear_globs=False).failed
    assert failed == 0, report.getvalue()
    names.update(test.globs)


def run_code(code, expected, names, page, line):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), names)  # the page's lines, for tracebacks
    if expected is not None:
        agrees = doctest.OutputChecker().check_output(expected, printed.getvalue(), FLAGS)
        assert agrees, f"{page.name}:{line} prints\n{printed.getvalue()}"


def run_page(page):
    names = {"__name__": "page"}
    for line, code, expected in blocks(page):
        if code.startswith(">>> "):
            run_session(code, names, page, line)
        else:
            run_code(code, expected, names, page, line)


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if "ESPALIER_PROGRAM" in os.environ:
        monkeypatch.setenv("PATH", str(Path(os.environ["ESPALIER_PROGRAM"]).parent), prepend=os.pathsep)
    run_page(page)


def test_blocks_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("Text\n\n```python\nprint(1, 2)\n```\n\n```text\n1 ...\n```\n\n```py\nno\n```\n\n```python\nx = 1\n```\n")
    assert blocks(page) == [(4, "print(1, 2)\n", "1 ...\n"), (16, "x = 1\n", None)]
    run_page(page)


@pytest.mark.parametrize("text", ["```python\nprint(2)\n```\n\n```text\n1\n```\n", "```python\nx = 1\n```\n\n```python\n>>> x\n2\n```\n"])
def test_what_is_not_printed_is_found(text, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(text)
    with pytest.raises(AssertionError):
        run_page(page)
