"""Models put together in code."""

from . import _core
from ._model import Model


class Frame(dict):
    """A frame fixed to a body: the body's own, or one at a point of it."""

    def at(self, x, y=None, z=None):
        """A frame at a point of the body, with the same axes: three numbers, or a list of them."""
        return Frame(self, at=list(x) if y is None else [x, y, z])

    def turned(self, quat):
        """A frame at the same point, turned by a quaternion w, x, y, z."""
        return Frame(self, quat=list(quat))


class Entry:
    """A table of the model, to which keys can be added."""

    def __init__(self, entry):
        self._entry = entry

    def set(self, **keys):
        """Sets keys of this table, by the names that they have in a model file."""
        self._entry.set(keys)
        return self

    def __repr__(self):
        return "<linkwork.Entry>"


def _solid(shape, mass, **keys):
    return {"solid": {"shape": shape, **keys, "mass": mass}}


def rod(start, end, mass):
    """A thin rod of uniform mass between two points."""
    return _solid("rod", mass, **{"from": start, "to": end})


def cylinder(start, end, radius, mass):
    """A cylinder about the line between two points."""
    return _solid("cylinder", mass, **{"from": start, "to": end}, radius=radius)


def box(center, size, mass):
    """A box along the axes of the body."""
    return _solid("box", mass, center=center, size=size)


def sphere(center, radius, mass):
    """A full sphere."""
    return _solid("sphere", mass, center=center, radius=radius)


def point_mass(at, mass):
    """A mass without extent."""
    return _solid("point", mass, at=at)


def mass(mass, com=(0, 0, 0), inertia=None):
    """Matter given by numbers: mass, center of mass, and the inertia about it in body axes, 3 x 3."""
    six = inertia and [inertia[i][j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    return {"mass": mass, "com": com, "inertia": six or None}


class Builder:
    """Puts a model together. It has the tables and keys of a model file: keywords are keys, and values may be expressions.

    >>> import linkwork as lw
    >>> b = lw.Builder("four-bar")
    >>> crank = b.body("crank", lw.rod([0, 0, 0], [1, 0, 0], mass=1))
    >>> coupler = b.body("coupler", lw.rod([0, 0, 0], [4, 0, 0], mass=1))
    >>> rocker = b.body("rocker", lw.rod([0, 0, 0], [2.5, 0, 0], mass=1))
    >>> _ = b.revolute("theta", b.ground, crank, position=1.57)
    >>> _ = b.revolute("alpha", crank.at(1, 0, 0), coupler)
    >>> _ = b.revolute("phi", b.ground.at(3, 0, 0), rocker, position=1.26)
    >>> _ = b.pin("cut", coupler.at(4, 0, 0), rocker.at(2.5, 0, 0))
    >>> lw.check(b.model()).dof
    1
    """

    def __init__(self, name):
        self._builder = _core.Builder(name)

    ground = property(lambda self: Frame(body="ground"), doc="The frame of the ground.")

    def add(self, table, **keys):
        """Adds any table of a model file: b.add("joint", name="theta", type="revolute", ...)."""
        return Entry(self._builder.add(table, keys))

    def settings(self, **keys):
        """Sets keys of [settings]: b.settings(gravity=[0, 0, -9.81], end=2)."""
        for key, value in keys.items():
            self._builder.setting(key, value)

    def parameters(self, **values):
        """Defines numbers that expressions use by their names, and that can be given other values later."""
        for name, value in values.items():
            self._builder.parameter(name, value)

    def body(self, name, matter, **keys):
        """Adds a body of rod(), cylinder(), box(), sphere(), point_mass() or mass(), and returns its frame."""
        self.add("body", name=name, **matter, **keys)
        return Frame(body=name)

    def joint(self, type, name, parent, child, **keys):
        """Adds a joint between two frames, about or along z of the parent's frame unless axis says otherwise."""
        return self.add("joint", name=name, type=type, parent=parent, child=child, **keys)

    def closure(self, type, name, a, b, **keys):
        """Adds a closure between two frames: it closes a loop."""
        return self.add("closure", name=name, type=type, a=a, b=b, **keys)

    def gear(self, name, joints, coefficients, offset=0.0, **keys):
        """Adds a gear: the sum of coefficient * coordinate over the joints is the offset."""
        return self.add("closure", name=name, type="gear", joints=joints, coefficients=coefficients, offset=offset, **keys)

    def drive(self, name, joint, value, **keys):
        """Drives a joint: its coordinate is an expression of time."""
        return self.add("closure", name=name, type="drive", joint=joint, value=value, **keys)

    def torque(self, joint, value, **keys):
        """Adds a torque on a joint's coordinate: a number or an expression."""
        return self.add("force", type="torque", joint=joint, value=value, **keys)

    def spring(self, a, b, stiffness, length, damping=0.0, **keys):
        """Adds a spring between two frames."""
        return self.add("force", type="spring", a=a, b=b, stiffness=stiffness, length=length, damping=damping, **keys)

    def damper(self, a, b, damping, **keys):
        """Adds a damper between two frames."""
        return self.add("force", type="damper", a=a, b=b, damping=damping, **keys)

    def force(self, what, value=None, *, name="", potential=None, power=None, **keys):
        """Adds a force on a joint's coordinate, as torque() does, or one that a function of Python computes: see Model.with_force()."""
        if callable(what):
            return self._builder.force(what, name, potential, power)
        return self.add("force", type="force", joint=what, value=value, name=name or None, **keys)

    def input(self, name, value=0.0, **keys):
        """Adds an input, a number from outside. Expressions use it as u.<name>; s.u[name] sets it."""
        return self.add("input", name=name, value=value, **keys)

    def state(self, name, rate, start=0.0, **keys):
        """Adds a state that is integrated with the motion, given by its rate, an expression. Expressions use it as z.<name>."""
        return self.add("state", name=name, rate=rate, start=start, **keys)

    def table(self, name, x, y, **keys):
        """Adds a measured curve, which expressions call by its name."""
        return self.add("table", name=name, x=x, y=y, **keys)

    def sensor(self, name, what, **keys):
        """Adds a sensor: what a frame does, or the value of an expression."""
        if isinstance(what, str):
            return self.add("sensor", name=name, type="expression", expression=what, **keys)
        return self.add("sensor", name=name, type="point", **what, **keys)

    def model(self):
        """The model as it stands, checked. Raises InputError with the table and name of what is wrong."""
        return Model(self._builder.build())

    def to_toml(self):
        """The same as a model file; forces of Python are not part of it."""
        return self._builder.to_toml()


def _joint(type):
    def method(self, name, parent, child, **keys):
        return self.joint(type, name, parent, child, **keys)

    method.__name__, method.__doc__ = type, f"A {type} joint: see joint()."
    return method


for _type in ("revolute", "prismatic", "cylindrical", "screw", "universal", "spherical", "planar", "translational", "free", "weld"):
    setattr(Builder, _type, _joint(_type))


def _closure(type):
    def method(self, name, a, b, **keys):
        return self.closure(type, name, a, b, **keys)

    method.__name__, method.__doc__ = type, f"A closure of type {type}: see closure()."
    return method


for _type in ("pin", "point", "distance"):
    setattr(Builder, _type, _closure(_type))
