"""Live simulations."""

from . import _core
from ._answer import Answer
from ._model import Model


class Simulation(_core.Live):
    """A mechanism that is stepped from Python.

    Options are those of run() that concern methods: step, rtol, atol, integrator and so on.

    >>> import linkwork as lw
    >>> s = lw.Simulation(lw.Model.from_file("pid_arm"), step=1e-3)
    >>> s.step(10)
    True
    >>> round(s.t, 9), s.joints
    (0.01, ('shoulder',))
    >>> before = s.save()
    >>> s.advance_to(0.5)
    True
    >>> s.restore(before); round(s.t, 9)
    0.01
    >>> vdot, lam = s.forward_dynamics()
    >>> abs(s.inverse_dynamics(vdot)).max() < 1e-12
    True
    """

    def __init__(self, model, **options):
        if not isinstance(model, Model):
            raise TypeError(f"a Simulation takes a Model, not {type(model).__name__}")
        super().__init__(model._mechanism, options)
        self._model = model

    @property
    def model(self):
        """What is simulated."""
        return self._model

    @property
    def joints(self):
        """Names of the numbers of q; s.joints["theta"] is the place of one."""
        return self._model.positions

    @property
    def velocities(self):
        """Names of the numbers of v."""
        return self._model.velocities

    def controller(self, act, period):
        """Calls act(s) now, if nothing has been simulated yet, and at every multiple of the period, s.

        Steps end there, and inputs that it sets hold up to the next time. What it raises ends the step, and is raised there.

        >>> import linkwork as lw
        >>> b = lw.Builder("arm")
        >>> link = b.body("link", lw.rod([0, 0, 0], [0.6, 0, 0], mass=2))
        >>> b.revolute("shoulder", b.ground, link, position=-0.5)
        <linkwork.Entry>
        >>> b.torque("shoulder", "u.motor")
        <linkwork.Entry>
        >>> b.input("motor")
        <linkwork.Entry>
        >>> s = lw.Simulation(b.model(), step=1e-3)
        >>> def hold(s):
        ...     s.u["motor"] = 80 * (1 - s.q[0]) - 12 * s.v[0]
        >>> s.controller(hold, period=1e-3)
        >>> s.advance_to(3)
        True
        >>> round(float(s.q[0]), 4)
        0.9577
        """
        if not callable(act):
            raise TypeError("a controller is a function of the simulation")
        self.add_controller(float(period), act)

    def run(self):
        """Goes on to the end of the settings (option `end`) and gives the rows from here on: see Results."""
        return self.run_to_end()._checked()

    @property
    def energy(self):
        """Kinetic and potential energy, J, and their sum: an Answer."""
        at = self.evaluate()
        return Answer(kinetic=at.kinetic_energy, potential=at.potential_energy, total=at.kinetic_energy + at.potential_energy)

    def __repr__(self):
        return f"<linkwork.Simulation of '{self._model.name}' at t = {self.t:.9g} s>"
