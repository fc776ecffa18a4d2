"""Checks a site that was built: every link leads to a file and an anchor that exist, and nothing is loaded from elsewhere."""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loaded = set(), [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(values[name] for name in ("id", "name") if values.get(name))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        elif tag == "link" and values.get("rel") not in ("canonical", "prev", "next") and values.get("href"):
            self.loaded.append(values["href"])
        elif values.get("src"):
            self.loaded.append(values["src"])


def site(folder):
    """What is wrong, one line each. Pages of Doxygen are its own business: only links to them are checked."""
    folder = Path(folder).resolve()
    pages = {path: Page(path) for path in sorted(folder.rglob("*.html"))}
    complaints = []
    for path, page in pages.items():
        name = path.relative_to(folder)
        complaints += [f"{name}: loads {url} from elsewhere" for url in page.loaded if urlsplit(url).netloc]
        if name.parts[0] == "cpp":
            continue
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or name.name == "404.html":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target = target / "index.html"
            if not target.exists():
                complaints.append(f"{name}: {link}: no such file")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                complaints.append(f"{name}: {link}: no such anchor")
    return complaints
