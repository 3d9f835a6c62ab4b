"""Reference pages that nobody writes: the command line from --help, the Python package from docstrings, the library from its headers."""

import ast
import itertools
import re
from xml.etree import ElementTree

from gallery import escape

COMMAND = re.compile(r"^ {2}([a-z]+) {2,}(\S.*)$", re.MULTILINE)
CPP_TYPES = (("Load or build a mechanism", ("Mechanism", "Builder", "Frame", "Matter", "ParameterValue")),
             ("Run it", ("RunOptions", "Results", "Summary", "Run")),
             ("Analyse it", ("Equilibrium", "LinearModel", "Mode", "InverseMotion", "SensitivityRequest", "Sensitivities")),
             ("Many runs", ("SweepRequest", "SweepResults", "OptimizeRequest", "Optimum", "Batch")),
             ("Ask for the state", ("State", "Evaluation")),
             ("Forces and modules of your own", ("CustomForce", "Kinematics", "Forces", "Module", "PortMotion", "PortResponse")),
             ("What goes wrong", ("InputError", "SimulationError")))
CPP_FUNCTIONS = (("Read a model", ("load", "parse")), ("Run it", ("run", "kinematics")),
                 ("Analyse it", ("equilibrium", "linearize", "modes", "inverse", "sensitivity")), ("Many runs", ("sweep", "optimize")),
                 ("Bodies for a Builder", ("rod", "cylinder", "box", "sphere", "point_mass", "mass")))


def option_list(lines, shown):
    """Options or arguments with what they mean, as a list that a phone can show."""
    items = []
    for line in lines:
        if line.startswith(" " * 26):
            items[-1][1] = f"{items[-1][1]} {line.strip()}".strip()
        else:
            term, _, meaning = line.strip().partition("  ")
            items.append([term, meaning.strip()])
    return [text for term, meaning in items for text in (shown.format(term), f": {escape(meaning)}", "")]


def help_lines(shown):
    """What --help prints, as Markdown: what it does, how to call it, a list for each kind of argument, what else is to be said."""
    lines = []
    for block in re.split(r"\n\s*\n", shown.strip("\n")):
        first, *rest = block.splitlines()
        if first.endswith(":") and first[:-1] not in ("Example", "Examples") and rest and all(line.startswith("  ") for line in rest):
            lines += [f"**{first[:-1]}**", "", *option_list(rest, "[`{0}`](#linkwork-{0})" if first == "Commands:" else "`{0}`")]
            continue
        for own, run in itertools.groupby(block.splitlines(), key=lambda line: line.startswith("  ")):
            text = list(run)
            if own:
                explained = any("   " in line.strip() for line in text)  # commands with remarks beside them
                lines += ["```sh" if text[0].strip().startswith(("linkwork", "mpirun")) and not explained else "```text", *(line.strip() for line in text), "```", ""]
            else:
                usage = [line for line in text if line.startswith("Usage: ")]
                prose = " ".join(line for line in text if line not in usage)
                lines += [escape(prose), ""] + [f"`{line[len('Usage: '):]}`" for line in usage] + [""]
    return lines


def command_line(program):
    """What --help says of the program and of each of its commands."""
    shown = program.run("--help")
    commands = COMMAND.findall(shown[shown.lower().find("commands"):])
    lines = ["# Command line", "", "What `linkwork --help` and `linkwork COMMAND --help` say.", "", *help_lines(shown), "",
             "## Exit codes", "", "| code | meaning |", "|---|---|", "| 0 | done |",
             "| 1 | the run, analysis or comparison could not be finished; what was computed is kept |",
             "| 2 | something is wrong with the input: a file, a name, an option. Nothing was computed |",
             "| 129, 130, 143 | stopped by a signal: hangup, Ctrl-C, termination |", "",
             "[Messages](../messages.md) tells what to do about the common ones.", ""]
    for name, _ in commands:
        lines += [f"## linkwork {name}", "", *help_lines(program.run(name, "--help"))]
    if not commands:
        raise SystemExit("the commands of the program are not found in its --help: has its form changed?")
    return "\n".join(lines)


PYTHON_HEAD = """# Python API

Everything in the package `linkwork`, from its docstrings. [Python](../python.md) shows how the parts go together; the types are in the stubs
that come with the package (`linkwork/__init__.pyi`).
"""


def python_api(package):
    if package is None:
        return PYTHON_HEAD + "\nThe package was not there when this site was built: `./dev build` makes it.\n"
    stub = ast.parse((package / "linkwork/__init__.py").read_text(encoding="utf-8"))
    names = next(ast.literal_eval(node.value) for node in stub.body
                 if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__")
    functions = [name for name in names if name[0].islower()]
    classes = [name for name in names if name[0].isupper()]
    lines = [PYTHON_HEAD, "## Functions", "", "```{eval-rst}", ".. module:: linkwork", ""]
    lines += [f".. autofunction:: linkwork.{name}" for name in functions]
    lines += ["```", ""]
    for name in classes:
        lines += [f"## {name}", "", "```{eval-rst}", f".. autoclass:: linkwork.{name}", "   :members:", "```", ""]
    return "\n".join(lines)


def public_headers(root):
    """What linkwork.h includes, and the headers of types that appear there."""
    front = re.findall(r'#include "(linkwork/[^"]+)"', (root / "linkwork/linkwork.h").read_text(encoding="utf-8"))
    more = ["dynamics/state.h", "model/custom_force.h", "model/input_error.h", "simulation/simulation_error.h", "simulation/summary.h",
            "analysis/results.h"]
    return [root / name for name in [*front, *(f"linkwork/{name}" for name in more)]]


def declaration(kind, name, arguments):
    """As one would write it: 'const T& x = {}', with a line for each argument where it is long."""
    text = " ".join(f"{kind} {name}{arguments}".split()).replace(" &", "& ").replace("< ", "<").replace(" >", ">").replace("=", " = ")
    if len(text) > 100:
        text = re.sub(r", (?=(?:const |std::|int |double |bool ))(?![^<]*>)", ",\n    ", text)
    return text + ";"


def functions(xml, names):
    """Each function of the library with all its declarations, and what their comments say."""
    listed = ElementTree.parse(xml / "namespacelinkwork.xml").getroot()
    for name in names:
        declared, said = [], []
        for definition in listed.iter("memberdef"):
            if definition.get("kind") == "function" and definition.findtext("name") == name:
                declared.append(declaration("".join(definition.find("type").itertext()), name, definition.findtext("argsstring")))
                words = " ".join(" ".join(part.itertext()) for part in definition.findall("briefdescription") + definition.findall("detaileddescription"))
                said.append(" ".join(words.split()).replace(" ,", ",").replace("<", "\\<"))
        if not declared:
            raise SystemExit(f"the public headers have no function '{name}', which docs/site/made_pages.py lists")
        yield ["```cpp", *declared, "```", "", " ".join(filter(None, said)), ""]


def cpp_api(xml):
    lines = ["# C++ API", "", 'The public types of `#include "linkwork/linkwork.h"`, from the comments of the headers. [Use the library](../library.md) '
             "shows how the parts go together. All other headers are details that may change.", ""]
    if xml is None:
        return "\n".join([*lines, "Doxygen was not there when this site was built.", ""])
    known = (xml / "index.xml").read_text(encoding="utf-8")
    lines += ["## Functions", ""]
    for title, names in CPP_FUNCTIONS:
        lines += [f"### {title}", "", *(line for function in functions(xml, names) for line in function)]
    for title, types in CPP_TYPES:
        lines += [f"## {title}", ""]
        for name in types:
            kind = next((kind for kind in ("class", "struct") if f'kind="{kind}"><name>linkwork::{name}</name>' in known), None)
            if kind is None:
                raise SystemExit(f"the public headers have no type '{name}', which docs/site/made_pages.py lists")
            lines += [f"### {name}", "", "```{eval-rst}", f".. doxygen{kind}:: linkwork::{name}", "   :members:", "   :undoc-members:", "```", ""]
    return "\n".join(lines)
