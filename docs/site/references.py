"""The references of the two languages, made from what they describe: the Python module and the public headers."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

SITE = Path(__file__).resolve().parent


CPP = """The public headers, and the types that each declares. `<espalier/espalier.h>` includes all of them; [The
library](../docs/library.md) shows how to use them.

[All types](../cpp/annotated.html) · [all headers](../cpp/files.html) · [functions](../cpp/namespacemembers_func.html)
"""


def missing(title, what, how):
    print(f"{title}: left out, for {what}", file=sys.stderr)
    return f"# {title}\n\nThis page was left out when the site was built: {what}. {how}\n"


def python(folder):
    """Markdown from the signatures and docstrings of the module in `folder`, written by an interpreter that can load it."""
    title = "Python reference"
    if not (folder / "espalier").exists():
        return missing(title, f"there is no module in {folder.name}/ of the build", "`cmake --build build` makes it.")
    run = subprocess.run([sys.executable, SITE / "python_reference.py"], capture_output=True, text=True,
                         env=os.environ | {"PYTHONPATH": str(folder), "PYTHONHASHSEED": "0"})
    if run.returncode != 0:
        raise SystemExit(f"{title}: {run.stderr}")
    return run.stdout


def cpp(root, output):
    """Doxygen's pages of the public headers in `output`, and Markdown with a table of the headers that leads to them."""
    title = "C++ reference"
    if shutil.which("doxygen") is None:
        return missing(title, "doxygen is not installed", "The headers themselves are in include/espalier/.")
    output.mkdir(parents=True)
    settings = (SITE / "Doxyfile").read_text(encoding="utf-8")
    run = subprocess.run(["doxygen", "-"], input=settings, capture_output=True, text=True, cwd=root,
                         env=os.environ | {"SITE_OUTPUT": str(output), "SITE_PYTHON": sys.executable})
    if run.returncode != 0:
        raise SystemExit(f"{title}: {run.stderr}")
    return f"# {title}\n\n{CPP}\n{header_table(output)}"


def header_table(output):
    """Markdown, from the list of names that Doxygen keeps for other documentation."""
    compounds = ElementTree.parse(output / "espalier.tag").getroot().findall("compound")
    pages = {c.findtext("name"): c.findtext("filename") for c in compounds}
    (output / "espalier.tag").unlink()
    rows = []
    for header in (c for c in compounds if c.get("kind") == "file"):
        names = [c.text for c in header.findall("class") if c.text in pages]
        types = ", ".join(f"[{n.removeprefix('espalier::')}](../cpp/{pages[n]})" for n in names)
        path = header.findtext("path").partition("/include/")[2] + header.findtext("name")
        rows.append(f"| [{path}](../cpp/{header.findtext('filename')}) | {types} |")
    return "| header | types |\n|---|---|\n" + "\n".join(sorted(rows)) + "\n"
