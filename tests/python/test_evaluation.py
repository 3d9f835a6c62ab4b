"""Evaluations against closed forms and finite differences."""

import numpy as np
import pytest

import linkwork as lw

MODELS = ["four_bar", "stewart", "bricard", "double_pendulum", "slider_crank", "rover", "spatial_four_bar"]


@pytest.fixture(params=MODELS)
def live(request):
    s = lw.Simulation(lw.Model.from_file(request.param))
    s.step(37)
    return s


def test_equations_of_motion_hold(live):
    at = live.evaluate()
    vdot, lam = live.forward_dynamics()
    assert np.array_equal(vdot, at.vdot) and np.array_equal(lam, at.lam)
    A = at.constraint_jacobian()
    left = at.mass_matrix() @ vdot + at.bias()
    right = at.applied() + A.T @ lam
    assert np.abs(left - right).max() <= 1e-9 * max(1.0, np.abs(left).max(), np.abs(right).max())
    if len(A):
        assert np.abs(A @ vdot - at.constraint_bias()).max() <= 1e-8 * max(1.0, np.abs(at.constraint_bias()).max(), np.abs(vdot).max())
        assert len(at.rows) == len(lam) == len(A)


def test_mass_matrix_gives_the_kinetic_energy(live):
    M, v = live.mass_matrix(), live.v
    assert np.allclose(M, M.T) and np.all(np.linalg.eigvalsh(M) > -1e-12)
    assert 0.5 * v @ M @ v == pytest.approx(live.kinetic_energy, rel=1e-9, abs=1e-15)
    assert live.energy.total == pytest.approx(live["energy.total"], rel=1e-9, abs=1e-9)


def test_jacobian_gives_the_velocity_of_a_point(live):
    body = live.model.bodies[-1]
    point = [0.1, -0.2, 0.3]
    J = live.jacobian(body, at=point)
    h, before = 1e-6, live.save()
    pose, v = live.pose(body), live.v
    here = pose[:3, :3] @ point + pose[:3, 3]
    predicted = J @ v
    other = lw.Simulation(live.model, step=h, integrator="rk4")
    other.set_state(q=live.q, v=live.v, t=live.t)
    other.step()
    after = other.pose(body)
    there = after[:3, :3] @ point + after[:3, 3]
    assert np.allclose((there - here) / h, predicted[:3], atol=1e-3 * max(1.0, np.abs(predicted).max()))
    turn = after[:3, :3] @ pose[:3, :3].T
    w = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / (2 * h)
    assert np.allclose(w, predicted[3:], atol=1e-3 * max(1.0, np.abs(predicted).max()))
    assert before.t == live.t


def test_inverse_dynamics_undoes_forward_dynamics(live):
    vdot, _ = live.forward_dynamics()
    tau = live.inverse_dynamics(vdot)
    scale = np.abs(live.evaluate().bias()).max() + np.abs(live.mass_matrix() @ vdot).max() + 1.0
    assert np.abs(tau).max() < 1e-8 * scale


def test_pendulum_by_hand():
    m = lw.Model.from_file("pendulum", l=2.0, m=3.0)
    for q, v in ((0.3, 0.0), (2.0, -1.5)):
        at = m.evaluate(q=[q], v=[v])
        assert at.vdot[0] == pytest.approx(-9.81 / 2.0 * np.cos(q), rel=1e-12)
        assert at.mass_matrix()[0, 0] == pytest.approx(12.0)
        assert at.kinetic_energy == pytest.approx(6.0 * v * v)
        force, torque = at.reaction("theta")
        # The pin holds the weight and what the mass needs to move on its circle.
        radial, tangential = np.array([np.cos(q), np.sin(q), 0]), np.array([-np.sin(q), np.cos(q), 0])
        accel = 2.0 * (at.vdot[0] * tangential - v * v * radial)
        assert np.allclose(force, 3.0 * (accel + [0, 9.81, 0]), atol=1e-10)
        assert at.inverse_dynamics([0.0])[0] == pytest.approx(3.0 * 9.81 * 2.0 * np.cos(q))


def test_reactions_are_the_columns_of_a_run():
    s = lw.Simulation(lw.Model.from_file("four_bar"))
    s.step(123)
    for name in ("theta", "cut"):
        force, torque = s.reaction(name)
        for values, kind in ((force, "force"), (torque, "torque")):
            assert np.allclose(values, [s[f"{kind}.{name}.{axis}"] for axis in "xyz"], rtol=1e-9, atol=1e-9)


def test_inputs_act_in_evaluations(arm):
    still, pushed = arm.evaluate(), arm.evaluate(u={"motor": 2.0})
    inertia = 2.0 * 0.36 / 3
    assert pushed.vdot[0] - still.vdot[0] == pytest.approx(2.0 / inertia)
    s = lw.Simulation(arm)
    s.u["motor"] = 2.0
    assert s.forward_dynamics()[0][0] == pytest.approx(pushed.vdot[0])


def test_wrong_names_and_shapes_are_told(arm):
    s = lw.Simulation(arm)
    for call, words in ((lambda: s.jacobian("lonk"), "link"), (lambda: s.reaction("elbow"), "shoulder"), (lambda: s.pose("x"), "link"),
                        (lambda: s.inverse_dynamics([1.0, 2.0]), "vdot"), (lambda: s.jacobian("link", at=[1, 2]), "at"),
                        (lambda: arm.evaluate(q=[1.0, 2.0]), "q"), (lambda: arm.evaluate(u={"x": 1.0}), "motor"),
                        (lambda: s["q.elbow"], "elbow")):
        with pytest.raises(lw.InputError, match=words):
            call()


def test_evaluations_know_the_mode_of_a_run():
    s = lw.Simulation(lw.Model.from_file("stick_slip_disc"))
    for _ in range(20):
        s.step(20)
        vdot, _ = s.forward_dynamics()
        row = dict(zip(s.columns, s.row()))
        for name, value in zip(s.velocities, vdot):
            assert value == pytest.approx(row[f"a.{name}"], rel=1e-6, abs=1e-6)
