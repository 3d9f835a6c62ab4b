"""The page and the plot of runs on simulated clusters."""

import sys
from html import escape
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "peers"))

import plots  # noqa: E402

COLORS = {"fast": "#1f6fc4", "ethernet": "#d9722b", "wide": "#2a9d5c"}
NAMES = {"fast": "fast cluster (12.5 GB/s, 0.7 µs per link)", "ethernet": "Ethernet cluster (125 MB/s, 20 µs per link)",
         "wide": "four sites (5 ms between them)"}


DASHES = ' stroke-dasharray="5 3"'  # of slower processors


def title(row):
    bodies = row["bodies"] // row["modules"]
    if row["kind"] == "strong":
        return f"{row['modules']} modules of {bodies} bodies"
    return f"{row['modules'] // row['ranks']} modules of {bodies} bodies per rank"


def plot(rows):
    """A panel per kind: efficiency over ranks, a curve per platform, dashed for slower processors."""
    kinds = list(dict.fromkeys(map(title, rows)))
    width, height, left, top = 300, 220, 60, 50
    body = ""
    for k, kind in enumerate(kinds):
        x0 = left + k * (width + 50)
        axis = plots.LogAxis([1, 1024], x0, x0 + width)
        body += plots.text(x0, 24, kind, ' class="title"') + plots.text(x0, 40, "efficiency over ranks")
        for ranks in (1, 4, 16, 64, 256, 1024):
            body += f'<path class="grid" d="M{axis.at(ranks):.1f} {top}V{top + height}"/>' + plots.text(
                axis.at(ranks), top + height + 16, str(ranks), ' text-anchor="middle"')
        for percent in (0, 25, 50, 75, 100):
            y = top + height * (1 - percent / 110)
            body += f'<path class="grid" d="M{x0} {y:.1f}H{x0 + width}"/>' + plots.text(x0 - 6, y + 4, f"{percent} %", ' text-anchor="end"')
        for platform, color in COLORS.items():
            for here in (True, False):
                points = [(axis.at(row["ranks"]), top + height * (1 - min(100 * row["efficiency"], 110) / 110)) for row in rows
                          if title(row) == kind and row["platform"] == platform and "efficiency" in row and (row["slowness"] == 1.0) == here]
                if points:
                    body += (f'<polyline fill="none" stroke="{color}" stroke-width="1.6"{"" if here else DASHES} '
                             f'points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>')
                    body += "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in points)
    body += plots.legend(COLORS, COLORS, left + 12, top + height + 44)
    return plots.document(left + len(kinds) * (width + 50), top + height + 100, body)


COLUMNS = [("ranks", lambda r: f"{r['ranks']:,}"), ("modules", lambda r: f"{r['modules']:,}"), ("bodies", lambda r: f"{r['bodies']:,}"),
           ("µs per step", lambda r: f"{r['us_per_step']:,.0f}"), ("speedup", lambda r: f"{r.get('speedup', float('nan')):.1f}"),
           ("efficiency", lambda r: f"{100 * r.get('efficiency', float('nan')):.0f} %"),
           ("slower processors: µs", lambda r: f"{r['slower']['us_per_step']:,.0f}"),
           ("speedup", lambda r: f"{r['slower'].get('speedup', float('nan')):.1f}"),
           ("efficiency", lambda r: f"{100 * r['slower'].get('efficiency', float('nan')):.0f} %"),
           ("messages", lambda r: f"{r['messages']:.0f}"), ("kB", lambda r: f"{r['bytes'] / 1e3:,.1f}"),
           ("MB per rank", lambda r: f"{r['memory_mb_per_rank']:.1f}"), ("ready, ms", lambda r: f"{1e3 * r['planning_s']:,.0f}"),
           ("scheme", lambda r: r["scheme"])]


def tables(rows):
    """(heading, rows) of each kind and platform; a row has that of slower processors in it."""
    def key(row):
        return title(row), row["platform"]

    here = [row for row in rows if row["slowness"] == 1.0]
    whole = [{**row, "slower": next((slow for slow in rows if slow["slowness"] != 1.0 and (*key(slow), slow["ranks"]) == (*key(row), row["ranks"])), row)}
             for row in here]
    return [(f"{kind}, {NAMES[platform]}", [row for row in whole if key(row) == (kind, platform)])
            for kind, platform in dict.fromkeys(map(key, whole))]


def markdown(rows):
    out = "\n## Measured\n\n![Efficiency over ranks](images/scale.svg)\n"
    for heading, own in tables(rows):
        out += f"\n### {heading[0].upper() + heading[1:]}\n\n| " + " | ".join(name for name, _ in COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|\n"
        out += "".join("| " + " | ".join(show(row) for _, show in COLUMNS) + " |\n" for row in own)
    return out


def html(rows):
    out = '<!doctype html><meta charset="utf-8"><title>Modules on many ranks</title><style>body{font:15px sans-serif;margin:2em auto;max-width:75em}'
    out += "td,th{padding:.2em .8em;text-align:right}</style><h1>Modules on many ranks</h1>" + plot(rows)
    for heading, own in tables(rows):
        out += f"<h2>{escape(heading)}</h2><table><tr>" + "".join(f"<th>{name}</th>" for name, _ in COLUMNS) + "</tr>"
        out += "".join("<tr>" + "".join(f"<td>{escape(show(row))}</td>" for _, show in COLUMNS) + "</tr>" for row in own) + "</table>"
    return out + "\n"


MARK = "<!-- measured -->\n"


def write(rows, folder, docs):
    (folder / "scale.svg").write_text(plot(rows), encoding="utf-8")
    (folder / "scale.html").write_text(html(rows), encoding="utf-8")
    if docs:
        file = docs / "scale.md"
        before = file.read_text(encoding="utf-8").split(MARK)[0]
        file.write_text(before + MARK + markdown(rows), encoding="utf-8")
        (docs / "images" / "scale.svg").write_text(plot(rows), encoding="utf-8")
