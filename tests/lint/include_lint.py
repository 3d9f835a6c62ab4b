#!/usr/bin/env python3
"""Checks the direction of includes between the folders of the library: include_lint.py SOURCE_DIR.

A file may include its own folder and the folders of lower layers. Folders of one layer do not include one another.
What is worked on most, the methods and the time loop, is included by few: a change there must not compile everything anew.
No file of the library and the program is longer than one can keep in mind.
"""

import re
import sys
from pathlib import Path

LAYERS = [
    {"spatial"},
    {"linalg"},
    {"transport"},
    {"model"},
    {"tree"},
    {"coordinates"},
    {"dynamics"},
    {"formulations", "stabilizations", "integrators"},
    {"switching"},
    {"simulation"},
    {"lanes"},
    {"modules"},
    {"analysis"},
    {"fmi"},
    {"io"},
    {"drawing"},
    {"import"},
    {"front"},
    {"ensemble"},
    {"fmu"},
]
LAYER_OF = {folder: layer for layer, folders in enumerate(LAYERS) for folder in folders}
ONLY_IN = {"mpi.h": "transport"}

# Headers of a method, a glue or the time loop, and how many sources of the repository a change of one may compile anew.
LOCAL = re.compile(r"linkwork/(formulations|stabilizations|integrators|modules/glues)/|linkwork/modules/glue\.h|linkwork/simulation/(time_loop|moving_system)\.h")
MOST_COMPILED = 40
MOST_LINES = 600

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def folder_of(path):
    """The library folder of linkwork/FOLDER/...; None for linkwork/FILE and for what is outside the library."""
    parts = path.split("/")
    return parts[1] if parts[0] == "linkwork" and len(parts) > 2 else None


def complaint(path, quote, included):
    """What is wrong with one include of a file, or None."""
    folder = folder_of(path)
    if included in ONLY_IN and folder != ONLY_IN[included]:
        return f"only {ONLY_IN[included]}/ includes <{included}>"
    in_library = path.startswith("linkwork/")
    if not included.startswith("linkwork/"):
        allowed = () if in_library else ("studies/",) if path.startswith("studies/") else ("apps/", "studies/")
        if quote == '"' and not included.startswith(allowed):
            return f'"{included}": a quoted include is written from the root of the repository, the library includes only itself, and studies no program'
        return None
    if quote == "<":
        return f'<{included}>: include our own headers with quotes'
    if folder is None:
        return None  # the program, or a header that gathers the library
    target = folder_of(included)
    if included == "linkwork/version.h":
        return None  # numbers only, which include nothing
    if target is None:
        return f"{folder}/ includes {included}, which stands above every folder"
    if target != folder and LAYER_OF[target] >= LAYER_OF[folder]:
        return f"{folder}/ must not include {target}/ ({included})"
    return None


def check(path, text):
    """The complaints about one file, as 'path:line: complaint'."""
    folder = folder_of(path)
    if folder is not None and folder not in LAYER_OF:
        return [f"{path}: folder {folder}/ has no layer; give it one in include_lint.py and docs"]
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, included = match.groups()
        target = folder_of(included)
        if target is not None and target not in LAYER_OF:
            found.append(f"{path}:{number}: {included} is in no known folder")
            continue
        wrong = complaint(path, quote, included)
        if wrong:
            found.append(f"{path}:{number}: {wrong}")
    return found


def compiled_anew(includes):
    """By header: how many sources include it, directly or not. `includes` has the quoted includes of every file."""
    count = {}
    for source in (path for path in includes if path.endswith(".cpp")):
        reached, waiting = set(), [source]
        while waiting:
            for included in includes.get(waiting.pop(), ()):
                if included not in reached:
                    reached.add(included)
                    waiting.append(included)
        for header in reached:
            count[header] = count.get(header, 0) + 1
    return count


def check_reach(includes, most=MOST_COMPILED):
    """The complaints about headers that too many sources see."""
    return [
        f"{header}: a change compiles {count} sources anew, more than {most}"
        for header, count in sorted(compiled_anew(includes).items())
        if LOCAL.match(header) and count > most
    ]


def check_length(path, text, most=MOST_LINES):
    lines = len(text.splitlines())
    return [f"{path}: has {lines} lines, more than {most}"] if path.startswith(("linkwork/", "apps/")) and lines > most else []


def quoted_includes(text):
    return [match[2] for match in map(INCLUDE.match, text.splitlines()) if match and match[1] == '"']


def self_check():
    """The rules must accept what is right and refuse what is wrong."""
    right = [
        ("linkwork/tree/aba.cpp", '#include "linkwork/tree/aba.h"'),
        ("linkwork/tree/aba.cpp", '#include "linkwork/spatial/pose.h"'),
        ("linkwork/linalg/rank.h", '#include "linkwork/spatial/vector.h"'),
        ("linkwork/formulations/kkt.cpp", '#include "linkwork/dynamics/formulation.h"'),
        ("linkwork/model/joints/revolute.cpp", '#include "linkwork/model/joint.h"'),
        ("linkwork/transport/mpi.cpp", "#include <mpi.h>"),
        ("linkwork/formulations/gigsp.cpp", '#include "linkwork/transport/thread_team.h"'),
        ("linkwork/linkwork.h", '#include "linkwork/io/report.h"'),
        ("linkwork/front/run.cpp", '#include "linkwork/version.h"'),
        ("apps/linkwork/main.cpp", '#include "apps/linkwork/run.h"'),
        ("apps/linkwork/main.cpp", '#include "linkwork/io/report.h"'),
        ("apps/linkwork/study.cpp", '#include "studies/catalog.h"'),
        ("studies/catalog.cpp", '#include "studies/catalog.h"'),
        ("studies/catalog.cpp", '#include "linkwork/io/page.h"'),
    ]
    wrong = [
        ("linkwork/spatial/pose.h", '#include "linkwork/model/model.h"'),
        ("linkwork/spatial/pose.h", '#include "linkwork/linalg/kkt.h"'),
        ("linkwork/formulations/kkt.cpp", '#include "linkwork/integrators/runge_kutta.h"'),
        ("linkwork/integrators/rk.cpp", '#  include "linkwork/stabilizations/projection.h"'),
        ("linkwork/simulation/simulation.cpp", '#include "linkwork/io/report.h"'),
        ("linkwork/modules/assembly.cpp", "#include <mpi.h>"),
        ("linkwork/transport/mpi.cpp", '#include "linkwork/modules/assembly.h"'),
        ("apps/linkwork/main.cpp", "#include <mpi.h>"),
        ("linkwork/tree/aba.cpp", '#include "aba.h"'),
        ("linkwork/tree/aba.cpp", '#include "apps/linkwork/run.h"'),
        ("linkwork/tree/aba.cpp", '#include "studies/catalog.h"'),
        ("studies/catalog.cpp", '#include "apps/linkwork/run.h"'),
        ("linkwork/tree/aba.cpp", '#include "linkwork/linkwork.h"'),
        ("linkwork/tree/aba.cpp", "#include <linkwork/tree/aba.h>"),
        ("linkwork/utils/text.h", "#include <string>"),
        ("linkwork/tree/aba.cpp", '#include "linkwork/utils/text.h"'),
    ]
    failures = [f"refused, but right: {path}: {line}" for path, line in right if check(path, line)]
    failures += [f"accepted, but wrong: {path}: {line}" for path, line in wrong if not check(path, line)]
    chain = {"a.cpp": ["b.h"], "b.h": ["linkwork/modules/glue.h"], "c.cpp": ["linkwork/modules/glue.h"], "linkwork/modules/glue.h": ["b.h"]}
    if check_reach(chain, 2) or len(check_reach(chain, 1)) != 1:
        failures.append("includes are not counted right")
    if check_length("linkwork/a.cpp", "\n" * 600) or check_length("studies/a.cpp", "\n" * 601) or not check_length("apps/a.cpp", "\n" * 601):
        failures.append("lines are not counted right")
    return failures


def main():
    failures = self_check()
    if failures:
        sys.exit("include_lint.py fails its own check:\n" + "\n".join(failures))
    root = Path(sys.argv[1])
    files = [f for top in ("linkwork", "studies", "apps") for f in sorted((root / top).rglob("*")) if f.suffix in (".h", ".cpp")]
    found = [message for f in files for rule in (check, check_length) for message in rule(f.relative_to(root).as_posix(), f.read_text(encoding="utf-8"))]
    everything = files + [f for top in ("tests", "bench", "examples") for f in sorted((root / top).rglob("*")) if f.suffix in (".h", ".cpp")]
    found += check_reach({f.relative_to(root).as_posix(): quoted_includes(f.read_text(encoding="utf-8")) for f in everything})
    if found:
        sys.exit("\n".join(found))
    print(f"{len(files)} files include in the right direction")


if __name__ == "__main__":
    main()
