#!/usr/bin/env python3
"""Does what the documentation says: docs_commands.py SOURCE_DIR PROGRAM [PAGE ...], or docs_commands.py --list SOURCE_DIR.

A page (README.md, docs/**/*.md; by default all of them) is followed from top to bottom in an empty directory with copies of models/ and examples/.
Every block of code says how it is tested; one that does not is a mistake. --list shows all blocks and what is done with them.

* A block with title="NAME" is written to that file, which a command or another such file must use.
* A block `toml into="MODEL"` is put into a copy of that model, a file of the page or a ready model: it replaces what has the same name and adds
  the rest. The result must pass `linkwork check` and a short `linkwork run`.
* A block with from="FILE" stands in that file of the repository, paragraph by paragraph, but for blanks (and comments in TOML). The file is one
  that tests run.
* Blocks `python` of a page are one program.
* Every line of an sh block is run and must exit with 0, or with N where it ends in `# exit N`. It must begin with a program that RUN knows, or
  with ./dev, and with nothing else. Commands in a block that is not sh are mistakes. Subcommands of ./dev must exist; they are not run.
* A block `text output` is what the block before it printed, at least in part: each of its lines must be there. Numbers may differ by 2 %,
  those of the size of rounding by a factor of 30; lines about wall time are not compared; … stands for anything.
* Lines of a block `text message` are sentences of the program that no command of a page can provoke: they fit a text in its sources.
* Folders and functions at the beginning of lines of a block `text names` are there.
* A block `text drawing` is a sketch. There is nothing to test.

What needs the Python package (build/python, beside the program) or mpirun is left out where it is missing. A page that runs cmake has the
program's build installed in $HOME/.local, of a home of its own. A line `linkwork view ...` is run until it tells its address, then interrupted;
a line that ends in & runs beside those that follow, until the page ends.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import tomllib
from pathlib import Path

BLOCK = re.compile(r"^[ \t]*```(\S*)[ \t]*([^\n]*)\n(.*?)^[ \t]*```", re.MULTILINE | re.DOTALL)
WAY = re.compile(r'(title|into|from)="([\w./-]+)"')
LANGUAGES = ("sh", "cmake", "cpp", "python", "text", "toml", "xml", "yaml")
TESTED = ("examples/", "models/", "studies/", "docs/tutorials/")  # files that tests run
RUN = re.compile(r"(?:\w+=\S* +)*(?:mpirun .*?)?((?:(?:\./)?build/)?linkwork|(?:/usr/bin/)?python3|cmake|mkdir|cp|\w+/build/\w+)(?:\s|$)")
DEV = re.compile(r"\./dev(?:\s+([\w-]+))?")
COMMAND = re.compile(rf"(?:\$ |{RUN.pattern}|\./dev |(?:sudo|apt|apt-get|pip|pip3|git|export|cd|bash|sh|make|ctest|conda) )")
VIEW = re.compile(r"(?:build/)?linkwork view ")
EXPECTED_EXIT = re.compile(r"#\s*exit (\d+)\s*$")
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.]*\w)")


def pages_of(root):
    site = root / "docs" / "site"
    return [root / "README.md", *(page for page in sorted((root / "docs").rglob("*.md")) if site not in page.parents)]


def commands(block):
    """The command lines of a shell block; continued lines are joined, prompts and lines that only comment removed."""
    for line in re.sub(r"\\\n\s*", " ", block).splitlines():
        command = re.sub(r"^\s*\$ ", "", line).strip()
        if command and not command.startswith("#"):
            yield command


def way(language, info):
    """How a block is tested and what that needs, (way, argument), or None."""
    info = info.strip()
    if language in LANGUAGES and (named := WAY.fullmatch(info)):
        return named.groups() if language == "toml" or named[1] != "into" else None
    if not info and language in ("sh", "python"):
        return language, ""
    return (info, "") if language == "text" and info in ("output", "message", "names", "drawing") else None


def blocks(text):
    """The blocks of a page: (way or None, language and info, text)."""
    for language, info, block in BLOCK.findall(text):
        yield way(language, info), f"{language} {info}".strip(), block


def not_run(text):
    """What a page shows in a way that nothing here tests: a list of sentences."""
    found = []
    for kind, words, block in blocks(text):
        if kind is None:
            found.append(f"nothing tests this block '{words}'; expected one of {', '.join(LANGUAGES)}, with title, into or from, or as it says "
                         f"at the top of docs_commands.py:\n{block}")
        elif kind[0] == "sh":
            found += [f"no test runs this line: {command}" for command in commands(block) if not DEV.match(command) and not RUN.match(command)]
        elif words.startswith("text"):
            found += [f"a command in a block that no test runs; write it in a block sh: {line.strip()}" for line in block.splitlines()
                      if COMMAND.match(line.strip())]
    written = {kind[1]: block for kind, _, block in blocks(text) if kind and kind[0] == "title"}
    users = [(None, block) for kind, _, block in blocks(text) if kind and kind[0] in ("sh", "python")] + list(written.items())
    for name in written:
        path = Path(name)
        words = "|".join(map(re.escape, filter(None, (path.name, path.stem, str(path.parent).strip(".")))))
        if not any(re.search(rf"(?<!\w)(?:{words})(?!\w)", block) for user, block in users if user != name):
            found.append(f"nothing uses the file {name}")
    rest = BLOCK.sub("", text)
    found += [f"commands belong into a block ```sh: {line.strip()}" for line in re.findall(r"^(?:~~~.*|(?: {4}|\t)\s*\S.*)$", rest, re.MULTILINE)
              if line.startswith("~~~") or COMMAND.match(line.strip())]
    return found


def put_into(model, piece):
    """A model with a piece of another put into it, both as read: tables of the same name are replaced."""
    for key, value in piece.items():
        if isinstance(value, list):
            names = {table["name"] for table in value if "name" in table}
            model[key] = [table for table in model.get(key, []) if table.get("name") not in names] + value
        elif isinstance(value, dict):
            model[key] = {**model.get(key, {}), **value}
        else:
            model[key] = value
    return model


def as_toml(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {as_toml(part)}" for key, part in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    return str(value).lower() if isinstance(value, bool) else json.dumps(value) if isinstance(value, str) else repr(value)


def model_text(model):
    """A model file, a line for each key."""
    lines = [f"{key} = {as_toml(value)}" for key, value in model.items() if not isinstance(value, (dict, list))]
    for key, value in model.items():
        tables = value if isinstance(value, list) else [value] if isinstance(value, dict) else []
        heading = f"[[{key}]]" if isinstance(value, list) else f"[{key}]"
        for table in tables:
            lines += [heading, *(f"{json.dumps(name)} = {as_toml(part)}" for name, part in table.items())]
    return "\n".join(lines) + "\n"


def not_in(block, source, language):
    """Paragraphs of a block that do not stand in a text, but for blanks and comments of TOML."""
    def bare(text):
        return re.sub(r"\s+", "", re.sub(r"#.*", "", text) if language == "toml" else text)

    return [piece for piece in re.split(r"\n\s*\n", block) if bare(piece) not in bare(source)]


def sentences(root):
    """Texts of the program, as patterns: what is filled in may be anything."""
    for path in [*(root / "apps").rglob("*.cpp"), *(root / "linkwork").rglob("*.cpp")]:
        for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', re.sub(r'(?<!\\)"\s*\n\s*"', "", path.read_text(encoding="utf-8"))):
            if len(re.sub(r"\{[^}]*\}", "", text)) > 20:
                yield re.compile(".+".join(map(re.escape, re.split(r"\{[^}]*\}", text.replace("\\n", "").replace('\\"', '"')))))


def missing_names(block, root):
    """Folders and functions at the beginning of lines that are not there. A folder may be indented below another."""
    code = "\n".join(path.read_text(encoding="utf-8") for path in (root / "linkwork").rglob("*.[hc]*"))
    above, missing = [], []
    for indent, name in re.findall(r"^( *)([\w/:]+)", block, re.MULTILINE):
        if name.endswith("/"):
            above = [part for part in above if part[0] < len(indent)] + [(len(indent), name)]
            if not (root / "".join(part for _, part in above)).is_dir():
                missing.append(name)
        elif "::" in name:
            owner, function = name.split("::")
            if not re.search(rf"\b(?:class|struct) {owner}\b", code) or not re.search(rf"\b{function}\(", code):
                missing.append(name)
    return missing


def dev_subcommands(root):
    shown = subprocess.run([root / "dev", "help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^ {2}([\w-]+)", shown, re.MULTILINE))


def close(shown, printed):
    if shown == printed:
        return True
    a, b = float(shown), float(printed)
    if max(abs(a), abs(b)) < 1e-6:
        return a != 0 and b != 0 and 1 / 30 < abs(a / b) < 30 or max(abs(a), abs(b)) < 1e-13
    return abs(a - b) <= 0.02 * max(abs(a), abs(b))


def same_line(shown, printed):
    """The same words, and about the same numbers; … is anything."""
    if "…" in shown:
        return re.fullmatch(".*".join(map(re.escape, shown.split("…"))), printed) is not None
    if NUMBER.sub("#", shown).split() != NUMBER.sub("#", printed).split():
        return False
    return "wall time" in shown or all(close(a, b) for a, b in zip(NUMBER.findall(shown), NUMBER.findall(printed)))


class Page:
    def __init__(self, path, root, program, known):
        self.path, self.root, self.known = path, root, known
        package = program.parent / "python"
        self.has_python = bool(list(package.glob("linkwork/_core*.so")))
        self.environment = dict(os.environ, PATH=f"{program.parent}:/usr/bin:{os.environ['PATH']}", NO_COLOR="1", MPLBACKEND="Agg",
                                PYTHONPATH=str(package), PYTHONDONTWRITEBYTECODE="1", OMPI_ALLOW_RUN_AS_ROOT="1",
                                OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                                OMPI_MCA_mpi_yield_when_idle="1")
        self.checked, self.skipped, self.complaints, self.printed, self.beside = 0, 0, [], "", []
        self.text = path.read_text(encoding="utf-8")
        self.build = program.parent

    def prepare(self, work):
        for folder in ("models", "examples"):
            shutil.copytree(self.root / folder, work / folder)
        (work / "build").mkdir()
        for name in ("linkwork", "python"):
            (work / "build" / name).symlink_to(self.build / name)
        shell = [command for kind, _, text in blocks(self.text) if kind == ("sh", "") for command in commands(text)]
        if any(command.startswith("cmake ") for command in shell):
            self.environment["HOME"] = str(work / "home")
            subprocess.run(["cmake", "--install", self.build, "--prefix", work / "home/.local"], stdout=subprocess.DEVNULL, check=True)

    def follow(self, work):
        for sentence in not_run(self.text):
            self._complain(sentence)
        program = ""
        for kind, words, text in blocks(self.text):
            what, argument = kind or (None, "")
            if what == "title":
                (work / argument).parent.mkdir(parents=True, exist_ok=True)
                (work / argument).write_text(text, encoding="utf-8")
            elif what == "into":
                self._put_into(argument, text, work)
            elif what == "from":
                self._stands_in(argument, text, words.split()[0])
            elif what == "python":
                program += textwrap.dedent(text) + "\n"
            elif what == "sh":
                self.printed = ""
                for command in commands(text):
                    self._command(command, work)
            elif what == "output":
                self._compare(text)
            elif what == "message":
                self._say(text)
            elif what == "names":
                self.checked += 1
                for name in missing_names(text, self.root):
                    self._complain(f"there is no {name}")
        if program:
            (work / "of_the_page.py").write_text(program, encoding="utf-8")
            self._command("python3 -W error::DeprecationWarning of_the_page.py", work)
        for process in self.beside:
            process.kill()
            process.wait()

    def _complain(self, text):
        self.complaints.append(f"{self.path.relative_to(self.root)}: {text}")

    def _start(self, command, work, output):
        return subprocess.Popen(["bash", "-c", f"exec {command}"], cwd=work, env=self.environment, text=True, stdin=subprocess.DEVNULL,
                                stdout=output, stderr=subprocess.STDOUT)

    def _view(self, command, work):
        with self._start(command, work, subprocess.PIPE) as server:
            address = server.stdout.readline()
            server.send_signal(signal.SIGINT)
        if not address.startswith("http://"):
            self._complain(f"{command}\n  printed {address}")

    def _command(self, command, work):
        dev, run = DEV.match(command), RUN.match(command)
        if dev:
            self.checked += 1
            if dev[1] and dev[1] not in self.known:
                self._complain(f"{command}\n  ./dev has no subcommand '{dev[1]}'")
        elif run and (run[1].endswith("python3") and not self.has_python or "mpirun " in run[0] and not shutil.which("mpirun")):
            self.skipped += 1
        elif VIEW.match(command):
            self.checked += 1
            self._view(command, work)
        elif run and command.endswith("&"):
            self.beside.append(self._start(command.rstrip("& "), work, subprocess.DEVNULL))
            time.sleep(2)  # as long as it takes to type the next line
        elif run:
            self.checked += 1
            expected = EXPECTED_EXIT.search(command)
            done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=work, env=self.environment, text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            self.printed += done.stdout
            if done.returncode != int(expected[1] if expected else 0):
                self._complain(f"{command}\n  exit code {done.returncode}\n{done.stdout}")

    def _put_into(self, name, text, work):
        base = next((file for file in (work / name, work / "models" / f"{name}.toml") if file.is_file()), None)
        if base is None:
            self._complain(f"into=\"{name}\" is no file of the page and no ready model")
            return
        made = base.with_name("put_into.toml")  # beside it: both may name other files
        made.write_text(model_text(put_into(tomllib.loads(base.read_text(encoding="utf-8")), tomllib.loads(text))), encoding="utf-8")
        self.printed = ""
        self._command(f"linkwork check {made.relative_to(work)}", work)
        self._command(f"linkwork run {made.relative_to(work)} --end 0.01 --no-report --quiet --out put_into", work)

    def _stands_in(self, name, text, language):
        self.checked += 1
        file = self.root / name
        if not name.startswith(TESTED) or not file.is_file():
            self._complain(f"from=\"{name}\" is no file below {', '.join(TESTED)}")
            return
        for piece in not_in(text, file.read_text(encoding="utf-8"), language):
            self._complain(f"this does not stand in {name}:\n{piece}")

    def _say(self, text):
        self.checked += 1
        known = list(sentences(self.root))
        for line in text.splitlines():
            if line.strip() and not any(sentence.fullmatch(line.strip()) for sentence in known):
                self._complain(f"the program does not say: {line.strip()}")

    def _compare(self, text):
        self.checked += 1
        printed = self.printed.splitlines()
        for line in text.splitlines():
            if line.strip() not in ("", "...", "…") and not any(same_line(line, other) for other in printed):
                self._complain(f"this is not what is printed:\n  {line.strip()}\nbut\n{self.printed}")


def show(root):
    """Every block of every page, and how it is tested."""
    for page in pages_of(root):
        text = page.read_text(encoding="utf-8")
        for found in BLOCK.finditer(text):
            language, info, _ = found.groups()
            kind = way(language, info)
            print(f"{page.relative_to(root)}:{text.count(chr(10), 0, found.start()) + 1}: {language} {' '.join(filter(None, kind)) if kind else 'NOT TESTED ' + info}")


def main():
    if sys.argv[1] == "--list":
        show(Path(sys.argv[2]).resolve())
        return
    root, program = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    pages = [root / name for name in sys.argv[3:]] or pages_of(root)
    known = dev_subcommands(root)
    checked, skipped, complaints = 0, 0, []
    for path in pages:
        page = Page(path, root, program, known)
        with tempfile.TemporaryDirectory() as work:
            page.prepare(Path(work))
            page.follow(Path(work))
        checked, skipped, complaints = checked + page.checked, skipped + page.skipped, complaints + page.complaints
    if complaints:
        sys.exit("\n".join(complaints))
    print(f"{checked} commands and outputs on {len(pages)} pages are right" +
          (f"; {skipped} left out: they need the Python package, or mpirun" if skipped else ""))


if __name__ == "__main__":
    main()
