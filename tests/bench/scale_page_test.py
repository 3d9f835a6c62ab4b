#!/usr/bin/env python3
"""The page, the plot and the platforms of bench/scale: scale_page_test.py SOURCE_DIR. Nothing is simulated."""

import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

SOURCE = Path(sys.argv[1])
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "bench" / "scale"))

import page  # noqa: E402
import run  # noqa: E402


def row(kind, platform, ranks, modules, us, slowness=1.0):
    return {"kind": kind, "platform": platform, "ranks": ranks, "modules": modules, "bodies": 16 * modules, "us_per_step": us, "messages": 9.5,
            "bytes": 12000.0, "memory_mb_per_rank": 3.25, "planning_s": 0.0125, "scheme": "tree", "slowness": slowness}


rows = run.judged([row("strong", "fast", 1, 64, 800.0), row("strong", "fast", 8, 64, 160.0), row("weak", "wide", 1, 16, 100.0),
                   row("weak", "wide", 4, 64, 125.0), row("weak", "fast", 4, 64, 125.0),
                   row("strong", "fast", 1, 64, 2400.0, 3.0), row("strong", "fast", 8, 64, 400.0, 3.0)])
assert [round(r["speedup"], 9) for r in rows[:4]] == [1.0, 5.0, 1.0, 3.2], rows
assert [round(r["efficiency"], 9) for r in rows[:4]] == [1.0, 0.625, 1.0, 0.8], rows
assert "speedup" not in rows[4], "there is no run on one rank to compare it with"
assert round(rows[6]["speedup"], 9) == 6.0, "each is compared with processors like its own"
del rows[4]

with tempfile.TemporaryDirectory() as folder:
    folder = Path(folder)
    (folder / "images").mkdir()
    (folder / "scale.md").write_text("# Title\n" + page.MARK + "old\n", encoding="utf-8")
    page.write(rows, folder, folder)
    written = (folder / "scale.md").read_text(encoding="utf-8")
    assert written.startswith("# Title\n") and "old" not in written, written
    assert "| 8 | 64 | 1,024 | 160 | 5.0 | 62 % | 400 | 6.0 | 75 % | 10 | 12.0 | 3.2 | 12 | tree |" in written, written
    assert len(ElementTree.parse(folder / "scale.svg").findall(".//{*}polyline")) == 3
    assert "64 modules of 16 bodies" in (folder / "scale.html").read_text(encoding="utf-8")

# Every rank of every platform has a host of its own, which the platform has.
for platform in ("fast", "ethernet", "wide"):
    known = set()
    for cluster in ElementTree.parse(SOURCE / "bench" / "scale" / f"{platform}.xml").findall(".//cluster"):
        first, last = map(int, cluster.get("radical").split("-"))
        known |= {f"n{k}" for k in range(first, last + 1)}
    for ranks in (1, 2, 3, 5, 64, 1000, 1024):
        hosts = run.hosts(platform, ranks)
        assert len(hosts) == len(set(hosts)) == ranks and set(hosts) <= known, (platform, ranks)
    assert max(case[1] for case in run.cases(platform, False, 1024)) <= 1024
    assert all(case[1] <= 8 for case in run.cases(platform, False, 8))
