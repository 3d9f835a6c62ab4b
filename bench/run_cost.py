#!/usr/bin/env python3
"""What a whole run costs beside its evaluations: run_cost.py PROGRAM [--runs N].

Wall times are medians; nothing else should be running. Instructions are counted by callgrind, where valgrind is installed: they are the
same on a busy machine. A line each for the parts of a run, with those that others contain left out of these.
"""

import argparse
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

RUNS = {
    "--version": ["--version"],
    "pendulum, with its report": ["run", "pendulum", "--quiet"],
    "four-bar, without": ["run", "four_bar", "--quiet", "--no-report"],
}
PARTS = {  # inclusive; each is contained in no other one
    "evaluations": "linkwork::EquationsOfMotion::evaluate(linkwork::State&, linkwork::Derivative&)",
    "projection": "linkwork::EquationsOfMotion::project(linkwork::Moment&)",
    "rows": "linkwork::TimeLoop::record(double)",
    "errors and energies": "linkwork::TimeLoop::take_stock()",
    "shared libraries": "_dl_start",
}


def seconds_of(command, runs):
    def once():
        begin = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - begin

    once()
    return statistics.median(once() for _ in range(runs))


def instructions(command, folder):
    """Of the whole, and by function, with what it calls."""
    out = folder / "callgrind.out"
    subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *command], check=True, capture_output=True)
    names, inclusive, total, function, called = {}, {}, 0, None, False

    def name_of(text):
        number, name = re.match(r"\((\d+)\)(?: (.*))?", text).groups()
        if name:
            names[number] = name
        return number

    for line in out.open():
        key, _, rest = line.partition("=")
        if key == "fn":
            function = name_of(rest)
        elif key == "cfn":
            callee = name_of(rest)
        elif key == "calls":
            called = True
        elif line[:1].isdigit() or line[:1] in "+-*":
            cost = int(line.split()[1])
            if called:
                inclusive[callee] = inclusive.get(callee, 0) + (cost if callee != function else 0)
            else:
                total += cost
            called = False
    return total, {names[number]: cost for number, cost in inclusive.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("--runs", type=int, default=15, help="of which the median is taken")
    options = parser.parse_args()
    program = str(options.program.resolve())
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        commands = {name: [program, *arguments, *(["--out", str(folder / "out")] if arguments[0] == "run" else [])]
                    for name, arguments in RUNS.items()}
        for name, command in commands.items():
            print(f"{name:28} {1e3 * seconds_of(command, options.runs):8.1f} ms of wall time")
        if not shutil.which("valgrind"):
            print("instructions are counted where valgrind is installed: apt-get install valgrind")
            return
        total, inclusive = instructions(commands["four-bar, without"], folder)
        parts = {part: inclusive.get(function, 0) for part, function in PARTS.items()}
        parts["all else"] = total - sum(parts.values())
        print(f"\nfour-bar, instructions:{total / 1e6:13.1f} million, {total / parts['evaluations']:.2f} times those of its evaluations")
        for part, count in parts.items():
            print(f"  {part:26} {count / 1e6:8.1f} million")


if __name__ == "__main__":
    main()
