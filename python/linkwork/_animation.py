"""Motion pictures of a run: the mechanism as lines between its joints, drawn by matplotlib."""

from pathlib import Path

import numpy as np

from . import _core
from ._errors import InputError


def _rotation(q):
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def _corners(solid):
    """A solid as lines in the frame of its body: a list of polylines."""
    start, end, size = (np.array(solid[key]) for key in ("from", "to", "size"))
    if solid["shape"] in ("rod", "cylinder"):
        return [np.array([start, end])]
    if solid["shape"] == "box":
        signs = np.array([[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [-1, -1, -1], [-1, -1, 1], [1, -1, 1], [1, 1, 1],
                          [-1, 1, 1], [-1, -1, 1]])
        return [start + signs * size / 2]
    if solid["shape"] in ("sphere", "disc"):
        turn = np.linspace(0, 2 * np.pi, 25)
        around = solid["radius"] * np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1)
        return [start + around, start + around[:, [0, 2, 1]]]
    return []


def _lines(scene):
    """What is drawn of each body, in its frame: solids, and lines from its center to where others hold it."""
    held = [[] for _ in scene["bodies"]]
    for joint in scene["joints"]:
        for frame in (joint["parent"], joint["child"]):
            held[frame["body"]].append(frame["p"])
    for closure in scene["closures"]:
        for frame in (closure["a"], closure["b"]):
            held[frame["body"]].append(frame["p"])
    lines = []
    for index, body in enumerate(scene["bodies"]):
        own = _corners(body["solid"]) if "solid" in body else []
        points = np.array(held[index], dtype=float).reshape(-1, 3)
        if index > 0 and not own and len(points):
            ends = points if len(points) > 1 else np.vstack([points, body.get("com", [0, 0, 0])])
            own = [np.array([ends.mean(axis=0), end]) for end in ends] if len(ends) > 2 else [ends]
        lines.append((own, points))
    return lines


def _positions(scene, results):
    """Columns of the numbers of q, in the order of joints in the tree."""
    names = []
    for joint in scene["joints"]:
        if joint["cut"]:
            continue
        if None in joint["q"]:
            raise InputError(f"the positions of joint '{joint['name']}' are not among the columns; expected a run with columns q")
        names += [results.columns[i] for i in joint["q"]]
    return names


def _times(t, fps, seconds):
    """Rows of the frames of the picture."""
    length = t[-1] - t[0]
    count = max(2, round(fps * (seconds or min(length, 60.0)) + 1))
    return np.clip(np.searchsorted(t, np.linspace(t[0], t[-1], count) - 1e-12 * max(1.0, length)), 0, len(t) - 1)


def _axes_seen(points, view):
    if view is not None:
        if not 2 <= len(view) <= 3 or set(view) - set("xyz"):
            raise InputError(f"view: is '{view}'; expected two or three of x, y, z")
        return ["xyz".index(axis) for axis in view]
    spread = np.ptp(points.reshape(-1, 3), axis=0)
    seen = [axis for axis in range(3) if spread[axis] > 1e-3 * spread.max()]
    return seen if len(seen) == 3 else (seen + [axis for axis in (0, 1, 2) if axis not in seen])[:2]


def animate(record, results, file, fps, seconds, size, view, path):
    from matplotlib import animation, pyplot

    scene = record.scene()
    names = _positions(scene, results)
    model = record.mechanism()
    order = [names.index("q." + name) for name in model.names()["positions"]]
    rows = _times(results.t, fps, seconds)
    q = np.stack([results[name][rows] for name in np.array(names)[order]], axis=1) if names else np.zeros((len(rows), 0))
    moving = _core.poses(model, q)
    poses = np.concatenate([np.broadcast_to(np.eye(4), (len(rows), 1, 4, 4)), moving], axis=1)  # the ground first
    place = {"ground": 0, **{name: i + 1 for i, name in enumerate(model.names()["bodies"])}}
    lines, pins = [], []
    for body, (own, held) in zip(scene["bodies"], _lines(scene)):
        pose = poses[:, place[body["name"]]]
        lines += [np.einsum("fij,pj->fpi", pose[:, :3, :3], line) + pose[:, None, :3, 3] for line in own]
        if len(held):
            pins.append(np.einsum("fij,pj->fpi", pose[:, :3, :3], held) + pose[:, None, :3, 3])
    traces = []
    for sensor in scene["sensors"]:
        if sensor["type"] == "point" and path in (None, sensor["name"]):
            pose = poses[:, place[scene["bodies"][sensor["at"]["body"]]["name"]]]
            traces.append(pose[:, :3, :3] @ np.array(sensor["at"]["p"]) + pose[:, :3, 3])
    if not lines and not pins:
        raise InputError("there is nothing to draw: the model has neither solids nor joints")
    everything = np.concatenate([part.reshape(-1, 3) for part in lines + pins])
    seen = _axes_seen(everything, view)

    figure = pyplot.figure(figsize=size)
    solid = len(seen) == 3
    ax = figure.add_subplot(projection="3d" if solid else None)
    shown = [ax.plot(*part[0][:, seen].T, color="#4472a8", lw=3, solid_capstyle="round")[0] for part in lines]
    dots = [ax.plot(*part[0][:, seen].T, "o", color="#333333", ms=4)[0] for part in pins]
    trails = [ax.plot(*trace[:1, seen].T, color="#d9822b", lw=1)[0] for trace in traces]
    low, high = everything[:, seen].min(axis=0), everything[:, seen].max(axis=0)
    margin = 0.05 * max((high - low).max(), 1e-9)
    limits = list(zip(low - margin, high + margin))
    for axis, limit, which in zip("xyz", limits, seen):
        getattr(ax, f"set_{axis}lim")(limit)
        getattr(ax, f"set_{axis}label")(f"{'xyz'[which]} [m]")
    if solid:
        ax.set_box_aspect([high_ - low_ for low_, high_ in limits])
    else:
        ax.set_aspect("equal")
    title = ax.set_title("")

    def draw(frame):
        for artists, parts in ((shown, [part[frame] for part in lines]), (dots, [part[frame] for part in pins]),
                               (trails, [trace[:frame + 1] for trace in traces])):
            for artist, points in zip(artists, parts):
                if solid:
                    artist.set_data_3d(*points[:, seen].T)
                else:
                    artist.set_data(*points[:, seen].T)
        title.set_text(f"{scene['name']}, t = {results.t[rows[frame]]:.2f} s")

    try:
        film = animation.FuncAnimation(figure, draw, frames=len(rows), init_func=lambda: None)
        film.save(file, writer=_writer(file, fps, animation))
    finally:
        pyplot.close(figure)
    return file


def _writer(file: Path, fps, animation):
    if file.suffix == ".gif":
        return animation.PillowWriter(fps=fps)
    if file.suffix != ".mp4":
        raise InputError(f"file: is '{file}'; expected a name that ends in .gif or .mp4")
    if not animation.FFMpegWriter.isAvailable():
        raise InputError(f"'{file}' needs the program ffmpeg, which is not there; expected a name that ends in .gif")
    return animation.FFMpegWriter(fps=fps)
