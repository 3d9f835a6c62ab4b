#!/usr/bin/env python3
"""Makes sense of a comparison with other engines: page.py RESULTS.json [--docs FOLDER]

Adds to the results what follows from them (`ratios`, `growth`, `equal_accuracy`, `redundant_costs`, `goals`) and prints the goals.
With --docs it writes FOLDER/benchmarks.md and FOLDER/images/benchmarks-*.svg. The page documents the fields.
"""

import argparse
import json
import math
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import plots  # noqa: E402

TITLES = {"four_bar": "four-bar", "n_four_bar": "n-four-bar", "rover": "rover", "closed_chain": "closed chain"}
TARGETS = (1e-3, 1e-6)  # m
LOOP_ERROR = 1e-10  # m
ENERGY_DRIFT = 1e-4  # of the energy exchanged
LINEAR = 1.1  # a growth with a power of n up to this counts as linear


def title(row):
    return TITLES.get(row["model"], row["model"]) + (f" {row['n']}" if "n" in row else "")


def is_ours(row):
    return row["engine"].startswith("Linkwork")


def by_case(rows):
    """Rows grouped by model and size, in the order of the file."""
    cases = {}
    for row in rows:
        cases.setdefault((row["model"], row.get("n", 0)), []).append(row)
    return cases


# What follows from the results ------------------------------------------------------------------------------------------------


def ratios(rows):
    out = []
    for (model, n), case in by_case(rows).items():
        timed = {row["engine"]: row["us"] for row in case if "us" in row}
        ours = {engine: us for engine, us in timed.items() if engine.startswith("Linkwork")}
        if not ours:
            continue
        best = min(ours, key=ours.get)
        entry = {"model": model, "best": best, "best_us": ours[best],
                 "times_faster_than": {engine: us / ours[best] for engine, us in timed.items() if engine not in ours}}
        if n:
            entry["n"] = n
        if "Linkwork auto" in ours:
            entry["auto_over_best"] = ours["Linkwork auto"] / ours[best]
        out.append(entry)
    return out


def growth(rows):
    """The power of n that times grow with, by least squares."""
    points = {}
    for (model, n), case in by_case(rows).items():
        timed = [row for row in case if n and "us" in row]
        ours = [row["us"] for row in timed if is_ours(row)]
        for engine, us in [(row["engine"], row["us"]) for row in timed] + ([("Linkwork best", min(ours))] if ours else []):
            points.setdefault((model, engine), []).append((math.log(n), math.log(us)))
    out = []
    for (model, engine), found in points.items():
        if len(found) < 2:
            continue
        x, y = (sum(p[k] for p in found) / len(found) for k in (0, 1))
        power = sum((a - x) * (b - y) for a, b in found) / sum((a - x) ** 2 for a, _ in found)
        out.append({"model": model, "engine": engine, "power": power, "from": round(math.exp(found[0][0])),
                    "to": round(math.exp(found[-1][0]))})
    return out


def equal_accuracy(rows):
    """The fastest run of each engine whose error is within the target; or how close it came."""
    out = []
    for (model, n), case in by_case(rows).items():
        engines = list(dict.fromkeys(row["engine"] for row in case))
        for after in (1, 10):
            for target in TARGETS:
                entry = {"model": model, "after": after, "target": target, "engines": {}}
                if n:
                    entry["n"] = n
                for engine in engines:
                    entry["engines"][engine] = fastest([row for row in case if row["engine"] == engine], after, target)
                out.append(entry)
    return out


def fastest(rows, after, target):
    done = [row for row in rows if row.get(f"error_{after}s") is not None]
    good = [row for row in done if row[f"error_{after}s"] <= target]
    if good:
        run = min(good, key=lambda row: row[f"seconds_{after}s"])
        setting = {key: run[key] for key in ("step", "accuracy") if key in run}
        return {"speed": after / run[f"seconds_{after}s"], "error": run[f"error_{after}s"], **setting}
    if done:
        return {"speed": None, "error": min(row[f"error_{after}s"] for row in done)}
    return {"speed": None, "stopped": next((row["stopped"] for row in rows if "stopped" in row), "not run")}


def redundant_costs(rows):
    """Of Linkwork: the best time with a redundant closure over the best time with the pin, and the same for auto."""
    out = []
    for (model, n), case in by_case(rows).items():
        ours = [row for row in case if is_ours(row)]
        timed = {(row["closure"], row["engine"]): row["us"] for row in ours if "us" in row}
        for closure in ("spherical", "revolute"):
            best = {kind: [us for (c, _), us in timed.items() if c == kind] for kind in ("pin", closure)}
            differences = [row["difference_along"] for row in ours if row["closure"] == closure and "us" in row]
            if not all(best.values()):
                continue
            entry = {"model": model, "closure": closure, "ratio": min(best[closure]) / min(best["pin"]),
                     "difference": max(differences)}
            if (closure, "Linkwork auto") in timed and ("pin", "Linkwork auto") in timed:
                entry["auto_ratio"] = timed[closure, "Linkwork auto"] / timed["pin", "Linkwork auto"]
            if n:
                entry["n"] = n
            out.append(entry)
    return out


class Goals:
    def __init__(self):
        self.list = []

    def at_least(self, goal, measured, wanted):
        self.add(goal, measured, None if measured is None else measured >= wanted, f">= {wanted:g}")

    def at_most(self, goal, measured, wanted):
        self.add(goal, measured, None if measured is None else measured <= wanted, f"<= {wanted:g}")

    def add(self, goal, measured, met, wanted):
        self.list.append({"goal": goal, "wanted": wanted, "measured": measured, "met": met})


def goals(results):
    out = Goals()
    of_case = {(entry["model"], entry.get("n", 0)): entry for entry in results["ratios"]}

    def ratio(model, n, engine):
        found = [times for name, times in of_case.get((model, n), {}).get("times_faster_than", {}).items()
                 if name.startswith(engine)]
        return min(found, default=None)

    def power(model):
        return next((g["power"] for g in results["growth"] if (g["model"], g["engine"]) == (model, "Linkwork best")), None)

    for model, n, engine, wanted in (
            ("four_bar", 0, "Simbody", 110), ("four_bar", 0, "MuJoCo", 8.5), ("n_four_bar", 100, "Simbody", 1200),
            ("n_four_bar", 100, "MuJoCo", 6), ("rover", 0, "Simbody", 58), ("rover", 0, "MuJoCo", 7.3),
            ("closed_chain", 8, "Simbody", 34), ("closed_chain", 512, "Simbody", 13.5)):
        name = title({"model": model, **({"n": n} if n else {})})
        out.at_least(f"{name}: times faster than {engine}", ratio(model, n, engine), wanted)
    for model in ("n_four_bar", "closed_chain"):
        out.at_most(f"{TITLES[model]}: power of n that the time grows with", power(model), LINEAR)
    worst = max((entry["auto_over_best"] for entry in results["ratios"] if "auto_over_best" in entry), default=None)
    out.at_most("time with auto over the best choice, worst model", worst, 1.1)
    for (model, n), case in by_case(results["loops"]).items():
        loop_goals(out, title({"model": model, **({"n": n} if n else {})}), case)
    for entry in results["redundant_costs"]:
        name = f"{title(entry)}, {entry['closure']} in place of pin"
        out.at_most(f"{name}: cost", entry["ratio"], 1.5)
        out.at_most(f"{name}: difference of accelerations", entry["difference"], 1e-10)
    return out.list


def was_cut_short(row):
    """Whether a run was stopped because it took long, which says nothing against it."""
    return row.get("stopped", "").startswith("stopped after")


def loop_goals(out, name, case):
    ours = next((row for row in case if is_ours(row)), None)
    if ours is None:
        return
    name += ", 10 s at 1 ms"
    if "stopped" in ours:
        out.add(f"{name}: comes to the end", f"stops at {number(ours.get('reached'))} s", False, "10 s")
        return
    out.at_most(f"{name}: loop error, m", ours["gap"], LOOP_ERROR)
    out.at_most(f"{name}: energy out of balance", ours["energy_drift"], ENERGY_DRIFT)
    rivals = [row["speed"] for row in case if not is_ours(row) and ("stopped" not in row or was_cut_short(row))
              and row["gap"] <= LOOP_ERROR]
    if rivals:
        out.at_least(f"{name}: speed over the fastest with that loop error", ours["speed"] / max(rivals), 1)
    else:
        out.add(f"{name}: speed over the fastest with that loop error", "no other reaches it", ours["gap"] <= LOOP_ERROR, ">= 1")


def complete(results):
    results["ratios"] = ratios(results["evaluations"])
    results["growth"] = growth(results["evaluations"])
    results["equal_accuracy"] = equal_accuracy(results["accuracy"])
    results["redundant_costs"] = redundant_costs(results["redundant"])
    results["goals"] = goals(results)


# The page ---------------------------------------------------------------------------------------------------------------------


def number(value, digits=3):
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if value == 0 or 0.01 <= abs(value) < 1e5:
        return f"{value:,.{digits}g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:.1e}"


def cell(text):
    return " ".join(str(text).split()).replace("|", "\\|")


def table(head, rows):
    lines = ["| " + " | ".join(cell(c) for c in line) + " |" for line in [head, ["---"] * len(head), *rows]]
    return "\n".join(lines) + "\n"


def engines_in(rows):
    return list(dict.fromkeys(row["engine"] for row in rows))


def evaluation_table(results):
    rows, engines = results["evaluations"], engines_in(results["evaluations"])
    lines, notes = [], []
    for case in by_case(rows).values():
        line = [title(case[0])]
        for engine in engines:
            row = next((r for r in case if r["engine"] == engine), {})
            if "us" in row:
                low, high = row["us_quartiles"]
                line.append(f"{number(row['us'])} ({number(low)}–{number(high)})")
            else:
                line.append("–")
                notes.append(f"- {title(case[0])}, {engine}: {row.get('skipped', 'not measured')}")
        lines.append(line)
    return table(["µs per evaluation", *engines], lines) + ("\n" + "\n".join(map(cell, notes)) + "\n" if notes else "")


def ratio_table(results):
    engines = [e for e in engines_in(results["evaluations"]) if not e.startswith("Linkwork")]
    lines = [[title(r), r["best"].removeprefix("Linkwork "), number(r.get("auto_over_best")),
              *(number(r["times_faster_than"].get(e)) for e in engines)] for r in results["ratios"]]
    return table(["best of Linkwork is faster by", "best", "auto / best", *engines], lines)


def agreement_table(results):
    rows = [r for r in results["evaluations"] if r["engine"] != "Linkwork TA"]
    engines = engines_in(rows)
    lines = []
    for case in by_case(rows).values():
        found = {r["engine"]: r for r in case}
        lines.append([title(case[0]), *(f"{number(found[e].get('difference'), 2)} / {number(found[e].get('difference_along'), 2)}"
                                        if e in found else "–" for e in engines)])
    return table(["difference at the start / along the motion", *engines], lines)


def growth_table(results):
    lines = [[TITLES[g["model"]], g["engine"], f"{g['from']} to {g['to']}", f"{g['power']:.2f}"] for g in results["growth"]]
    return table(["model", "engine", "n", "grows with this power of n"], lines)


def accuracy_table(results):
    engines = engines_in(results["accuracy"])
    lines = []
    for entry in results["equal_accuracy"]:
        line = [title(entry), f"{entry['after']} s", f"{entry['target']:g} m"]
        for engine in engines:
            found = entry["engines"].get(engine, {})
            if found.get("speed") is not None:
                line.append(number(found["speed"]))
            else:
                line.append(f"no: {number(found['error'], 2)} m" if found.get("error") is not None else "no: stops")
        lines.append(line)
    return table(["model", "after", "error", *engines], lines)


def loop_table(results):
    lines = []
    for row in results["loops"]:
        lines.append([title(row), row["engine"], number(row.get("gap"), 2), number(row.get("speed")), number(row.get("energy_drift"), 2),
                      row.get("stopped", "")])
    return table(["model", "engine", "largest loop error, m", "simulated s per s", "energy out of balance", "stopped"], lines)


def redundant_table(results):
    lines = []
    for case in by_case(results["redundant"]).values():
        pins = {r["engine"]: r["us"] for r in case if r["closure"] == "pin" and "us" in r}
        for row in case:
            us = row.get("us")
            against = us / pins[row["engine"]] if us and row["engine"] in pins else None
            lines.append([title(row), row["closure"], row["engine"], number(us), number(against),
                          number(row.get("difference_along"), 2), row.get("skipped", "")])
    return table(["model", "closure", "engine", "µs", "over its pin", "accelerations differ from the pin's by", "skipped"], lines)


def inconsistent_table(results):
    lines = []
    for r in results["inconsistent"]:
        ran = r["outcome"] == "runs"
        lines.append([r["engine"], r["outcome"], number(r.get("gap_start")), number(r["gap_end"] if ran else None),
                      number(r["speed_end"] if ran else None), r.get("says", "")])
    return table(["engine", "outcome", "loop error, m", "after 1 s", "fastest joint then, rad/s", "it says"], lines)


def singular_table(results):
    lines = [[r["engine"], r["outcome"], number(r.get("reached")), number(r.get("gap"), 2), number(r.get("energy_change"), 2),
              r.get("says", "")] for r in results["singular"]]
    return table(["engine", "outcome", "reached, s", "largest loop error, m", "change of energy", "it says"], lines)


def goal_table(results):
    words = {True: "yes", False: "**no**", None: "not measured"}
    return table(["goal", "wanted", "measured", "met"],
                 [[g["goal"], g["wanted"], number(g["measured"]), words[g["met"]]] for g in results["goals"]])


def engine_table(results):
    return table(["engine", "version", "closures", "what an evaluation is", "how it steps"],
                 [[e["name"], e["version"], e["constraints"], e["evaluation"], e["stepping"]] for e in results["engines"]])


def page(results):
    machine = results["machine"]
    return (Path(__file__).parent / "page.md").read_text(encoding="utf-8").format(
        warning="**These are the results of a quick run, with few repetitions.**\n\n" if results["quick"] else "",
        cpu=machine["cpu"], cores=machine["cores"], blas=machine["blas"], compiler=results["compiler"],
        seconds=number(results["seconds"]), engines=engine_table(results), goals=goal_table(results),
        evaluations=evaluation_table(results), ratios=ratio_table(results), growth=growth_table(results),
        agreement=agreement_table(results), accuracy=accuracy_table(results), loops=loop_table(results),
        redundant=redundant_table(results), inconsistent=inconsistent_table(results), singular=singular_table(results))


def write_docs(results, folder):
    images = folder / "images"
    images.mkdir(parents=True, exist_ok=True)
    (images / "benchmarks-evaluations.svg").write_text(plots.evaluations(results["evaluations"], title), encoding="utf-8")
    (images / "benchmarks-accuracy.svg").write_text(plots.accuracy(results["accuracy"], title), encoding="utf-8")
    (folder / "benchmarks.md").write_text(page(results), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--docs", type=Path)
    arguments = parser.parse_args()
    results = json.loads(arguments.results.read_text(encoding="utf-8"))
    complete(results)
    arguments.results.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for goal in results["goals"]:
        mark = {True: "met     ", False: "NOT met ", None: "unknown "}[goal["met"]]
        print(f"{mark} {goal['goal']}: {number(goal['measured'])} (wanted {goal['wanted']})")
    if arguments.docs:
        write_docs(results, arguments.docs)


if __name__ == "__main__":
    main()
