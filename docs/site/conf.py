"""How Sphinx makes the site. build.py prepares the folder that it reads, and says by the environment what is there."""

import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
if os.environ.get("LINKWORK_PYTHON_PACKAGE"):
    sys.path.insert(0, os.environ["LINKWORK_PYTHON_PACKAGE"])

project = "Linkwork"
author = "the Linkwork developers"
copyright = author
release = version = os.environ.get("LINKWORK_VERSION", "")

extensions = ["myst_parser", "katex_math"]
if os.environ.get("LINKWORK_PYTHON_PACKAGE"):
    extensions += ["sphinx.ext.autodoc"]
if os.environ.get("LINKWORK_DOXYGEN_XML"):
    extensions += ["breathe"]
    breathe_projects = {"linkwork": os.environ["LINKWORK_DOXYGEN_XML"]}
    breathe_default_project = "linkwork"
    breathe_default_members = ("members",)

source_suffix = {".md": "markdown"}
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
exclude_patterns = []
# A word that is no lexer's input (an output block, a sketch) is shown as it is.
suppress_warnings = ["misc.highlighting_failure"]
highlight_language = "text"
smartquotes = False  # they make one dash of the two of an option

html_theme = "furo"
html_title = "Linkwork"
html_static_path = [str(Path(__file__).parent / "static"), os.environ["LINKWORK_STATIC"]]
html_css_files = ["katex.min.css", "site.css"]
html_extra_path = [os.environ["LINKWORK_EXTRA"]]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_show_search_summary = False  # summaries are fetched, which browsers refuse from file://
html_permalinks_icon = "#"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5fa8", "color-brand-content": "#1f5fa8",
                            "font-stack": "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif"},
    "dark_css_variables": {"color-brand-primary": "#7fb3f0", "color-brand-content": "#7fb3f0"},
    "navigation_with_keys": True,
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"

SHELL_BLOCK = re.compile(r'(?<=<div class="highlight-sh notranslate">).*?(?=</pre>)', re.DOTALL)
OPTION = re.compile(r"(?<![\w-])--?\w[\w-]*(?![^<]*>)")
SHORT_CODE = re.compile(r'<span class="pre">([^<]{1,30})</span>')
TABLE = re.compile(r'<table class="docutils align-default">(.*?)</table>', re.DOTALL)
HEAD = re.compile(r"<th[^>]*><p>(.*?)</p></th>")
CELL = re.compile(r"<td[^>]*>(?:<p>(.*?)</p>)?</td>", re.DOTALL)
NUMBER = re.compile(r"(&lt;|[–-])?[\d.,]+(e[+-]?\d+)?( %)?$")


def keep_words_whole(body):
    """Browsers end lines after any hyphen, also after those that an option begins with."""
    body = SHELL_BLOCK.sub(lambda block: OPTION.sub(r'<span class="whole">\g<0></span>', block[0]), body)
    return SHORT_CODE.sub(r'<span class="pre whole">\1</span>', body)


def plain(cell):
    """A head as words; a formula once, not also as for screen readers."""
    return re.sub(r"<[^>]+>", "", re.sub(r'<span class="katex-mathml">.*?</math></span>', "", cell, flags=re.DOTALL))


def label_cells(table):
    """A phone shows the cells of a wide table of words one below the other: each but the first says what it is."""
    columns, cells = [plain(head) for head in HEAD.findall(table[1])], CELL.findall(table[1])
    keys, numbers = columns[:1] == ["key"], sum(bool(NUMBER.match(cell)) for cell in cells)
    if len(columns) < (3 if keys else 4) or numbers > len(cells) / 4:
        return table[0]
    labels = ["", *columns[1:-1], "" if keys else columns[-1]]
    label = lambda name: f'<td data-label="{name}: ">' if name else "<td>"
    row = lambda found: re.sub("<td>", lambda _, left=iter(labels): label(next(left)), found[0])
    return f'<table class="docutils align-default keys">{re.sub(r"<tr.*?</tr>", row, table[1], flags=re.DOTALL)}</table>'


def mend(_app, _page, _template, context, _doctree):
    if "body" in context:
        context["body"] = TABLE.sub(label_cells, keep_words_whole(context["body"]))


def setup(app):
    app.connect("html-page-context", mend)


autodoc_member_order = "bysource"
autodoc_typehints = "none"
