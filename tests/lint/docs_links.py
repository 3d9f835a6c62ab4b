#!/usr/bin/env python3
"""Links in Markdown lead somewhere: docs_links.py SOURCE_DIR. Files must be there, and headings for what stands after '#'."""

import re
import sys
from pathlib import Path

BLOCK = re.compile(r"^ *(```+).*?^ *\1`* *$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
LINK = re.compile(r"\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ +(.*?) *$", re.MULTILINE)


def anchors(text):
    """As GitHub and the site make them of headings."""
    found = set()
    for heading in HEADING.findall(BLOCK.sub("", text)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found


def main():
    root = Path(sys.argv[1]).resolve()
    pages = [path for path in [*root.glob("*.md"), *(root / "docs").rglob("*.md")] if "node_modules" not in path.parts]
    count, wrong = 0, []
    for page in pages:
        for target in LINK.findall(COMMENT.sub("", BLOCK.sub("", page.read_text(encoding="utf-8")))):
            if "://" in target or target.startswith("mailto:"):
                continue
            count += 1
            path, _, anchor = target.partition("#")
            to = (page.parent / path).resolve() if path else page
            if not to.exists():
                wrong.append(f"{page.relative_to(root)}: {target} leads nowhere")
            elif anchor and to.suffix == ".md" and anchor not in anchors(to.read_text(encoding="utf-8")):
                wrong.append(f"{page.relative_to(root)}: {target}: there is no such heading")
    if wrong or count < 100:
        sys.exit("\n".join(wrong) or "there are hardly any links: has their form changed?")
    print(f"{count} links on {len(pages)} pages lead somewhere")


if __name__ == "__main__":
    main()
