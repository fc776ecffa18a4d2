#!/usr/bin/env python3
"""Builds the documentation as a site that needs no network and no server.

    docs/site/build.py --build build --output build/site

The pages lie in BUILD/site-source/pages/ as they do in the repository, so that links between them work in both places. A link to
any other file of the repository leads to a page that shows it. The references of Python and C++ are made from the module in
BUILD/python and, by Doxygen, from include/espalier; where one of these is missing, its page says so.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import check
import references

SITE = Path(__file__).resolve().parent
ROOT = SITE.parent.parent
PAGES = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "bench/README.md", "examples/references/README.md"]
PICTURES = {".svg", ".png"}
LANGUAGES = {".h": "cpp", ".cc": "cpp", ".py": "python", ".json": "json", ".xml": "xml"}
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")
FENCE = re.compile(r"^(`{3,})(\S*)( .*)?$")
CODE = re.compile(r"`[^`]+`")


class Pages:
    """The folder that MkDocs reads, filled with the pages and with what they link to."""

    def __init__(self, folder):
        self.folder = folder
        self.done = set()

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def add_page(self, name):
        self.done.add(name)
        source, lines, fence = (ROOT / name).read_text(encoding="utf-8").splitlines(), [], ""
        for line, below in zip(source, source[1:] + [""]):
            opening = FENCE.match(line)
            if fence:
                fence = "" if line == fence else fence
            elif opening:
                fence = opening[1]
                # MkDocs takes "console approximate" for text; sessions of Python have a language of their own.
                line = opening[1] + ("pycon" if below.startswith(">>> ") else opening[2])
            else:
                line = LINK.sub(lambda link: self.follow(Path(name).parent, link), line)
                if line.startswith("|"):  # where MkDocs does not take a bar in code for the end of a cell
                    line = CODE.sub(lambda code: code[0].replace("\\|", "|"), line)
            lines.append(line)
        self.write(name, "\n".join(lines) + "\n")

    def follow(self, folder, link):
        """The link as it is on the site, where its target is brought in."""
        before, target, anchor, after = link.groups(default="")
        if "://" in target:
            return link[0]
        path = os.path.normpath(folder / target)
        if path.endswith(".md"):
            return link[0]  # MkDocs itself complains about pages that are missing
        return before + os.path.relpath(self.add_file(path), folder) + anchor + after

    def add_file(self, path):
        """Adds a file or folder of the repository unless it is there, and returns its place."""
        source = ROOT / path
        if source.is_dir():
            place = f"{path}/index.md"
        elif source.suffix in PICTURES:
            place = path
        else:
            place = f"{path}.md"
        if place in self.done:
            return place
        self.done.add(place)
        if source.is_dir():
            self.write(place, self.listing(path))
        elif source.suffix in PICTURES:
            (self.folder / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, self.folder / place)
        else:
            text = source.read_text(encoding="utf-8").rstrip("\n")
            language = LANGUAGES.get(source.suffix, "text")
            self.write(place, f"# {path}\n\n~~~~~~~~ {language}\n{text}\n~~~~~~~~\n")
        return place

    def listing(self, folder):
        files = [f for f in tracked(folder) if not f.endswith(".md") or f in PAGES]
        links = [f if f.endswith(".md") else self.add_file(f) for f in files]
        entries = [f"- [{os.path.relpath(f, folder)}]({os.path.relpath(link, folder)})" for f, link in zip(files, links)]
        return f"# {folder}\n\n" + "\n".join(entries) + "\n"


def tracked(folder):
    """The files of a folder, in order; those that were built or left there by accident are not among them."""
    listed = subprocess.run(["git", "ls-files", "--", folder], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0 and listed.stdout:
        return listed.stdout.splitlines()
    found = (p for p in (ROOT / folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return sorted(str(p.relative_to(ROOT)) for p in found)


def stage(folder, build):
    """Everything that MkDocs needs, in `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    pages = Pages(folder / "pages")
    for name in PAGES + sorted(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md")):
        pages.add_page(name)
    for name in ["mkdocs.yml", "hooks.py"]:
        shutil.copy(SITE / name, folder)
    for name in ["style.css", "search_from_file.js"]:
        shutil.copy(SITE / name, folder / "pages")
    pages.write("reference/python.md", references.python(build / "python"))
    pages.write("reference/cpp.md", references.cpp(ROOT, folder / "pages" / "cpp"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="CMake's folder")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "site")
    arguments = parser.parse_args()

    source = arguments.output.resolve().with_name(arguments.output.name + "-source")
    stage(source, arguments.build.resolve())
    built = subprocess.run(["mkdocs", "build", "--quiet", "--strict", "--config-file", source / "mkdocs.yml",
                            "--site-dir", arguments.output.resolve()])
    if built.returncode != 0:
        return built.returncode
    for path in arguments.output.glob("sitemap.xml*"):  # for search engines, and with the time of the build in it
        path.unlink()
    complaints = check.site(arguments.output)
    print("\n".join(complaints), file=sys.stderr, end="\n" if complaints else "")
    print(f"{arguments.output}/index.html")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
