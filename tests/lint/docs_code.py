#!/usr/bin/env python3
"""Code shown in the documentation is code that tests run: docs_code.py SOURCE_DIR.

Every ```cpp block of docs/library.md and of the tutorial for C++ developers stands, but for blanks, in one of the programs of examples/;
every ```toml block of docs/signals.md and of the tutorial of large assemblies, table by table, in a ready model.
"""

import re
import sys
from pathlib import Path


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def squeezed(text):
    return re.sub(r"\s+", "", text)


def main():
    root = Path(sys.argv[1])
    programs = [squeezed(path.read_text(encoding="utf-8")) for path in sorted((root / "examples").glob("*.[ch]*"))]
    models = [squeezed(re.sub(r"#.*", "", path.read_text(encoding="utf-8"))) for path in sorted((root / "models").glob("*.toml"))]
    pieces = [(page, block, programs) for page in ("docs/library.md", "docs/tutorials/cpp-program.md") for block in blocks(root / page, "cpp")]
    for page in ("docs/signals.md", "docs/tutorials/large-assembly.md"):
        for block in blocks(root / page, "toml"):
            pieces += [(page, table, models) for table in re.sub(r"#.*", "", block).split("\n\n")]
    if len(pieces) < 10:
        sys.exit("there are hardly any blocks of code: has their form changed?")
    wrong = [f"{page}: stands in no program or model:\n{piece}" for page, piece, known in pieces
             if not any(squeezed(piece) in text for text in known)]
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(pieces)} pieces of code are those of programs and models")


if __name__ == "__main__":
    main()
