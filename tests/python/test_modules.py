"""A module written in Python, as examples/rocker_module.h is in C++: a rod on a pivot, by the formulas of a textbook."""

import math

import numpy as np
import pytest

import linkwork as lw


class Rocker(lw.Module):
    ports, state_size, controlled_size, dof = 1, 3, 2, 1
    columns = ["q.right.phi", "v.right.phi", "a.right.phi"]
    pivot_x, length, mass, gravity, angle = 3.0, 2.5, 1.0, 9.81, 1.2648595635335869607

    def __init__(self):
        self.inertia = self.mass * self.length**2 / 3

    def start(self):
        return [self.angle, 0.0, 0.0]

    def kinematics(self, t, x):
        self.phi, self.speed, self.work = x
        c, s, l = math.cos(self.phi), math.sin(self.phi), self.length
        self.J = np.array([0, 0, 1, -l * s, l * c, 0])
        self.Jdot_v = np.array([0, 0, 0, -l * c, -l * s, 0]) * self.speed**2
        return [([[c, -s, 0], [s, c, 0], [0, 0, 1]], [self.pivot_x + l * c, l * s, 0], self.J[:3] * self.speed, self.J[3:] * self.speed)]

    def response(self, level):
        dynamic = level == "acceleration"
        self.free = -self.mass * self.gravity * self.length / 2 * math.cos(self.phi) / self.inertia if dynamic else 0.0
        R = self.J * self.free + (self.Jdot_v if dynamic else 0)
        return np.outer(self.J, self.J) / self.inertia, R, np.repeat([1.0, self.length**2], 3) / self.inertia

    def advance(self, level, Q, x):
        answer = self.free + self.J @ Q / self.inertia
        if level == "acceleration":
            return [self.speed, answer, self.J @ Q * self.speed]
        x[0 if level == "position" else 1] -= answer
        return x

    def record(self, Q):
        return self.phi, self.speed, self.free + self.J @ Q / self.inertia

    def energy(self):
        return self.inertia * self.speed**2 / 2, self.mass * self.gravity * self.length / 2 * math.sin(self.phi), self.work

    def errors(self):
        return 0.0, 0.0, abs(self.speed)


@pytest.fixture
def halves():
    return lw.Model.from_file("four_bar_modules")


def test_a_module_in_python_is_part_of_an_assembly(halves):
    ours = lw.run(halves.with_module("right", Rocker), end=1.0)
    theirs = lw.run(halves, end=1.0)
    for column in ("q.left.theta", "q.right.phi", "v.right.phi"):
        assert np.allclose(ours[column], theirs[column], rtol=0, atol=1e-8)
    assert ours["q.left.theta"][-1] == pytest.approx(2.828172, abs=1e-6)
    assert ours.summary.energy_drift < 1e-5 and ours.summary.modules.sticky.position_max < 1e-9


def test_a_module_in_python_is_stepped_too(halves):
    s = lw.Simulation(halves.with_module("right", Rocker))
    s.advance_to(0.5)
    whole = lw.Simulation(lw.Model.from_file("four_bar_modules"), glue="none")
    whole.advance_to(0.5)
    assert s["q.right.phi"] == pytest.approx(whole["q.right.phi"], abs=1e-8)


def test_glues_give_the_same_motion():
    one = lw.run("four_bar_modules", glue="none", end=0.5)
    for glue in ("hierarchical", "auto"):
        if glue in lw.methods()["glues"]:
            apart = lw.run("four_bar_modules", glue=glue, end=0.5)
            assert np.allclose(one["q.left.theta"], apart["q.left.theta"], atol=1e-7)


def test_an_error_of_a_module_is_raised(halves):
    class Broken(Rocker):
        def advance(self, level, Q, x):
            raise ArithmeticError("no answer")

    with pytest.raises(ArithmeticError, match="no answer"):
        lw.run(halves.with_module("right", Broken), end=0.1)


def test_wrong_answers_of_a_module_are_told(halves):
    class Short(Rocker):
        def start(self):
            return [1.0]

    with pytest.raises(ValueError, match=r"start\(\) should be 3 numbers"):
        lw.run(halves.with_module("right", Short), end=0.1)
    with pytest.raises(lw.InputError, match="right"):
        halves.with_module("middle", Rocker)
    with pytest.raises(NotImplementedError):
        lw.run(halves.with_module("right", lw.Module), end=0.1)
