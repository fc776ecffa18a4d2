"""Python on the pages of docs/: blocks that begin with ```python run in order, in one namespace and an empty folder for each page.

What a block prints is compared with a block ```text right below it, in which ... stands for anything and white space is equal to any
other. Sessions (```pycon) are run as doctests, in the same namespace. Blocks that begin with ```py are not run.
"""

import contextlib
import doctest
import io
import os
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"^```(python|pycon)\n(.*?)^```\n(?:\n*```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page):
    """(line, kind, code, output or None) of each block."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, b.start()) + 2, *b.groups()) for b in BLOCK.finditer(text)]


PAGES = sorted(page for page in DOCS.glob("*.md") if blocks(page))


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if "ESPALIER_PROGRAM" in os.environ:
        monkeypatch.setenv("PATH", str(Path(os.environ["ESPALIER_PROGRAM"]).parent), prepend=os.pathsep)
    names = {"__name__": "__main__"}
    for line, kind, code, expected in blocks(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            if kind == "pycon":
                test = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), line)
                result = doctest.DocTestRunner(optionflags=FLAGS).run(test, clear_globs=False)
                names.update(test.globs)
                assert result.failed == 0, f"{page.name}:{line}: {printed.getvalue()}"
                continue
            # Lines of the page, for tracebacks.
            exec(compile("\n" * (line - 1) + code, str(page), "exec"), names)
        if expected is not None:
            checker = doctest.OutputChecker()
            assert checker.check_output(expected, printed.getvalue(), FLAGS), f"{page.name}:{line}: {printed.getvalue()}"


def test_what_is_not_printed_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("Text\n\n```python\nprint(1, 2)\n```\n\n```text\n1 ...\n```\n\n```sh\nno\n```\n\n```python\nx = 1\n```\n")
    assert blocks(page) == [(4, "python", "print(1, 2)\n", "1 ...\n"), (16, "python", "x = 1\n", None)]
