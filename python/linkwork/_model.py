"""Mechanisms."""

from functools import cached_property

from . import _core
from ._answer import Names


class Model:
    """A mechanism that was read or built and checked. It does not change, and threads may share it.

    >>> import linkwork as lw
    >>> m = lw.Model.from_file("four_bar", torque=0)
    >>> m.name, m.bodies, m.joints, m.closures
    ('four-bar', ('crank', 'coupler', 'rocker'), ('theta', 'alpha', 'phi'), ('cut',))
    """

    def __init__(self, mechanism):
        if not isinstance(mechanism, _core.Mechanism):
            raise TypeError("a Model is made by Model.from_file(), Model.from_string() or Builder.model()")
        self._mechanism = mechanism

    @classmethod
    def from_file(cls, file, *, set=None, loops=None, fixed_base=False, package=None, **parameters):
        """Reads a model file (.toml), a robot file (.urdf, .sdf, .xml), or the ready model of that name.

        Keywords are parameters of the model, numbers or expressions; `set` takes those whose names are those of other arguments.
        Of robot files: `loops` is a YAML file with loops, `fixed_base` holds the root, `package` has the folders of packages.
        """
        return cls(_core.Mechanism.from_file(file, {**(set or {}), **parameters}, loops, fixed_base, package or {}))

    @classmethod
    def from_string(cls, text, *, name="model", set=None, **parameters):
        """The same from the text of a model file. `name` stands in messages; modules and data are looked for beside it.

        >>> import linkwork as lw
        >>> m = lw.Model.from_string('''
        ... linkwork = 1
        ... name = "pendulum"
        ... [[body]]
        ... name = "bob"
        ... solid = { shape = "rod", from = [0, 0, 0], to = [0.5, 0, 0], mass = 1 }
        ... [[joint]]
        ... name = "swing"
        ... type = "revolute"
        ... parent = { body = "ground" }
        ... child = { body = "bob" }
        ... ''')
        >>> m.joints
        ('swing',)
        """
        return cls(_core.Mechanism.from_string(text, name, {**(set or {}), **parameters}))

    def with_parameters(self, set=None, **parameters):
        """The same model with other values of some parameters; its files are read again.

        >>> import linkwork as lw
        >>> m = lw.Model.from_file("four_bar")
        >>> lw.run(m.with_parameters(torque=0), end=1).summary.energy_drift < 1e-4
        True
        """
        return Model(self._mechanism.with_parameters({**(set or {}), **parameters}))

    def with_force(self, apply, *, name="force", potential=None, power=None):
        """With a force that Python computes: apply(at, forces) says what acts, where `at` knows how things move.

        `potential(at)` is the energy that it stores, so that the balance of energy holds; without it all it does is work.
        `power(at)` is, beside a potential, the power of what is not in it.

        >>> import linkwork as lw
        >>> m = lw.Model.from_file("pendulum")
        >>> damped = m.with_force(lambda at, forces: forces.on_joint("theta", -0.5 * at.v("theta")))
        >>> lw.run(damped, end=1).summary.energy_drift < 1e-8
        True
        """
        return Model(self._mechanism.with_force(apply, name, potential, power))

    def with_module(self, name, make):
        """With a module of Python in place of one of the model's modules: make() gives a new one. See Module."""
        return Model(_core.with_module(self._mechanism, name, make))

    @property
    def name(self):
        """The model's own name."""
        return self._mechanism.name

    @property
    def text(self):
        """The model file as it was read, or what a Builder would write."""
        return self._mechanism.text

    @property
    def settings(self):
        """The settings that runs have if nothing else is asked for: a dict."""
        return self._mechanism.settings()

    @property
    def parameters(self):
        """The parameters that were given other values, with the values as texts: a dict."""
        return dict(self._mechanism.parameters())

    @cached_property
    def _names(self):
        return {kind: Names(names) for kind, names in self._mechanism.names().items()}

    @property
    def bodies(self):
        """Names of the bodies, without the ground."""
        return self._names["bodies"]

    @property
    def joints(self):
        """Names of the joints."""
        return self._names["joints"]

    @property
    def closures(self):
        """Names of the closures."""
        return self._names["closures"]

    @property
    def inputs(self):
        """Names of the inputs."""
        return self._names["inputs"]

    @property
    def states(self):
        """Names of the model's own states, in the order of z."""
        return self._names["states"]

    @property
    def sensors(self):
        """Names of the sensors."""
        return self._names["sensors"]

    @property
    def positions(self):
        """Names of the numbers of q: "theta", "slide.angle". Joints that are cut have none."""
        return self._names["positions"]

    @property
    def velocities(self):
        """Names of the numbers of v."""
        return self._names["velocities"]

    def evaluate(self, q=None, v=None, *, t=0.0, u=None, z=None):
        """The mechanism at a state: see Evaluation. What is not given is as at the start.

        >>> import linkwork as lw
        >>> m = lw.Model.from_file("pendulum")
        >>> at = m.evaluate(q=[0.5], v=[0.0])
        >>> at.mass_matrix().shape, at.kinetic_energy
        ((1, 1), 0.0)
        """
        return _core.evaluate(self._mechanism, q, v, t, u or {}, z)

    def __repr__(self):
        return f"<linkwork.Model '{self.name}': {len(self.bodies)} bodies, {len(self.joints)} joints>"

    def __getstate__(self):
        return {"_mechanism": self._mechanism}
