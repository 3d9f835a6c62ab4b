"""Plots of a comparison with other engines, as small SVG documents."""

import math
from xml.sax.saxutils import escape

COLORS = {"Linkwork TA": "#1f6fc4", "Linkwork CE": "#5aa9e6", "Linkwork auto": "#0b3c73", "Linkwork rk4": "#1f6fc4",
          "Linkwork dopri45": "#5aa9e6", "Simbody": "#d9722b", "MuJoCo": "#2a9d5c", "MuJoCo stiff": "#8fce00", "DART": "#c2375a"}
STYLE = ('<style>.grid{stroke:#ccc;stroke-width:.7}.title{font-weight:bold;font-size:14px}</style>'
         '<rect width="100%" height="100%" fill="white"/>')


def document(width, height, body):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" '
            f'font-family="sans-serif" font-size="12">{STYLE}\n{body}</svg>\n')


def text(x, y, words, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}"{more}>{escape(words)}</text>\n'


class LogAxis:
    """Whole decades around the values, between two places of the drawing."""

    def __init__(self, values, begin, end):
        self.low = math.floor(math.log10(min(values)))
        self.high = max(self.low + 1, math.ceil(math.log10(max(values))))
        self.begin, self.end = begin, end

    def at(self, value):
        return self.begin + (self.end - self.begin) * (math.log10(value) - self.low) / (self.high - self.low)

    def ticks(self):
        step = 1 + (self.high - self.low) // 9
        return [10.0 ** k for k in range(self.low, self.high + 1, step)]


def label(value):
    return f"{value:g}" if 1e-3 <= value < 1e5 else f"1e{round(math.log10(value))}"


def legend(engines, colors, x, y):
    out = ""
    for k, engine in enumerate(engines):
        out += f'<circle cx="{x:.1f}" cy="{y + 17 * k - 4:.1f}" r="4" fill="{colors[engine]}"/>' + text(x + 10, y + 17 * k, engine)
    return out


def colors_of(rows):
    return {row["engine"]: COLORS.get(row["engine"], "#6b6b6b") for row in rows}


def evaluations(rows, title):
    """A line per model, a dot per engine at its time."""
    timed = [row for row in rows if "us" in row]
    if not timed:
        return document(400, 40, text(10, 24, "nothing was measured"))
    cases, colors = list(dict.fromkeys(map(title, timed))), colors_of(timed)
    left, right, top, line = 130, 600, 40, 26
    bottom = top + line * len(cases)
    axis = LogAxis([row["us"] for row in timed], left, right)
    body = text(left, 22, "time of an evaluation, µs", ' class="title"')
    for tick in axis.ticks():
        body += f'<path class="grid" d="M{axis.at(tick):.1f} {top}V{bottom}"/>' + text(axis.at(tick), bottom + 16, label(tick), ' text-anchor="middle"')
    for k, case in enumerate(cases):
        y = top + line * (k + 0.5)
        body += f'<path class="grid" d="M{left} {y:.1f}H{right}"/>' + text(left - 8, y + 4, case, ' text-anchor="end"')
        for row in timed:
            if title(row) == case:
                body += f'<circle cx="{axis.at(row["us"]):.1f}" cy="{y:.1f}" r="4" fill="{colors[row["engine"]]}"/>'
        body += "\n"
    body += legend(colors, colors, right + 24, top + 14)
    return document(right + 150, max(bottom + 30, top + 17 * len(colors) + 20), body)


def accuracy(rows, title):
    """A panel per model: processor time over the error after 10 s, a curve per engine."""
    done = [row for row in rows if row.get("error_10s") and row.get("seconds_10s")]
    if not done:
        return document(400, 40, text(10, 24, "nothing was measured"))
    cases, colors = list(dict.fromkeys(map(title, done))), colors_of(done)
    width, height = 330, 300
    body = ""
    for k, case in enumerate(cases):
        body += f'<g transform="translate({width * k} 0)">{accuracy_panel([r for r in done if title(r) == case], case, colors, width, height)}</g>\n'
    body += legend(colors, colors, width * len(cases) + 16, 50)
    return document(width * len(cases) + 150, height, body)


def accuracy_panel(rows, case, colors, width, height):
    left, right, top, bottom = 60, width - 16, 36, height - 46
    x = LogAxis([row["error_10s"] for row in rows], left, right)
    y = LogAxis([row["seconds_10s"] for row in rows], bottom, top)
    body = text(left, 22, case, ' class="title"')
    for tick in x.ticks():
        body += f'<path class="grid" d="M{x.at(tick):.1f} {top}V{bottom}"/>' + text(x.at(tick), bottom + 16, label(tick), ' text-anchor="middle"')
    for tick in y.ticks():
        body += f'<path class="grid" d="M{left} {y.at(tick):.1f}H{right}"/>' + text(left - 6, y.at(tick) + 4, label(tick), ' text-anchor="end"')
    for engine, color in colors.items():
        points = [(x.at(r["error_10s"]), y.at(r["seconds_10s"])) for r in rows if r["engine"] == engine]
        if not points:
            continue
        path = "L".join(f"{a:.1f} {b:.1f}" for a, b in points)
        body += f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="1.5"/>'
        body += "".join(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.5" fill="{color}"/>' for a, b in points) + "\n"
    body += text((left + right) / 2, height - 10, "error after 10 s, m", ' text-anchor="middle"')
    return body + f'<text transform="translate(14 {(top + bottom) / 2:.1f}) rotate(-90)" text-anchor="middle">time for 10 s, s</text>'
