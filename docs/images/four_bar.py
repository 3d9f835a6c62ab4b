#!/usr/bin/env python3
"""Draws docs/images/four_bar.svg from a run of models/four_bar.toml over one turn of the crank:

    linkwork run four_bar --end 1.716 --every 0.004 --out out/picture
    python3 docs/images/four_bar.py out/picture/trajectory.csv > docs/images/four_bar.svg
"""

import csv
import math
import sys

CRANK, COUPLER, ROCKER, GROUND = 1.0, 4.0, 2.5, 3.0  # as in the model
TRACED = (2.0, 1.1)  # a point of the coupler, in its own frame
GHOSTS = 8  # positions drawn faintly, evenly spread over the crank's turn
COLORS = {"crank": "#d1495b", "coupler": "#30638e", "rocker": "#3c887e", "trace": "#edae49", "text": "#333333"}


def positions(row):
    """Pins A, B, C, D and the traced point, from the joint angles of one row."""
    theta, coupler = row["q.theta"], row["q.theta"] + row["q.alpha"]
    b = (CRANK * math.cos(theta), CRANK * math.sin(theta))
    along, across = (math.cos(coupler), math.sin(coupler)), (-math.sin(coupler), math.cos(coupler))
    c = tuple(b[i] + COUPLER * along[i] for i in (0, 1))
    traced = tuple(b[i] + TRACED[0] * along[i] + TRACED[1] * across[i] for i in (0, 1))
    return {"A": (0.0, 0.0), "B": b, "C": c, "D": (GROUND, 0.0), "P": traced}


def path(points, color, width, opacity=1.0, fill="none"):
    text = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    shape = "polygon" if fill != "none" else "polyline"
    return (f'<{shape} points="{text}" fill="{fill}" fill-opacity="{0.15 * opacity:.2f}" stroke="{color}" stroke-width="{width}" '
            f'stroke-opacity="{opacity:.2f}" stroke-linejoin="round" stroke-linecap="round"/>')


def label(x, y, text, size=13, anchor="middle"):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{COLORS["text"]}">{text}</text>'


def mechanism(rows):
    """The linkage at the start, ghosts of later positions, and the path of the traced point."""
    def place(p):
        return 100 + 75 * p[0], 290 - 75 * p[1]

    def linkage(at, opacity):
        a, b, c, d, p = (place(at[name]) for name in "ABCDP")
        yield path([b, c, p], COLORS["coupler"], 3, opacity, COLORS["coupler"])
        yield path([a, b], COLORS["crank"], 5, opacity)
        yield path([d, c], COLORS["rocker"], 5, opacity)

    turn = [row["q.theta"] - rows[0]["q.theta"] for row in rows]
    for k in range(1, GHOSTS):
        nearest = min(range(len(rows)), key=lambda i: abs(turn[i] - 2 * math.pi * k / GHOSTS))
        yield from linkage(positions(rows[nearest]), 0.18)
    yield path([place(positions(row)["P"]) for row in rows], COLORS["trace"], 3)
    start = positions(rows[0])
    yield from linkage(start, 1.0)
    for name in "ABCDP":
        x, y = place(start[name])
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="white" stroke="{COLORS["text"]}" stroke-width="2"/>'
    for name in "AD":
        x, y = place(start[name])
        yield path([(x - 14, y + 20), (x, y + 6), (x + 14, y + 20)], COLORS["text"], 2)
        yield path([(x - 20, y + 20), (x + 20, y + 20)], COLORS["text"], 2)


def plot(rows, left=560, bottom=330, width=310, height=270):
    """Angular velocities of the three links over time."""
    speeds = {
        "crank": [row["v.theta"] for row in rows],
        "coupler": [row["v.theta"] + row["v.alpha"] for row in rows],
        "rocker": [row["v.phi"] for row in rows],
    }
    end, step = rows[-1]["t"], 4
    low = step * math.floor(min(map(min, speeds.values())) / step)
    high = step * math.ceil(max(map(max, speeds.values())) / step)

    def place(t, speed):
        return left + width * t / end, bottom - height * (speed - low) / (high - low)

    for k in range(low, high + 1, step):
        yield path([place(0, k), place(end, k)], "#999999" if k == 0 else "#dddddd", 1)
        yield label(left - 8, place(0, k)[1] + 4, f"{k}", 11, "end")
    for k in range(int(end / 0.5) + 1):
        yield label(place(0.5 * k, 0)[0], bottom + 18, f"{0.5 * k:g}", 11)
    yield label(left + width, bottom + 34, "t, s", 11, "end")
    yield label(left, bottom - height - 14, "angular velocities of the links, rad/s", 13, "start")
    for name, speed in speeds.items():
        yield path([place(row["t"], s) for row, s in zip(rows, speed)], COLORS[name], 2.5)


def main():
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    print('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 380" font-family="sans-serif">')
    print('<rect width="900" height="380" fill="white"/>')
    for element in [*mechanism(rows), *plot(rows)]:
        print(element)
    print("</svg>")


if __name__ == "__main__":
    main()
