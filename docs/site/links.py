#!/usr/bin/env python3
"""Checks a site: links.py FOLDER. Every link leads to a page and place that is there, and nothing is loaded from a network."""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


URL = re.compile(r"url\([\"']?([^\"')]+)[\"']?\)")


class Page(HTMLParser):
    """Where a page links to, what it loads, and the places that links may lead to."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.places = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        for key in ("id", "name"):
            if attributes.get(key):
                self.places.add(attributes[key])
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        if tag in ("img", "script", "iframe", "source", "video") and attributes.get("src"):
            self.loads.append(attributes["src"])
        if tag == "link" and attributes.get("href") and attributes.get("rel") != "canonical":
            self.loads.append(attributes["href"])


def check(folder):
    """The number of links checked, and complaints."""
    folder = Path(folder).resolve()
    # Pages of the program (reports, studies) are data to the site: they are led to, not read.
    parsed = {path: Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html") if path.name != "study.html"}
    count, complaints = 0, []
    for path, page in parsed.items():
        where = path.relative_to(folder)
        for target in page.links + page.loads:
            parts = urlsplit(target)
            if parts.scheme in ("http", "https", "data", "mailto") or target.startswith("//"):
                if target in page.loads and parts.scheme != "data":
                    complaints.append(f"{where}: loads {target} from a network")
                continue
            count += 1
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if to.is_dir():
                to /= "index.html"
            if not to.is_file():
                complaints.append(f"{where}: {target} leads nowhere")
            elif parts.fragment and to in parsed and unquote(parts.fragment) not in parsed[to].places:
                complaints.append(f"{where}: {target}: that page has no such place")
    for path in folder.rglob("*.css"):
        for target in URL.findall(path.read_text(encoding="utf-8")):
            if not target.startswith(("data:", "#")):
                count += 1
                if target.startswith(("http:", "https:", "/")) or not (path.parent / urlsplit(target).path).is_file():
                    complaints.append(f"{path.relative_to(folder)}: {target} is not in the site")
    return count, complaints


if __name__ == "__main__":
    total, wrong = check(sys.argv[1])
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{total} links lead somewhere")
