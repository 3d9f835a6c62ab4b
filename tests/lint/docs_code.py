#!/usr/bin/env python3
"""Code shown in the documentation is code that tests run: docs_code.py SOURCE_DIR.

Every ```cpp block of docs/library.md and of the tutorial for C++ developers stands, but for blanks, in one of the programs of examples/,
and of docs/studies.md in a study; keys and types of every ```yaml block are words of the reader of such files;
the ```cmake block of docs/library.md stands in that tutorial, which is followed;
every ```toml block of docs/signals.md and of the tutorial of large assemblies, table by table, in a ready model. Every other ```toml block
that is not a file of its own (title="...") is TOML with keys that docs/model-format.md knows.
"""

import re
import sys
import tomllib
from pathlib import Path


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def squeezed(text):
    return re.sub(r"\s+", "", text)


def unknown_keys(block, known):
    """What is wrong with a piece of a model file: a list of words."""
    try:
        model = tomllib.loads(block)
    except tomllib.TOMLDecodeError as error:
        return [str(error)]
    tables = [table for name, value in model.items() if name != "parameters" for table in (value if isinstance(value, list) else [value]) if isinstance(table, dict)]
    return [key for key in [*model, *(key for table in tables for key in table)] if key not in known]


def main():
    root = Path(sys.argv[1])
    programs = [squeezed(path.read_text(encoding="utf-8")) for path in sorted((root / "examples").glob("*.[ch]*"))]
    models = [squeezed(re.sub(r"#.*", "", path.read_text(encoding="utf-8"))) for path in sorted((root / "models").glob("*.toml"))]
    pieces = [(page, block, programs) for page in ("docs/library.md", "docs/tutorials/cpp-program.md") for block in blocks(root / page, "cpp")]
    studies = [squeezed(path.read_text(encoding="utf-8")) for path in sorted((root / "studies").rglob("*.cpp"))]
    pieces += [("docs/studies.md", block, studies) for block in blocks(root / "docs/studies.md", "cpp")]
    tutorial = squeezed((root / "docs/tutorials/cpp-program.md").read_text(encoding="utf-8"))
    pieces += [("docs/library.md", block, [tutorial]) for block in blocks(root / "docs/library.md", "cmake")]
    reader = (root / "linkwork/import/loops_file.cpp").read_text(encoding="utf-8")
    unread = [word for page in sorted((root / "docs").rglob("*.md")) for block in blocks(page, "yaml")
              for word in re.findall(r"^\w+(?=:)|(?<=\")(?:[A-Z_]+|\dd)(?=\")", block, re.MULTILINE) if f'"{word}"' not in reader]
    if unread:
        sys.exit(f"loops_file.cpp does not read: {', '.join(unread)}")
    for page in ("docs/signals.md", "docs/tutorials/large-assembly.md"):
        for block in blocks(root / page, "toml"):
            pieces += [(page, table, models) for table in re.sub(r"#.*", "", block).split("\n\n")]
    known = set(re.findall(r"^\| `(\w+)`", (root / "docs/model-format.md").read_text(encoding="utf-8"), re.MULTILINE))
    parts = [(page, block) for page in sorted((root / "docs").rglob("*.md")) for block in blocks(page, "toml")]
    strange = [f"{page.relative_to(root)}: no such key, or no TOML: {', '.join(found)}" for page, block in parts
               if (found := unknown_keys(re.sub(r"^#? ?\.\.\.$", "", block, flags=re.MULTILINE), known))]
    if strange:
        sys.exit("\n".join(strange))
    if len(pieces) < 10 or len(parts) < 10:
        sys.exit("there are hardly any blocks of code: has their form changed?")
    wrong = [f"{page}: stands in no program or model:\n{piece}" for page, piece, known in pieces
             if not any(squeezed(piece) in text for text in known)]
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(pieces)} pieces of code are those of programs and models")


if __name__ == "__main__":
    main()
