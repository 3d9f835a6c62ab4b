#!/usr/bin/env python3
"""What makes the documentation and what checks it: site_test.py SOURCE_DIR. Needs neither Sphinx nor the program."""

import json
import re
import sys
import tempfile
import tomllib
import unittest
from pathlib import Path

ROOT = Path(sys.argv.pop(1)).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "docs/site"), str(ROOT / "tests/lint")]
import code_map  # noqa: E402
import docs_commands  # noqa: E402
import gallery  # noqa: E402
import links  # noqa: E402
import made_pages  # noqa: E402
import pages  # noqa: E402
import results  # noqa: E402


class Drawer:
    """Stands in for the program: remembers what it was asked for."""

    draws = True

    def __init__(self):
        self.asked = []

    def film(self, *what):
        self.asked.append(what)
        return "pictures/film.gif"

    def compare(self, *words):
        row = {"coordinates": "TA", "formulation": "schur", "stabilization": "none", "step": 1e-3, "rtol": None, "status": "ok", "reason": "",
               "error": 1e-9, "position_error": 1e-12, "energy_drift": 1e-8, "evaluations": 4001, "problem": "", "us_per_evaluation": 1.5, "wall_seconds": 0.006}
        return {"references": [{"problem": "", "estimated_error": 1e-12}, {"problem": "chaotic", "estimated_error": 1e-3}],
                "rows": [dict(row, integrator="rk4"), dict(row, integrator="ode8", error=1e-13), dict(row, integrator="rk5", status="failed", reason="no such | method")]}


class Pages(unittest.TestCase):
    def made(self, text, name="tutorials/a", there=("b",)):
        with tempfile.TemporaryDirectory() as folder:
            drawer = Drawer()
            book = pages.Book(ROOT, Path(folder) / "source", set(there), {"Khan2006"}, drawer)
            book.add(name, text, f"docs/{name}.md")
            return (Path(folder) / f"source/{name}.md").read_text(encoding="utf-8"), drawer, book

    def test_films_are_run_with_the_options_of_the_run_and_drawn_with_those_of_the_film(self):
        text, drawer, _ = self.made("<!-- film: gripper --end 2 --speed 0.5 --size 100x80 | It `grips` -->")
        self.assertEqual(drawer.asked, [("gripper", ("--end", "2"), ("--speed", "0.5"), "100x80", "12")])
        self.assertIn('class="for-light" src="../pictures/film.gif"', text)
        self.assertIn('class="for-dark" src="../pictures/film-dark.gif"', text)
        self.assertIn("It <code>grips</code>", text)

    def test_films_of_files_that_the_reader_writes(self):
        _, drawer, _ = self.made('```toml title="corner.toml"\nlinkwork = 1\n```\n\n<!-- film: corner.toml | x -->')
        self.assertTrue(drawer.asked[0][0].endswith("written/tutorials/a/corner.toml"))

    def test_text_that_waits_for_a_page(self):
        self.assertIn("See [it](../b.md).", self.made("<!-- when ../b.md: See [it](../b.md). -->")[0])
        self.assertNotIn("See", self.made("<!-- when ../c.md: See [it](../c.md). -->")[0])

    def test_links_to_files_become_pages_and_code_is_left_alone(self):
        text, _, book = self.made("[`a`](../../examples/batch.cpp) [m](../../models/four_bar.toml) [Khan2006]\n\n```text\n[x](../../LICENSE) [Khan2006]\n```\n")
        self.assertIn("[`a`](../files/examples/batch.cpp.md)", text)
        self.assertIn("[m](../made/models/four_bar.md)", text)
        self.assertIn("(../made/references.md#khan2006)", text)
        self.assertIn("[x](../../LICENSE) [Khan2006]\n```", text)
        self.assertEqual(book.files, {"examples/batch.cpp"})

    def test_comparisons_show_what_differs_and_what_failed(self):
        text = self.made("<!-- compare: four_bar --end 1 | Two -->")[0]
        self.assertIn("| integrator | error in q |", text)
        self.assertIn("| rk4 | 1e-09 |", text)
        self.assertIn("| ode8 | &lt;1e-12 |", text)
        self.assertIn("* rk5: no such | method", text)


class Help(unittest.TestCase):
    def test_help_becomes_lists_sentences_and_commands(self):
        lines = made_pages.help_lines("Draws it.\nUsage: linkwork draw [OPTIONS] MODEL\n\nOptions:\n  --at T                  time, s\n"
                                      "  --grid NAME=FROM:TO:COUNT\n                          evenly spaced\n\n\nWrites out/<model name>\nand *.csv.\n\n"
                                      "Examples:\n  linkwork draw a\n  linkwork draw b\n")
        text = "\n".join(lines)
        self.assertTrue(text.startswith("Draws it.\n\n`linkwork draw [OPTIONS] MODEL`\n"))
        self.assertIn("**Options**\n\n`--at T`\n: time, s\n\n`--grid NAME=FROM:TO:COUNT`\n: evenly spaced\n", text)
        self.assertIn("Writes out/\\<model name\\> and \\*.csv.\n", text)
        self.assertIn("```sh\nlinkwork draw a\nlinkwork draw b\n```", text)


class Gallery(unittest.TestCase):
    def test_comments_of_models_have_their_parts(self):
        for file in sorted((ROOT / "models").glob("*.toml")):
            story = gallery.Story(gallery.opening_comment(file.read_text(encoding="utf-8")))
            self.assertGreater(len(story.title), 20, file.name)
            self.assertTrue(story.expect, f"{file.name}: the comment does not say what to expect ('Expect: ...')")


class Results(unittest.TestCase):
    def test_studies_and_benchmarks_are_shown_from_their_json(self):
        claim = {"part": 0, "id": "a", "text": "It holds", "published": "1", "measured": "2 | 3", "holds": "no", "why": "rounded"}
        study = {"name": "s", "title": "A study", "citation": "X", "quick": True, "claims": [claim]}
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            (folder / "study.json").write_text(json.dumps(study), encoding="utf-8")
            (folder / "study.html").write_text("<p>", encoding="utf-8")
            (folder / "scale.json").write_text(json.dumps({"rows": [{"ranks": 1024, "speedup": 700.5}]}), encoding="utf-8")
            text = results.results_page([folder, folder / "missing"], folder / "extra")
            self.assertTrue((folder / "extra/studies/s/study.html").is_file())
            asked = []
            results.results_page([folder], folder / "extra", lambda name: asked.append(name) or folder)
            self.assertEqual(asked, list(results.STUDIES))
        self.assertIn("| It holds (rounded) | 1 | 2 \\| 3 | no |", text)
        self.assertIn("| 1024 | 700.5 |", text)
        self.assertNotIn("| holds |\n", results.results_page([], Path("/nowhere")))

    def test_every_reference_is_shown(self):
        file = ROOT / "docs/references.bib"
        keys, text = results.bibliography(file), results.references_page(file)
        self.assertEqual(len(keys), file.read_text(encoding="utf-8").count("\n@"))
        self.assertTrue(all(f"## {key}\n" in text for key in keys))


class Links(unittest.TestCase):
    def complaints(self, body):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "index.html").write_text(f"<p id='here'>{body}", encoding="utf-8")
            return links.check(folder)[1]

    def test_what_leads_somewhere(self):
        self.assertEqual(self.complaints("<a href='#here'>x</a><a href='index.html#here'>x</a><a href='https://a.b'>x</a>"), [])

    def test_what_leads_nowhere(self):
        self.assertEqual(len(self.complaints("<a href='#there'>x</a><a href='a.html'>x</a><img src='b.gif'>")), 3)

    def test_what_needs_a_network(self):
        self.assertEqual(len(self.complaints("<script src='https://a.b/c.js'></script><link rel='stylesheet' href='//a.b/c.css'>")), 2)


class Outputs(unittest.TestCase):
    def test_numbers_may_differ_a_little(self):
        same = docs_commands.same_line
        self.assertTrue(same("  drift 2.70e-05, 3 bodies", "drift 2.71e-05, 3 bodies"))
        self.assertTrue(same("error 1e-12 in", "error 4e-13 in"))
        self.assertTrue(same("10 s, 0.08 s of wall time", "10 s, 0.9 s of wall time"))
        self.assertFalse(same("drift 2.7e-05", "drift 2.9e-05"))
        self.assertFalse(same("error 1e-12 in", "error 1e-9 in"))
        self.assertFalse(same("3 bodies", "3 joints"))
        self.assertFalse(same("2 degrees", "3 degrees"))

    def test_dots_stand_for_anything(self):
        same = docs_commands.same_line
        self.assertTrue(same("stopped at t = … s: no answer (…)", "stopped at t = 3.1 s: no answer (refused)"))
        self.assertFalse(same("stopped at t = … s: no answer (…)", "stopped at t = 3.1 s: no host (refused)"))


class Blocks(unittest.TestCase):
    def test_how_a_block_is_tested(self):
        way = docs_commands.way
        self.assertEqual(way("toml", 'into="four_bar"'), ("into", "four_bar"))
        self.assertEqual(way("cpp", 'from="examples/a.cpp"'), ("from", "examples/a.cpp"))
        self.assertEqual(way("xml", 'title="a.urdf"'), ("title", "a.urdf"))
        self.assertEqual(way("text", "output"), ("output", ""))
        for language, info in (("toml", ""), ("cpp", ""), ("text", ""), ("cpp", 'into="four_bar"'), ("text", "outputs"), ("json", 'title="a"'), ("sh", "output")):
            self.assertIsNone(way(language, info), (language, info))

    def test_a_piece_replaces_what_has_its_name_and_adds_the_rest(self):
        model = {"linkwork": 1, "parameters": {"a": 1, "b": 2}, "body": [{"name": "x", "mass": 1}, {"name": "y"}]}
        piece = {"parameters": {"b": 3}, "body": [{"name": "x", "com": [0, 1, 0]}], "force": [{"type": "torque", "active": False}]}
        self.assertEqual(tomllib.loads(docs_commands.model_text(docs_commands.put_into(model, piece))), {
            "linkwork": 1, "parameters": {"a": 1, "b": 3}, "body": [{"name": "y"}, {"name": "x", "com": [0, 1, 0]}], "force": [{"type": "torque", "active": False}]})

    def test_model_files_are_written_as_they_were_read(self):
        for file in sorted((ROOT / "models").glob("*.toml")):
            model = tomllib.loads(file.read_text(encoding="utf-8"))
            self.assertEqual(tomllib.loads(docs_commands.model_text(model)), model, file.name)

    def test_code_of_others_is_theirs_word_by_word(self):
        self.assertEqual(docs_commands.not_in("a  b\n\nc # x", "c a b", "toml"), [])
        self.assertEqual(docs_commands.not_in("a b\n\nd", "a b c", "cpp"), ["d"])

    def test_names_and_sentences_that_are_not_there(self):
        self.assertEqual(docs_commands.missing_names("linkwork/   x\n  tree/   y\n  forest/\nTimeLoop::step\n  System::upgrade\n", ROOT), ["forest/", "System::upgrade"])
        said = [sentence for sentence in docs_commands.sentences(ROOT) if sentence.fullmatch("linkwork: rank 1 (process 2 on a) has died; it had b. c")]
        self.assertEqual(len(said), 1)

    def test_files_that_nothing_uses(self):
        block = '```toml title="a.toml"\nx = 1\n```\n'
        self.assertEqual(len(docs_commands.not_run(block)), 1)
        self.assertEqual(docs_commands.not_run(block + "```sh\nlinkwork run a.toml\n```\n"), [])


class Commands(unittest.TestCase):
    def complaints(self, text):
        return len(docs_commands.not_run(text))

    def test_what_is_run_or_is_no_command(self):
        self.assertEqual(self.complaints("""
```sh
./dev build            # everything
# only a comment
linkwork run four_bar && \\
    cmp a b
PYTHONPATH=build/python /usr/bin/python3 -c "import linkwork"
mpirun -n 2 build/linkwork run four_bar
cmake --build compressor/build
compressor/build/compressor
```

```text message
linkwork: stopped at t = 3 s
```

```text drawing
linkwork/    the library
```

* A list

    with a paragraph, linkwork run four_bar
"""), 0)

    def test_lines_of_shell_that_nothing_runs(self):
        self.assertEqual(self.complaints("```sh\nlinkwork run four_bar\nsudo apt install x\ncd there\n```\n\n  ```sh\n  make\n  ```\n"), 3)

    def test_commands_where_nothing_runs_them(self):
        for block in ("```text drawing\n$ ls\n```", "```text\nlinkwork run a\n```", "```text names\n  cmake -S . -B build && x\n```", "```text output\nbuild/linkwork list\n```",
                      "```shell\nlinkwork run a\n```", "```\nlinkwork run a\n```", "```{code-block} sh\nlinkwork run a\n```", "~~~sh\nlinkwork run a\n~~~",
                      "Do this:\n\n    linkwork run a\n"):
            self.assertTrue(self.complaints(f"# Page\n\n{block}\n"), block)


class CodeNames(unittest.TestCase):
    def test_files_and_names_in_the_pages_about_the_code_are_there(self):
        sources = [path for folder in ("linkwork", "apps", "tests", "studies", "examples", "docs/site", "web/src", "models")
                   for path in (ROOT / folder).rglob("*") if path.is_file() and path.suffix in (".h", ".cpp", ".c", ".py", ".sh", ".ts", ".mjs", ".md", ".txt", ".toml")]
        code = "\n".join(path.read_text(encoding="utf-8") for path in sources)
        places = "\n".join(f"/{path.relative_to(ROOT)}" for path in sources)
        known = set(re.findall(r"\w+", code)) | {path.stem for path in sources}
        missing = []
        for page in [*sorted((ROOT / "docs/develop").glob("*.md")), ROOT / "docs/architecture.md"]:
            text = re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
            for name in re.findall(r"`([\w:./()-]+)`", text):
                if "/" in name or re.search(r"\.(h|cpp|py|sh|toml|proto)$", name):
                    found = f"/{name}" in places or name in code or (ROOT / name).exists()
                else:
                    found = all(word in known for word in re.findall(r"[A-Za-z_]\w+", name))
                if not found and not name.startswith(("./dev", "NAME", "models/NAME", "docs/NAME")):
                    missing.append(f"{page.name}: {name}")
        self.assertEqual(missing, [])


class Messages(unittest.TestCase):
    def test_messages_in_the_tables_are_those_of_the_program(self):
        sources = [path for folder in ("linkwork", "apps") for path in (ROOT / folder).rglob("*.cpp")]
        code = "\n".join(re.sub(r'"\s*\n\s*"', "", path.read_text(encoding="utf-8")) for path in sources)
        text = (ROOT / "docs/messages.md").read_text(encoding="utf-8")
        tables = re.findall(r"^\| the (?:message|run) says .*\n\|---.*\n((?:\|.*\n)+)", text, re.MULTILINE)
        cells = [row.split("|")[1] for table in tables for row in table.splitlines()]
        pieces = [piece.strip() for cell in cells for piece in cell.split("…") if len(piece.strip()) > 3]
        self.assertGreater(len(pieces), 30)
        self.assertEqual([piece for piece in pieces if piece not in code], [])


class CodeMap(unittest.TestCase):
    def test_folders_stand_above_what_they_use(self):
        graph = code_map.uses(ROOT / "linkwork")
        level = code_map.layers(graph)
        self.assertTrue(all(level[name] > level[other] for name in graph for other in graph[name]))
        self.assertIn("front", code_map.svg(ROOT / "linkwork"))

    def test_circles_are_refused(self):
        with self.assertRaises(SystemExit):
            code_map.layers({"a": {"b"}, "b": {"a"}})


if __name__ == "__main__":
    unittest.main()
