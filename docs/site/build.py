#!/usr/bin/env python3
"""Builds the documentation as a site of HTML pages that needs no network and no server: build.py --program build/linkwork --out build/docs.

Sphinx reads a copy of docs/ in which pages have been completed: pictures and films that the program draws, tables that it computes,
pages made from the ready models, from --help, from docstrings and from results. The finished site is checked by links.py.
"""

import argparse
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import gallery
import links
import made_pages
import pages
import results
import theme
from program import Program

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KATEX = Path("/usr/share/javascript/katex")


def missing():
    """What the site cannot be built without, and is not there; as Debian packages."""
    needed = {"sphinx": "python3-sphinx", "myst_parser": "python3-myst-parser", "furo": "furo"}
    absent = [package for module, package in needed.items() if importlib.util.find_spec(module) is None]
    absent += [] if (KATEX / "katex.min.js").is_file() else ["libjs-katex"]
    return absent + ([] if shutil.which("node") else ["nodejs"])


def read_navigation(docs):
    """Sections with their pages. A page that is not there is an error."""
    sections, missing = [], []
    for section in tomllib.loads((HERE / "navigation.toml").read_text(encoding="utf-8"))["section"]:
        missing += [page for page in section["pages"] if not page.startswith("made/") and not (docs / f"{page}.md").is_file()]
        sections.append({"title": section["title"], "pages": section["pages"]})
    if missing:
        sys.exit(f"docs/site/navigation.toml names pages that are not there: {', '.join(missing)}")
    named = {page for section in sections for page in section["pages"]}
    lost = [page for page in pages.names(docs) if page not in named | {"index"}]
    if lost:  # a new page is shown at once, wherever it belongs
        print(f"no section of docs/site/navigation.toml has these pages, they are under 'More': {', '.join(lost)}", file=sys.stderr)
        sections.append({"title": "More", "pages": lost})
    return sections


def doxygen_xml(out):
    """The comments of the public headers as XML, or None where Doxygen is not installed."""
    if not shutil.which("doxygen"):
        return None
    xml = out / "doxygen"
    shutil.rmtree(xml, ignore_errors=True)
    headers = " ".join(str(path) for path in made_pages.public_headers(ROOT))
    settings = f"""
        INPUT = {headers}
        INPUT_FILTER = "{sys.executable} -B {HERE / 'doxygen_filter.py'}"
        OUTPUT_DIRECTORY = {xml}
        STRIP_FROM_PATH = {ROOT}
        GENERATE_HTML = NO
        GENERATE_LATEX = NO
        GENERATE_XML = YES
        EXTRACT_ALL = YES
        QUIET = YES
        WARNINGS = NO
        MARKDOWN_SUPPORT = NO
    """
    xml.mkdir(parents=True)
    subprocess.run(["doxygen", "-"], input=settings, text=True, stderr=subprocess.DEVNULL, check=True)
    return xml / "xml"


def prepare(source, extra, program, python, xml, arguments):
    """Fills the folder that Sphinx reads."""
    docs = ROOT / "docs"
    sections = read_navigation(docs)
    there = set(pages.names(docs)) | {page for section in sections for page in section["pages"]}
    book = pages.Book(ROOT, source, there, results.bibliography(docs / "references.bib"), program)
    for name in pages.names(docs):
        book.add(name, (docs / f"{name}.md").read_text(encoding="utf-8"), f"docs/{name}.md", sections)
    book.add("made/contributing", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), "CONTRIBUTING.md")
    book.add("made/changelog", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), "CHANGELOG.md")
    book.add("made/references", results.references_page(docs / "references.bib"))
    book.add("made/results", results.results_page([Path(folder) for folder in arguments.results], extra, program.study if program.draws else None))
    book.add("made/command-line", made_pages.command_line(program))
    book.add("made/python-api", made_pages.python_api(python))
    book.add("made/cpp-api", made_pages.cpp_api(xml))
    for name, text in gallery.gallery_pages(ROOT, program):
        book.add(name, text)
    book.add_files()
    shutil.copytree(docs / "images", source / "images", ignore=shutil.ignore_patterns("*.py", "*.mjs"))


def copy_katex(static):
    (static / "fonts").mkdir(parents=True)
    style = (KATEX / "katex.min.css").read_text(encoding="utf-8")
    (static / "katex.min.css").write_text(re.sub(r",url\([^)]*\.(?:woff|ttf)\) format\('\w+'\)", "", style), encoding="utf-8")
    for font in (KATEX / "fonts").glob("*.woff2"):
        shutil.copy(font, static / "fonts")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=ROOT / "build/linkwork", help="the program that draws and computes")
    parser.add_argument("--python", type=Path, default=None, help="folder of the Python package; default: python/ beside the program")
    parser.add_argument("--out", type=Path, default=ROOT / "build/docs", help="folder; the site is in OUT/html")
    parser.add_argument("--results", nargs="*", default=[str(ROOT / "build-bench"), str(ROOT / "build/studies"), str(ROOT / "out")],
                        metavar="DIR", help="folders with results of studies and benchmarks")
    parser.add_argument("--no-pictures", action="store_true", help="do not draw: empty pictures stand in (for tests)")
    parser.add_argument("--or-skip", action="store_true", help="exit with 77 if something is missing that the site cannot be built without")
    arguments = parser.parse_args()
    if absent := missing():
        print(f"the site is not built; missing are: {' '.join(absent)}", file=sys.stderr)
        sys.exit(77 if arguments.or_skip else 1)
    began = time.monotonic()
    out = arguments.out.resolve()
    if not arguments.program.is_file():
        sys.exit(f"there is no program at {arguments.program}: ./dev build makes it")
    source, html, extra, static = out / "source", out / "html", out / "extra", out / "static"
    for folder in (source, html, extra, static):
        shutil.rmtree(folder, ignore_errors=True)
    source.mkdir(parents=True)
    extra.mkdir()
    copy_katex(static)
    program = Program(arguments.program.resolve(), ROOT, out / "drawn", extra / "pictures", draws=not arguments.no_pictures)
    python = (arguments.python or arguments.program.resolve().parent / "python").resolve()
    python = python if list(python.glob("linkwork/_core*.so")) else None
    xml = doxygen_xml(out)
    prepare(source, extra, program, python, xml, arguments)
    program.finish()

    environment = dict(os.environ, LINKWORK_KATEX=str(KATEX), LINKWORK_STATIC=str(static), LINKWORK_EXTRA=str(extra),
                       LINKWORK_VERSION=program.version(), PYTHONDONTWRITEBYTECODE="1",
                       LINKWORK_PYTHON_PACKAGE=str(python or ""), LINKWORK_DOXYGEN_XML=str(xml or ""))
    sphinx = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going", "-c", HERE, "-d", out / "doctrees", source, html]
    if subprocess.run(sphinx, env=environment, check=False).returncode:
        sys.exit("Sphinx complains")
    theme.mend(html)
    count, complaints = links.check(html)
    if complaints:
        sys.exit("\n".join(complaints))
    size = sum(path.stat().st_size for path in html.rglob("*") if path.is_file())
    print(json.dumps({"pages": len(list(html.rglob("*.html"))), "links": count, "pictures": program.drawn,
                      "megabytes": round(size / 1e6, 1), "seconds": round(time.monotonic() - began)}))
    print(f"open {html / 'index.html'}")


if __name__ == "__main__":
    main()
