#!/usr/bin/env python3
"""Runs chains of modules on simulated clusters: run.py PROGRAM --out FOLDER [--quick] [--platforms fast,wide] [--most RANKS]

The program is linkwork_bench_scale; SimGrid's smpirun must be there. FOLDER/scale.json gets the rows, FOLDER/scale.svg a plot and
FOLDER/scale.html a page; --docs DOCS writes DOCS/scale.md and its plot as well. Each run is made --repeat times and the one with the median time counts.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import page  # noqa: E402

HERE = Path(__file__).parent
SITES = 4  # of wide.xml, which has its hosts in order of sites
HOSTS = 1024
REFERENCE_CASE = 64, 17  # modules, cells
REFERENCE_US = 8257  # a step of them on the processor for which goals were set


def cases(platform, quick, most):
    """Of each kind: (kind, ranks, modules, cells, steps)."""
    strong = [1, 2, 4, 8, 16] if quick else [1, 2, 4, 8, 16, 32, 64]
    weak = [1, 4, 16] if quick else [1, 4, 16, 64, 256, 1024]
    out = [("strong", p, 64, 17, 5 if quick else 15) for p in strong]
    out += [("weak", p, 16 * p, 5, 5 if p > 64 or quick else 15) for p in weak]
    if platform == "fast" and not quick:
        out += [("weak", p, 64 * p, 5, 3 if p > 64 else 9) for p in (1, 16, 64, 256, 1024)]
    return [case for case in out if case[1] <= most]


def hosts(platform, ranks):
    """In blocks of neighbours, one block per site."""
    if platform != "wide":
        return [f"n{r}" for r in range(ranks)]
    names, sites = [], min(SITES, ranks)
    for site in range(sites):
        share = (site + 1) * ranks // sites - site * ranks // sites
        names += [f"n{site * (HOSTS // SITES) + k}" for k in range(share)]
    return names


def measured(program, platform, case, tree, slownesses):
    """A row for each slowness of processors."""
    kind, ranks, modules, cells, steps = case
    with tempfile.TemporaryDirectory() as folder:
        hostfile = Path(folder) / "hosts"
        hostfile.write_text("\n".join(hosts(platform, ranks)) + "\n", encoding="utf-8")
        # Times are those that the program finds itself (rehearsal.h). Short messages are on their way before they are asked for. Ranks
        # share the program's constants: a copy for each would be most of the memory.
        command = ["smpirun", "-np", str(ranks), "-platform", str(HERE / f"{platform}.xml"), "-hostfile", str(hostfile),
                   "--cfg=smpi/host-speed:1Gf", "--cfg=smpi/simulate-computation:no", "--cfg=smpi/cpu-threshold:1e-7",
                   "--cfg=smpi/async-small-thresh:16384", "--cfg=smpi/privatization:no", "--cfg=smpi/test:0", "--cfg=smpi/wtime:0",
                   "--cfg=contexts/stack-size:1024", "--log=root.thres:error", str(program), str(modules), str(cells), str(steps), str(tree),
                   *map(str, slownesses)]
        done = subprocess.run(command, env=dict(os.environ, LINKWORK_SIMULATED_RANKS=str(ranks)), cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or len(lines) != len(slownesses):
        sys.exit(f"failed: {' '.join(command)}\n{done.stdout}{done.stderr}")
    return [{"kind": kind, "platform": platform, **json.loads(line)} for line in lines]


def reference_slowness(program, repeat):
    """How many times as long as this machine the reference takes."""
    case = ("strong", 1, *REFERENCE_CASE, 15)
    return REFERENCE_US / statistics.median(measured(program, "fast", case, -1, [1.0])[0]["us_per_step"] for _ in range(repeat))


def judged(rows):
    """Speedup and efficiency against one rank of the same kind, with as much to do, or as much per rank."""
    for row in rows:
        one = next((other for other in rows if other["ranks"] == 1 and other["kind"] == row["kind"] and
                    other["platform"] == row["platform"] and other["slowness"] == row["slowness"] and
                    other["modules"] * (1 if row["kind"] == "strong" else row["ranks"]) == row["modules"]), None)
        if one is None:
            continue
        ratio = one["us_per_step"] / row["us_per_step"]
        row["speedup"] = ratio if row["kind"] == "strong" else ratio * row["ranks"]
        row["efficiency"] = row["speedup"] / row["ranks"]
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=lambda name: Path(name).resolve())
    parser.add_argument("--out", type=Path, default=Path("."), help="folder for the results")
    parser.add_argument("--docs", type=Path, help="folder of the documentation, whose page is written, too")
    parser.add_argument("--quick", action="store_true", help="few ranks")
    parser.add_argument("--platforms", default="fast,ethernet,wide")
    parser.add_argument("--kinds", default="strong,weak")
    parser.add_argument("--most", type=int, default=HOSTS, help="ranks")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--processor-scale", type=float, help="of the other processor that all is computed for, too: how many times as long as "
                        f"this one it takes; as a rule that for which a step of {REFERENCE_CASE[0]} modules of {3 * REFERENCE_CASE[1] + 1} bodies takes "
                        f"{REFERENCE_US} us")
    parser.add_argument("--tree", type=int, default=-1, help="the option of the glue: how groups that span ranks are solved")
    options = parser.parse_args()
    rows = []
    slownesses = [1.0, options.processor_scale or reference_slowness(options.program, options.repeat)]
    print(f"processors like this one, and others that take {slownesses[1]:.2f} times as long", flush=True)
    for platform in options.platforms.split(","):
        if not (HERE / f"{platform}.xml").is_file():
            sys.exit(f"--platforms: there is no '{platform}'; known are fast, ethernet, wide")
        for case in cases(platform, options.quick, options.most):
            if case[0] not in options.kinds.split(","):
                continue
            repeat = options.repeat if case[1] <= 64 else 1
            runs = [measured(options.program, platform, case, options.tree, slownesses) for _ in range(repeat)]
            rows += [sorted(own, key=lambda row: row["us_per_step"])[len(own) // 2] for own in zip(*runs)]
            row, slow = judged(rows)[-2:]
            print(f"{platform:9} {row['kind']:6} {row['ranks']:5} ranks {row['modules']:6} modules: {row['us_per_step']:9.1f} us per step, "
                  f"efficiency {100 * row.get('efficiency', 0):5.1f} %, speedup {row.get('speedup', 0):6.1f}; slower processors "
                  f"{slow['us_per_step']:9.1f} us, {100 * slow.get('efficiency', 0):5.1f} %, {slow.get('speedup', 0):6.1f}; "
                  f"{row['messages']:5.1f} messages, {row['bytes'] / 1e3:8.1f} kB, {row['memory_mb_per_rank']:6.2f} MB per rank, "
                  f"ready after {row['planning_s']:.3f} s, {row['scheme']}", flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "scale.json").write_text(json.dumps({"rows": rows}, indent=1) + "\n", encoding="utf-8")
    page.write(rows, options.out, options.docs)


if __name__ == "__main__":
    main()
