"""What MkDocs calls while it builds: anchors of headings are those of the repository's web view, on which links rely, and the search
works where there is no server."""

import json
import re
from pathlib import Path

from mkdocs.utils import get_relative_url


class Anchors:
    """Names of a page's headings: in lower case, punctuation left out, hyphens for spaces; a second one ends in -1."""

    def __init__(self):
        self.seen = {}

    def __call__(self, heading, _separator):
        name = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        count = self.seen.get(name, 0)
        self.seen[name] = count + 1
        return f"{name}-{count}" if count else name


ANCHORS = Anchors()


def on_config(config):
    config["mdx_configs"]["toc"]["slugify"] = ANCHORS
    return config


def on_page_markdown(markdown, **_):
    ANCHORS.seen.clear()
    return markdown


def on_post_page(output, page, **_):
    """Before the theme's script, which starts the search."""
    source = get_relative_url("search_from_file.js", page.url)
    before, bundle, after = output.rpartition('<script src="')
    return f'{before}<script src="{source}"></script>\n{bundle}{after}'


def on_post_build(config):
    """What search_from_file.js loads: the index as the theme asks for it, and workers that need no file."""
    site = Path(config["site_dir"])
    index = (site / "search/search_index.json").read_text(encoding="utf-8")
    (worker,) = (site / "assets/javascripts/workers").glob("search.*.js")
    source = json.dumps(worker.read_text(encoding="utf-8")).replace("</", "<\\/")
    (site / "search/search_index.js").write_text(
        f"var __search = {{index: Promise.resolve({index})}};\n"
        f"const startWorker = Worker, workerSource = {source};\n"
        "Worker = function () { return new startWorker(URL.createObjectURL(new Blob([workerSource]))); };\n", encoding="utf-8")
