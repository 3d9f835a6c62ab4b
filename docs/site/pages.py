"""Pages of the site from the Markdown of the repository.

Markdown stays what any viewer of Markdown shows. What only the site can do stands in comments, each on lines of its own:

    <!-- picture: four_bar --at 0.5 | What it shows -->     drawn by 'linkwork picture', with the text as caption
    <!-- film: gripper --end 3 | What it shows -->          'linkwork run' and 'animate'; --speed, --rate and --size are animate's
    <!-- compare: four_bar --end 1 --steps 1e-3 | Title --> a table made by 'linkwork compare'
    <!-- when ensembles.md: See [sweeps](ensembles.md). --> the text, if that page is there
    <!-- map -->                                            a diagram of the library's folders
    <!-- navigation -->                                     the tables of contents, in index.md

Links to files of the repository become pages that show them; keys such as [Khan2006] become links to the references; a block of code
with title="NAME", into="MODEL" or from="FILE" (tests/lint/docs_commands.py) gets a caption that says so.
"""

import html
import posixpath
import re
import shlex
from pathlib import Path

import code_map
from program import dark

COMMENT = re.compile(r"^<!-- (picture|film|compare|when|map|navigation)\b:?\s*(.*?)\s*-->$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r'^( *)(```+)(\w+) (title|into|from)="([^"]+)"\n(.*?)^\1\2 *$', re.MULTILINE | re.DOTALL)
CAPTIONS = {"title": "", "into": "into ", "from": "from "}
TEXT = re.compile(r"^( *)(```+)text (output|drawing)\n(.*?)^\1\2 *$", re.MULTILINE | re.DOTALL)
CLASSES = {"output": "output", "drawing": "sketch"}
LINK = re.compile(r"(?<!!)\[([^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*)\]\(([^()\s]+)\)")
KEY = re.compile(r"(?<![\w\]!\\])\[([A-Z][A-Za-z]+(?:\d{4})?[a-z]?)\](?![(\[])")
BLOCK = re.compile(r"^ *(```+).*?^ *\1`* *$", re.MULTILINE | re.DOTALL)
CODE = re.compile(BLOCK.pattern + r"|`[^`\n]+`", re.MULTILINE | re.DOTALL)
LANGUAGES = {".toml": "toml", ".py": "python", ".cpp": "cpp", ".h": "cpp", ".urdf": "xml", ".sdf": "xml", ".xml": "xml", ".sh": "bash",
             ".bib": "bibtex", ".mjs": "javascript", ".ts": "typescript", ".json": "json", ".proto": "protobuf", ".csv": "text"}
MOVED = {"README.md": "index", "CONTRIBUTING.md": "made/contributing", "CHANGELOG.md": "made/changelog",
         "docs/references.bib": "made/references"}


def names(docs):
    """Names of all pages, without .md."""
    return sorted(str(path.relative_to(docs).with_suffix("")) for path in docs.rglob("*.md") if "site" not in path.relative_to(docs).parts)


def outside(code, text, change):
    """The text with `change` made of what is not code."""
    pieces, end = [], 0
    for found in code.finditer(text):
        pieces += [change(text[end:found.start()]), found.group(0)]
        end = found.end()
    return "".join([*pieces, change(text[end:])])


def image(picture, words):
    """Raw, so that the picture is loaded when it is looked at, and lies in one place of the site. The page shows it light or dark, as it is itself."""
    plain = html.escape(words.replace("`", ""))
    return "".join(f'<img class="{scheme}" src="{file}" alt="{plain}" loading="lazy">'
                   for scheme, file in (("for-light", picture), ("for-dark", dark(picture))))


def figure(picture, caption):
    shown = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(caption))
    return f'<figure>{image(picture, caption)}<figcaption>{shown}</figcaption></figure>'


def number(value, digits=2):
    return "" if value is None else f"{value:.{digits}g}" if isinstance(value, float) else str(value)


class Book:
    def __init__(self, root, source, there, keys, program):
        self.root, self.source, self.there, self.keys, self.program = root, source, there, keys, program
        self.files, self.written = set(), source.parent / "written"

    def add(self, name, text, origin=None, sections=()):
        """Writes a page. `origin` is its file in the repository, which its links start from."""
        self._write_titled(name, text)
        text = COMMENT.sub(lambda found: self._comment(found, name, sections), text)
        text = TEXT.sub(lambda f: f"{f[1]}{f[2]}{{code-block}} text\n{f[1]}:class: {CLASSES[f[3]]}\n\n{f[4]}{f[1]}{f[2]}", text)
        text = NAMED.sub(lambda f: f"{f[1]}{f[2]}{{code-block}} {f[3]}\n{f[1]}:caption: {CAPTIONS[f[4]]}{f[5]}\n\n{f[6]}{f[1]}{f[2]}", text)
        up = "../" * name.count("/")
        text = outside(CODE, text, lambda piece: KEY.sub(
            lambda f: f"[\\[{f[1]}\\]]({up}made/references.md#{f[1].lower()})" if f[1] in self.keys else f[0], piece))
        if origin:
            text = outside(BLOCK, text, lambda piece: LINK.sub(lambda f: self._link(f, name, origin), piece))
        file = self.source / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def _write_titled(self, name, text):
        """The files that a page tells its reader to write, for its pictures."""
        for found in NAMED.finditer(text):
            if found[4] == "title":
                file = self.written / name / found[5]
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(found[6], encoding="utf-8")

    def _link(self, found, name, origin):
        text, target = found.groups()
        path, _, anchor = target.partition("#")
        if not path or "://" in path or path.startswith(("mailto:", "made/", "../made/")):
            return found[0]
        place = posixpath.normpath(posixpath.join(posixpath.dirname(origin), path))
        page = self._page_of(place)
        if page is None:
            return found[0]
        to = posixpath.relpath(f"{page}.md", posixpath.dirname(name) or ".")
        return f"[{text}]({to}{'#' + anchor if anchor else ''})"

    def _page_of(self, place):
        """The page that shows a file of the repository."""
        if place in MOVED:
            return MOVED[place]
        if place.startswith("docs/") and place.endswith(".md"):
            return place[len("docs/"):-len(".md")]
        if place.startswith("models/") and place.endswith(".toml") and "/" not in place[len("models/"):]:
            return f"made/models/{Path(place).stem}"
        if (self.root / place).exists():
            self.files.add(place)
            return f"files/{place}" if (self.root / place).is_file() else f"files/{place}/index"
        return None

    def _comment(self, found, name, sections):
        kind, text = found.groups()
        if kind == "navigation":
            return "\n".join(toctree(section) for section in sections)
        if kind == "map":
            (self.source / "code_map.svg").write_text(code_map.svg(self.root / "linkwork"), encoding="utf-8")
            return f"![Folders of the library, each above what it uses]({'../' * name.count('/')}code_map.svg)"
        if kind == "when":
            page, _, then = text.partition(":")
            place = posixpath.normpath(posixpath.join(posixpath.dirname(name), page))
            return then.strip() if posixpath.splitext(place)[0] in self.there else ""
        command, _, caption = (part.strip() for part in text.partition("|"))
        words = shlex.split(command)
        if (self.written / name / words[0]).is_file():
            words[0] = str(self.written / name / words[0])
        up = "../" * name.count("/")
        if kind == "picture":
            return figure(up + self.program.picture(*words), caption)
        if kind == "film":
            film, run, rest = [], [], iter(words[1:])
            for word in rest:
                (film if word in ("--speed", "--rate", "--size", "--from", "--to") else run).extend(
                    [word, next(rest)] if word.startswith("--") else [word])
            sizes = dict(zip(film[::2], film[1::2]))
            size, rate = sizes.pop("--size", "480x360"), sizes.pop("--rate", "12")
            options = tuple(word for pair in sizes.items() for word in pair)
            return figure(up + self.program.film(words[0], tuple(run), options, size, rate), caption)
        return comparison_table(self.program.compare(*words), caption, command) if self.program.draws else f"**{caption}**"

    def add_files(self):
        """Pages for the files and folders that others link to; folders bring their files along."""
        done = set()
        while self.files - done:
            place = min(self.files - done)
            done.add(place)
            path = self.root / place
            if path.is_dir():
                parts = sorted(part for part in path.iterdir() if part.suffix in LANGUAGES or part.is_dir() and not part.name.startswith(("_", ".")))
                self.files |= {f"{place}/{part.name}" for part in parts}
                lines = [f"* [{part.name}]({part.name}{'/index' if part.is_dir() else ''}.md)" for part in parts]
                self.add(f"files/{place}/index", f"---\norphan: true\n---\n\n# {place}\n\n" + "\n".join(lines) + "\n")
            else:
                text = path.read_text(encoding="utf-8", errors="replace").replace("\r", "")
                fence = "`" * 6
                self.add(f"files/{place}", f"---\norphan: true\n---\n\n# {place}\n\n{fence}{LANGUAGES.get(path.suffix, 'text')}\n{text}\n{fence}\n")


def toctree(section):
    lines = "\n".join(section["pages"])
    return f"```{{toctree}}\n:hidden:\n:caption: {section['title']}\n\n{lines}\n```\n"


def comparison_table(comparison, title, command):
    """Only the columns in which rows differ, and what was measured. Below the error of the reference, errors cannot be told apart."""
    rows = comparison["rows"]
    known_to = {reference["problem"]: reference["estimated_error"] or 0.0 for reference in comparison["references"]}
    choices = [key for key in ("coordinates", "formulation", "stabilization", "integrator", "step", "rtol")
               if len({str(row[key]) for row in rows}) > 1]
    measured = [("error", "error in q"), ("position_error", "constraint error"), ("energy_drift", "energy drift"),
                ("evaluations", "evaluations"), ("us_per_evaluation", "µs per evaluation"), ("wall_seconds", "wall time, s")]
    head = "| " + " | ".join([*choices, *(words for _, words in measured)]) + " |"
    lines = [f"**{title}**", "", '<div class="measured">', "", head, "|" + "---|" * (len(choices) + len(measured))]
    failures = []
    for row in rows:
        chosen = [number(row[key]) for key in choices]
        if row["reason"]:
            failures.append(f"* {', '.join(filter(None, chosen))}: {row['reason']}")
            continue
        shown = {key: number(row[key]) for key, _ in measured}
        if row["error"] < (least := known_to.get(row["problem"], 0.0)):
            shown["error"] = f"&lt;{number(least)}"
        lines.append("| " + " | ".join([*chosen, *shown.values()]) + " |")
    lines += ["", "</div>", "", *failures, "", f"*Measured while this page was built: `linkwork compare {command}`.*"]
    return "\n".join(lines)
