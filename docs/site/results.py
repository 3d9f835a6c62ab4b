"""Pages from results: the bibliography, and what studies and benchmarks have left as JSON."""

import json
import re
import shutil

ENTRY = re.compile(r"^@(\w+)\{(\w+),\s*\n(.*?)^\}", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^\s*(\w+)\s*=\s*\{(.*?)\},?\s*$", re.MULTILINE | re.DOTALL)
ACCENTS = {'\\"u': "ü", '\\"o': "ö", '\\"a': "ä", "\\'e": "é", "\\'a": "á", "\\'o": "ó", "\\'i": "í", "\\`e": "è", "\\v{c}": "č", "\\ss": "ß",
           "\\'c": "ć", "\\`a": "à", "\\~n": "ñ", "\\^o": "ô", "\\c{c}": "ç"}


def plain(text):
    for accent, letter in ACCENTS.items():
        text = text.replace("{" + accent + "}", letter).replace(accent, letter)
    text = text.replace("$\\alpha$", "α").replace("--", "–").replace("\\&", "&")
    return " ".join(re.sub(r"[{}]", "", text).split())


def entries(file):
    for kind, key, body in ENTRY.findall(file.read_text(encoding="utf-8")):
        yield key, kind, {name.lower(): plain(value) for name, value in FIELD.findall(body)}


def bibliography(file):
    """The keys that pages may cite."""
    return {key for key, _, _ in entries(file)}


def references_page(file):
    lines = ["# References", "", "What the code and these pages cite, by key.", ""]
    for key, _, fields in entries(file):
        where = ", ".join(fields[name] for name in ("journal", "booktitle", "publisher", "school", "institution", "howpublished", "volume", "pages", "year", "note")
                          if fields.get(name))
        text = f"{fields.get('author', '').replace(' and ', ', ')}: *{fields.get('title', '')}*. {where}."
        lines += [f"## {key}", "", text.lstrip(": ").replace("[", "\\[").replace("$", "\\$"), ""]
    return "\n".join(lines)


def cell(value):
    if isinstance(value, float):
        value = f"{value:.4g}"
    return str("" if value is None else value).replace("|", "\\|").replace("\n", " ").replace("$", "\\$").replace("<", "\\<").replace("*", "\\*")


def table(columns, rows):
    lines = ["| " + " | ".join(map(cell, columns)) + " |", "|" + "---|" * len(columns)]
    return lines + ["| " + " | ".join(map(cell, row)) + " |" for row in rows]


def study_section(study, folder, extra):
    """Claims and tables of a study, and a link to its own page, which has the figures."""
    lines = [f"## {study['title']}", "", f"After {study['citation']}." + (" *Small sizes (`--quick`).*" if study["quick"] else ""), ""]
    page = folder / "study.html"
    if page.is_file():
        place = extra / "studies" / study["name"]
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(page, place / "study.html")
        lines += [f'<a href="../studies/{study["name"]}/study.html">All figures and tables of this study</a>', ""]
    lines += table(["claim", "published", "measured", "holds"],
                   [[claim["text"] + (f" ({claim['why']})" if claim["why"] and claim["holds"] != "yes" else ""),
                     claim["published"], claim["measured"], claim["holds"]] for claim in study["claims"]])
    return [*lines, ""]


def rows_section(title, rows):
    columns = [key for key in rows[0] if not isinstance(rows[0][key], (dict, list))]
    return [f"## {title}", "", *table(columns, [[row.get(key) for key in columns] for row in rows[:200]]), ""]


BENCHMARKS = (("scale.json", "Simulated clusters: `./dev bench-scale`"), ("modules.jsonl", "Modules on threads and ranks: `./dev bench-modules`"),
              ("gigsp.jsonl", "The generalized inverse in parallel: `./dev bench-gigsp`"),
              ("coordinates.json", "Coordinates: `./dev bench coordinates`"))


def read_rows(file):
    if file.suffix == ".jsonl":
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    data = json.loads(file.read_text(encoding="utf-8"))
    if isinstance(data, dict):
        data = next((value for value in data.values() if isinstance(value, list) and value and isinstance(value[0], dict)), [])
    return [row for row in data if isinstance(row, dict)]


STUDIES = ("gluing", "hierarchical", "variable-dof")  # seconds each: the site shows them without being asked


def results_page(folders, extra, study=None):
    """What is in the folders; study(name) gives a folder with the results of a short study that is in none of them."""
    lines = ["# Results of this machine", "", "Studies and benchmarks write their numbers as JSON. This page shows them. Three short studies were run "
             "while the site was built. To add others, run them and build the site again:", "",
             "```sh", "linkwork study variable-dof-distributed --quick      # or any other of 'linkwork list studies'",
             "./dev bench-modules --quick", "./dev docs", "```", "",
             "*Holds* says whether a claim of the paper was found to be true. [Studies](../studies.md) and [benchmarks](../benchmarks.md) tell what longer "
             "runs found.", ""]
    folders = [folder for folder in folders if folder.is_dir()]
    studies = {}
    for file in (file for folder in folders for file in sorted(folder.rglob("study.json"))):
        found = json.loads(file.read_text(encoding="utf-8"))
        studies.setdefault(found["name"], (found, file.parent))
    for name in STUDIES if study else ():
        if name not in studies:
            folder = study(name)
            studies[name] = json.loads((folder / "study.json").read_text(encoding="utf-8")), folder
    for name in sorted(studies):
        lines += study_section(*studies[name], extra)
    for folder in folders:
        for name, title in BENCHMARKS:
            if (folder / name).is_file() and (rows := read_rows(folder / name)):
                lines += rows_section(title, rows)
    return "\n".join(lines) + "\n"
