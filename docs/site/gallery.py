"""The gallery: a card and a page for every ready model, from the comment at the top of its file."""

import html
import json
import re
import textwrap
import tomllib
from pathlib import Path

import pages

HERE = Path(__file__).resolve().parent


def opening_comment(text):
    """The comment at the top of a model file, without its marks, as lines."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line[2:] if line.startswith("# ") else line[1:])
    return lines


class Story:
    """Title, sketch, remarks, source and expectation of a model, as its comment has them."""

    def __init__(self, lines):
        paragraphs = re.split(r"\n\s*\n", "\n".join(lines).strip("\n"))
        self.title = " ".join(paragraphs[0].split()) if paragraphs else ""
        self.source = self.expect = ""
        self.remarks = []
        for paragraph in paragraphs[1:]:
            if paragraph.startswith("Source:"):
                self.source = capital(self._prose(paragraph[len("Source:"):]))
            elif paragraph.startswith("Expect:"):
                self.expect = capital(self._prose(paragraph[len("Expect:"):]))
            else:
                self.remarks.append(paragraph)

    @staticmethod
    def _prose(text):
        """Flowing text; indented lines (formulas, lists) stay as they are."""
        pieces, flow = [], []
        for line in text.splitlines():
            if line.startswith("  "):
                if flow:
                    pieces.append(escape(" ".join(flow)))
                    flow = []
                if pieces and pieces[-1].startswith("```"):
                    pieces[-1] = pieces[-1][:-len("\n```")] + f"\n{line}\n```"
                else:
                    pieces.append(f"```text\n{line}\n```")
            elif line.strip():
                flow.append(line.strip())
        if flow:
            pieces.append(escape(" ".join(flow)))
        return "\n\n".join(pieces)


def capital(text):
    return text[:1].upper() + text[1:]


def escape(text):
    text = re.sub(r"(--set \S+?)(?=[,.;:)]*(?:\s|$))", r"`\1`", text)
    return "".join(piece if piece.startswith("`") else re.sub(r"([*_$<>])", r"\\\1", piece) for piece in re.split(r"(`[^`]*`)", text))


def film_of(program, name, choices, end):
    """Some four seconds of film; what is faster or slower than the eye is slowed down or sped up."""
    choice = choices.get(name, {})
    length = choice.get("end", min(end, 4.0))
    seconds = choice.get("seconds", 4.0)
    rate = 10
    run = ("--end", f"{length:g}", "--every", f"{length / (seconds * rate):.6g}", *choice.get("options", []))
    return program.film(name, run, ("--speed", f"{length / seconds:g}"), size="360x270", rate=rate), length / seconds


def card(name, story, picture):
    return (f'<a class="card" href="models/{name}.html">{pages.image(f"../{picture}", f"{name} in motion")}'
            f'<span class="text"><span class="name">{name}</span>{html.escape(story.title)}<code>linkwork run {name}</code></span></a>')


def settings_end(text):
    """The length of a model's run; an expression counts as the default."""
    end = tomllib.loads(text).get("settings", {}).get("end", 10.0)
    return float(end) if isinstance(end, (int, float)) else 10.0


def speed_words(speed):
    if abs(speed - 1) < 0.01:
        return "in real time"
    return f"{speed:.3g} times faster than real" if speed > 1 else f"slowed down {1 / speed:.3g} times"


def gallery_pages(root, program):
    choices = tomllib.loads((HERE / "gallery.toml").read_text(encoding="utf-8"))
    known = {path.stem: path for path in sorted((root / "models").glob("*.toml"))}
    groups = choices.pop("group")
    lost = set(known) - {name for group in groups for name in group["models"]}
    gone = {name for group in groups for name in group["models"]} - set(known)
    if gone:
        raise SystemExit(f"docs/site/gallery.toml names models that are not there: {', '.join(sorted(gone))}")
    if lost:  # a new model is shown at once, wherever it belongs
        groups.append({"title": "More", "text": "", "models": sorted(lost)})
    films = choices.get("film", {})
    text = ["# Gallery", "", f"All {len(known)} ready models in motion. Every film was drawn by `linkwork run` and `linkwork animate` while this "
            "page was built. Choose one for its story, its source and its file. The same models in one table: [ready models](../models.md).", ""]
    names = []
    for group in groups:
        text += [f"## {group['title']}", "", group["text"], "", '<div class="cards">']
        for name in group["models"]:
            model = known[name].read_text(encoding="utf-8")
            story = Story(opening_comment(model))
            picture, speed = film_of(program, name, films, settings_end(model))
            text.append(card(name, story, picture))
            names.append(name)
            yield f"made/models/{name}", model_page(program, name, model, story, picture, speed)
        text += ["</div>", ""]
    text += ["```{toctree}", ":hidden:", "", *(f"models/{name}" for name in names), "```", ""]
    yield "made/gallery", "\n".join(text)


def counted(number, one, many=None):
    return f"{number} {one if number == 1 else many or one + 's'}"


def model_page(program, name, model, story, picture, speed):
    about = json.loads(program.run("check", name, "--json"))
    size = [counted(about["bodies"], "body", "bodies"), counted(about["joints"], "joint"), counted(about["loops"], "loop"),
            counted(about["coordinates"], "coordinate") + " of the tree", counted(about["rows"], "constraint row") + f" of rank {about['rank']}",
            counted(about["dof"], "degree of freedom", "degrees of freedom")]
    lines = [f"# {name}", "", escape(story.title), "", pages.figure(f"../../{picture}", f"{name}, {speed_words(speed)}"), "",
             "```sh", f"linkwork run {name}", "```", "", "*" + ", ".join(size) + ".*", ""]
    for remark in story.remarks:
        lines += ["```{code-block} text", ":class: sketch", "", textwrap.dedent(remark), "```", ""]
    if story.expect:
        lines += ["## What to expect", "", story.expect, ""]
    if story.source:
        lines += ["## Where it comes from", "", story.source, ""]
    lines += ["## The file", "", "``````toml", model.rstrip(), "``````", ""]
    return "\n".join(lines)
