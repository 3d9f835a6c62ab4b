"""Examples of docstrings and programs work, and the stubs say what is there."""

import ast
import doctest
import inspect
import os
import re
import subprocess
import sys

import pytest

import linkwork as lw


def documented():
    """Every public thing and its parts that have a text."""
    yield "linkwork", lw
    for name in lw.__all__:
        thing = getattr(lw, name)
        yield name, thing
        if inspect.isclass(thing):
            for part, value in vars(thing).items():
                if not part.startswith("_") or part in ("__getitem__",):
                    yield f"{name}.{part}", value


TESTED = [(name, thing) for name, thing in documented() if ">>>" in (inspect.getdoc(thing) or "")]


@pytest.mark.parametrize("name, thing", TESTED, ids=[name for name, _ in TESTED])
def test_docstring(name, thing):
    example = doctest.DocTestParser().get_doctest(inspect.getdoc(thing), {}, name, None, None)
    outcome = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example)
    assert outcome.attempted > 0 and outcome.failed == 0


def test_there_are_docstrings():
    assert len(TESTED) >= 15
    silent = [name for name, thing in documented() if not inspect.getdoc(thing) and callable(thing)]
    assert silent == []


EXAMPLES = {
    "five_bar_control.py": (r"PD: .* 0\.\d\d s, (0\.0\d+) mm off.*\nLQR: .* 0\.\d\d s, (0\.0\d+) mm off", 0.1),
    "link_length.py": (r"swings by (60\.0\d\d|59\.9\d\d) degrees in \d+ trials; by hand (60\.0|59\.9)", None),
    "damping.py": (r"damping 0\.03[45]\d \+- 0\.000\d .*start 0\.(79\d\d|80\d\d) ", None),
    "environment.py": (r"random: \d\d\.\d of 500.*\nlinear: 500\.0 of 500", None),
    "batch.py": (r"1000 runs: ", None),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name, source, tmp_path):
    done = subprocess.run([sys.executable, source / "examples" / "python" / name], cwd=tmp_path, env=dict(os.environ),
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(EXAMPLES[name][0], done.stdout), done.stdout


def test_every_example_is_run(source):
    served = {"served_rocker.py"}  # which the test cli.network runs
    assert {file.name for file in (source / "examples" / "python").glob("*.py")} == set(EXAMPLES) | served


# --- stubs

def stub(source):
    return ast.parse((source / "python" / "linkwork" / "__init__.pyi").read_text(encoding="utf-8"))


def arguments(node):
    named = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
    return [argument.arg for argument in named if argument.arg not in ("self", "cls")]


def test_stubs_name_everything(source):
    told = {}
    for node in stub(source).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            told[node.name] = node
    assert set(lw.__all__) <= set(told)
    for name in lw.__all__:
        thing, node = getattr(lw, name), told[name]
        if not inspect.isclass(thing):
            assert arguments(node) == list(inspect.signature(thing).parameters), name
            continue
        members = {part.name if hasattr(part, "name") else part.target.id for part in node.body
                   if isinstance(part, (ast.FunctionDef, ast.AnnAssign))}
        public = {part for part in dir(thing) if not part.startswith("_")} - set(dir(dict)) - set(dir(Exception)) - set(dir(tuple))
        public -= {"add_controller", "run_to_end"} if name == "Simulation" else set()
        assert public <= members, (name, public - members)
        for part in node.body:
            if isinstance(part, ast.FunctionDef) and not part.decorator_list and not part.name.startswith("__"):
                real = getattr(thing, part.name)
                try:
                    known = [n for n, p in inspect.signature(real).parameters.items() if n != "self" and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
                except ValueError:
                    signature = (real.__doc__ or "").splitlines()[0]  # of the extension
                    known = [n for n in re.findall(r"[(,] *(\w+):", signature) if n not in ("self", "arg0")]
                assert arguments(part) == known, (name, part.name)
