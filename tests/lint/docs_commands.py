#!/usr/bin/env python3
"""Does what the documentation says: docs_commands.py SOURCE_DIR PROGRAM [PAGE ...].

A page (README.md, docs/**/*.md; by default all of them) is followed from top to bottom in an empty directory with copies of models/ and examples/:

* a block of code with title="NAME" is written to that file;
* every line of an sh block is run and must exit with 0, or with N where it ends in `# exit N`. It must begin with a program that RUN knows, or
  with ./dev, and with nothing else: a line that is not run, a block in a language that is not known, and commands in a block that is not sh
  are mistakes. Lines of Python need the package beside the program, build/python, those with mpirun need that; they are left out otherwise;
* a page that runs cmake has the program's build installed in $HOME/.local, of a home of its own;
* a block `text output` is what the sh block before it printed, at least in part: each of its lines must be there. Numbers may differ by 2 %,
  those of the size of rounding by a factor of 30; lines about wall time are not compared; … stands for anything;
* a line `linkwork view ...` is run until it tells its address, then interrupted; a line that ends in & runs beside those that follow, until
  the page ends;
* subcommands of ./dev must exist; they are not run.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BLOCK = re.compile(r"^[ \t]*```(\S*)[ \t]*([^\n]*)\n(.*?)^[ \t]*```", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r'title="([\w./-]+)"')
SHELL = ("sh", "bash", "console")
LANGUAGES = (*SHELL, "cmake", "cpp", "python", "text", "toml", "xml", "yaml")
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


def not_run(text):
    """What a page shows in a way that nothing here runs: a list of sentences."""
    found = []
    for language, info, block in BLOCK.findall(text):
        if language not in LANGUAGES:
            found.append(f"a block in the language '{language}' is not known: take one of {', '.join(LANGUAGES)}")
        elif TITLE.search(info):
            continue
        elif language in SHELL:
            found += [f"no test runs this line: {command}" for command in commands(block) if not DEV.match(command) and not RUN.match(command)]
        elif language == "text":
            found += [f"a command in a block that no test runs; write it in a block sh: {line.strip()}" for line in block.splitlines()
                      if COMMAND.match(line.strip())]
    rest = BLOCK.sub("", text)
    found += [f"commands belong into a block ```sh: {line.strip()}" for line in re.findall(r"^(?:~~~.*|(?: {4}|\t)\s*\S.*)$", rest, re.MULTILINE)
              if line.startswith("~~~") or COMMAND.match(line.strip())]
    return found


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
        shell = [command for language, _, text in BLOCK.findall(self.text) if language in SHELL for command in commands(text)]
        if any(command.startswith("cmake ") for command in shell):
            self.environment["HOME"] = str(work / "home")
            subprocess.run(["cmake", "--install", self.build, "--prefix", work / "home/.local"], stdout=subprocess.DEVNULL, check=True)

    def follow(self, work):
        for sentence in not_run(self.text):
            self._complain(sentence)
        for language, info, text in BLOCK.findall(self.text):
            title = TITLE.search(info)
            if title:
                (work / title[1]).parent.mkdir(parents=True, exist_ok=True)
                (work / title[1]).write_text(text, encoding="utf-8")
            elif language in SHELL:
                self.printed = ""
                for command in commands(text):
                    self._command(command, work)
            elif language == "text" and info.strip() == "output":
                self._compare(text)
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

    def _compare(self, text):
        self.checked += 1
        printed = self.printed.splitlines()
        for line in text.splitlines():
            if line.strip() not in ("", "...", "…") and not any(same_line(line, other) for other in printed):
                self._complain(f"this is not what is printed:\n  {line.strip()}\nbut\n{self.printed}")


def main():
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
