#!/usr/bin/env python3
"""Runs the commands shown in the documentation: docs_commands.py SOURCE_DIR PROGRAM.

Every `linkwork ...` or `build/linkwork ...` line of a ```sh block in README.md and docs/*.md must exit with 0, or with N where the
line ends in `# exit N`. A page's commands run in order in one directory that holds a copy of models/. Subcommands of ./dev must
exist; they are not run.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SHELL_BLOCK = re.compile(r"^[ \t]*```(?:sh|bash|console)[^\n]*\n(.*?)^[ \t]*```", re.MULTILINE | re.DOTALL)
LINKWORK = re.compile(r"(?:\w+=\S* +)*(?:(?:\./)?build/)?linkwork(?:\s|$)")
DEV = re.compile(r"\./dev(?:\s+([\w-]+))?")
EXPECTED_EXIT = re.compile(r"#\s*exit (\d+)\s*$")


def commands(text):
    """The command lines of all shell blocks of a page; continued lines are joined and prompts removed."""
    for block in SHELL_BLOCK.findall(text):
        for line in re.sub(r"\\\n\s*", " ", block).splitlines():
            yield re.sub(r"^\s*\$ ", "", line).strip()


def dev_subcommands(root):
    shown = subprocess.run([root / "dev", "help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^ {2}([\w-]+)", shown, re.MULTILINE))


def check_page(page, known, program, work):
    """The number of commands checked and the complaints about them."""
    environment = dict(os.environ, PATH=f"{program.parent}:{os.environ['PATH']}", NO_COLOR="1")
    checked, found = 0, []
    for command in commands(page.read_text(encoding="utf-8")):
        dev = DEV.match(command)
        if dev:
            checked += 1
            if dev.group(1) and dev.group(1) not in known:
                found.append(f"{page}: {command}\n  ./dev has no subcommand '{dev.group(1)}'")
        elif LINKWORK.match(command):
            checked += 1
            expected = EXPECTED_EXIT.search(command)
            done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=work, env=environment, text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            if done.returncode != int(expected.group(1) if expected else 0):
                found.append(f"{page}: {command}\n  exit code {done.returncode}\n{done.stdout}")
    return checked, found


def main():
    root, program = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    pages = [p for p in [root / "README.md", *sorted((root / "docs").glob("*.md"))] if p.is_file()]
    known = dev_subcommands(root)
    total, complaints = 0, []
    for page in pages:
        with tempfile.TemporaryDirectory() as work:
            shutil.copytree(root / "models", Path(work) / "models")
            (Path(work) / "build").mkdir()
            (Path(work) / "build" / "linkwork").symlink_to(program)
            checked, found = check_page(page, known, program, work)
        total += checked
        complaints += found
    if complaints:
        sys.exit("\n".join(complaints))
    print(f"{total} commands on {len(pages)} pages work")


if __name__ == "__main__":
    main()
