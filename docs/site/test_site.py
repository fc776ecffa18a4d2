"""The parts of the site's builder: anchors, comments for Doxygen, docstrings, and the check of the result."""

import subprocess
import sys
from pathlib import Path

SITE = Path(__file__).resolve().parent
sys.path.insert(0, str(SITE))

import build  # noqa: E402
import check  # noqa: E402
import doxygen_filter  # noqa: E402
import hooks  # noqa: E402


def test_anchors_are_those_of_web_views():
    anchors = hooks.Anchors()
    assert anchors("The `bench.races`: C++, --l2", "-") == "the-benchraces-c---l2"
    assert [anchors("Parsing", "-") for _ in range(3)] == ["parsing", "parsing-1", "parsing-2"]
    hooks.ANCHORS("Parsing", "-")
    hooks.on_page_markdown("# another page")
    assert hooks.ANCHORS("Parsing", "-") == "parsing"


def test_search_works_without_a_server(tmp_path):
    (tmp_path / "search").mkdir()
    (tmp_path / "search/search_index.json").write_text('{"docs": []}')
    (tmp_path / "assets/javascripts/workers").mkdir(parents=True)
    (tmp_path / "assets/javascripts/workers/search.1.min.js").write_text('x = "</script>"')
    hooks.on_post_build({"site_dir": str(tmp_path)})
    script = (tmp_path / "search/search_index.js").read_text()
    assert script.startswith('var __search = {index: Promise.resolve({"docs": []})};') and "</" not in script

    class Page:
        url = "docs/a.html"

    page = hooks.on_post_page('<script src="../first.js"></script><script src="../bundle.js"></script>', Page)
    assert page == '<script src="../first.js"></script><script src="../search_from_file.js"></script>\n<script src="../bundle.js"></script>'


def test_comments_become_doxygens():
    header = ["// Above <it>, `a<b>`.", "struct A {", "  int x = 0;  // behind,", "              // and below", "  // of y", "  int y;", "};",
              'const char* url = "https://x";']
    assert list(doxygen_filter.filtered(header)) == [
        "/// Above \\<it\\>, `a<b>`.", "struct A {", "  int x = 0;  ///< behind,", "              ///< and below", "  /// of y",
        "  int y;", "};", 'const char* url = "https://x";']


def test_formulas_in_comments_stay():
    assert list(doxygen_filter.filtered(["//     x <= y"])) == ["///     x <= y"]


def test_links_to_sources_lead_to_pages(tmp_path):
    pages = build.Pages(tmp_path)
    line = build.LINK.sub(lambda link: pages.follow(Path("docs"), link), "[a](../include/espalier/version.h), [b](math.md#trees), [c](https://x.org)")
    assert line == "[a](../include/espalier/version.h.md), [b](math.md#trees), [c](https://x.org)"
    assert (tmp_path / "include/espalier/version.h.md").read_text().startswith("# include/espalier/version.h\n\n~~~~~~~~ cpp\n")


def test_links_to_folders_lead_to_lists(tmp_path):
    pages = build.Pages(tmp_path)
    assert pages.add_file("examples/chunking") == "examples/chunking/index.md"
    assert "- [template.txt](template.txt.md)" in (tmp_path / "examples/chunking/index.md").read_text()


def test_blocks_keep_their_text(tmp_path):
    build.Pages(tmp_path).add_page("docs/options.md")
    text = (tmp_path / "docs/options.md").read_text()
    assert "`--example-weights comment|N`" in text and "any label, A\\|B\\|C" in text
    build.Pages(tmp_path).add_page("docs/tagging.md")
    text = (tmp_path / "docs/tagging.md").read_text()
    assert "```console\n" in text and "approximate" not in [line[3:] for line in text.splitlines() if line.startswith("```")]


def test_what_is_wrong_with_a_site_is_found(tmp_path):
    (tmp_path / "a.html").write_text('<h1 id="top">A</h1><a href="b.html#x">1</a><a href="c.html">2</a><a href="#top">3</a>'
                                     '<a href="https://x.org">4</a><script src="https://x.org/y.js"></script>')
    (tmp_path / "b.html").write_text('<link rel="stylesheet" href="https://fonts.org/f.css"><a href="a.html#top">A</a>')
    assert check.site(tmp_path) == [
        "a.html: loads https://x.org/y.js from elsewhere", "a.html: b.html#x: no such anchor", "a.html: c.html: no such file",
        "b.html: loads https://fonts.org/f.css from elsewhere"]


def test_docstrings_become_markdown(tmp_path):
    package = tmp_path / "espalier"
    package.mkdir()
    (package / "__init__.py").write_text('''"""About it.

>>> 1 + 1
2
"""

__all__ = ["Thing", "make"]


class Thing:
    """A thing.

    Parameters
    ----------
    size: how large
    """

    def __init__(self, size=1):
        self._size = size

    @property
    def size(self):
        """How
        large."""
        return self._size

    def grow(self, by):
        """Grows.

        >>> Thing().grow(1)

        And no more.
        """

    def _hidden(self):
        pass


def make(size):
    """Makes one."""
''')
    run = subprocess.run([sys.executable, "-B", SITE / "python_reference.py"], env={"PYTHONPATH": str(tmp_path)}, capture_output=True,
                         text=True, check=True)
    for part in ["About it.\n\n\n```pycon\n>>> 1 + 1\n2\n```\n", "## Thing\n\n```python\nThing(size=1)\n```\n\nA thing.\n\n**Parameters**\n\n",
                 "| `size` | How large. |\n", "### Thing.grow\n\n```python\ngrow(by)\n```\n", ">>> Thing().grow(1)\n```\n\nAnd no more.\n",
                 "## make\n\n```python\nmake(size)\n```\n\nMakes one.\n"]:
        assert part in run.stdout, run.stdout
    assert "hidden" not in run.stdout
