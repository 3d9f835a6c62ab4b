"""A diagram of the library's folders, from what their files include: each stands above all that it uses."""

import re
from pathlib import Path

INCLUDE = re.compile(r'^#include "linkwork/(\w+)/', re.MULTILINE)
WIDTH, HEIGHT, GAP_X, GAP_Y = 118, 40, 22, 46


def uses(library):
    """Folder -> folders that its files include."""
    folders = sorted(path.name for path in library.iterdir() if path.is_dir())
    found = {}
    for name in folders:
        files = [path for path in (library / name).rglob("*") if path.suffix in (".h", ".cpp")]
        included = {folder for path in files for folder in INCLUDE.findall(path.read_text(encoding="utf-8"))}
        found[name] = (included & set(folders)) - {name}
    return found


def reached(graph, start):
    """All that is used directly or through others."""
    seen, left = set(), list(graph[start])
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            left += graph[name]
    return seen


def layers(graph):
    level = {}

    def of(name, path=()):
        if name in path:
            raise SystemExit(f"folders include each other in a circle: {' -> '.join((*path, name))}")
        if name not in level:
            level[name] = 1 + max((of(other, (*path, name)) for other in graph[name]), default=-1)
        return level[name]

    for name in graph:
        of(name)
    return level


def svg(library):
    """Arrows are drawn only where nothing in between leads there too."""
    graph = uses(Path(library))
    level = layers(graph)
    rows = [sorted(name for name in graph if level[name] == k) for k in range(max(level.values()) + 1)]
    widest = max(len(row) for row in rows)
    total_x, total_y = widest * (WIDTH + GAP_X) + GAP_X, len(rows) * (HEIGHT + GAP_Y)
    place = {}
    for k, row in enumerate(rows):
        left = (total_x - len(row) * (WIDTH + GAP_X) + GAP_X) / 2
        for i, name in enumerate(row):
            place[name] = (left + i * (WIDTH + GAP_X), total_y - (k + 1) * (HEIGHT + GAP_Y) + GAP_Y / 2)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total_x} {total_y}" font-family="sans-serif" font-size="15">',
             '<rect width="100%" height="100%" fill="#ffffff"/>',
             '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
             '<path d="M0 0 8 4 0 8z" fill="#7a8794"/></marker></defs>']
    for name, others in sorted(graph.items()):
        for other in sorted(others):
            if any(other in reached(graph, between) for between in others - {other}):
                continue
            (x, y), (to_x, to_y) = place[name], place[other]
            lines.append(f'<path d="M{x + WIDTH / 2:.0f} {y + HEIGHT} C{x + WIDTH / 2:.0f} {y + HEIGHT + GAP_Y / 2:.0f} '
                         f'{to_x + WIDTH / 2:.0f} {to_y - GAP_Y / 2:.0f} {to_x + WIDTH / 2:.0f} {to_y:.0f}" fill="none" '
                         'stroke="#7a8794" marker-end="url(#tip)"/>')
    for name, (x, y) in place.items():
        lines.append(f'<rect x="{x:.0f}" y="{y:.0f}" width="{WIDTH}" height="{HEIGHT}" rx="6" fill="#e8f0fa" stroke="#1f5fa8"/>'
                     f'<text x="{x + WIDTH / 2:.0f}" y="{y + HEIGHT / 2 + 5:.0f}" text-anchor="middle" fill="#1b2733">{name}</text>')
    return "\n".join([*lines, "</svg>"])
