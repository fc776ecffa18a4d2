"""What MkDocs calls while it builds: anchors of headings are those of the repository's web view, on which links rely."""

import re


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
