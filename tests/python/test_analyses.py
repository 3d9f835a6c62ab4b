import json

import numpy as np
import pytest

import linkwork as lw


def test_check_has_the_fields_of_the_program(program, models):
    for name in ("quick_return", "bricard", "four_bar"):
        assert lw.check(lw.Model.from_file(models / f"{name}.toml")) == json.loads(program("check", models / f"{name}.toml", "--json"))


@pytest.mark.parametrize("name, function, model, file", [
    ("equilibrium", lw.equilibrium, "measured_car", "equilibrium.json"), ("modes", lw.modes, "measured_car", "modes.json"),
    ("linearize", lw.linearize, "pid_arm", "linearization.json")])
def test_analyses_have_the_fields_of_the_program(name, function, model, file, program, models, tmp_path):
    program(name, models / f"{model}.toml", "--out", tmp_path / "out", "--quiet")
    written = json.loads((tmp_path / "out" / file).read_text())
    found = function(lw.Model.from_file(models / f"{model}.toml"))
    for key, value in written.items():
        mine = found[key]
        if isinstance(mine, np.ndarray):
            assert np.array_equal(mine, np.array(value).reshape(mine.shape))
        elif key == "eigenvalues":
            assert [(e.re, e.im, e.frequency_hz, e.damping_ratio) for e in mine] == [tuple(v.values()) for v in value]
            assert [complex(e) for e in mine] == [complex(v["re"], v["im"]) for v in value]
        else:
            assert mine == value and getattr(found, key) == mine


def test_a_linear_model_unpacks_and_predicts(arm):
    linear = lw.linearize(arm)
    A, B, C, D = linear
    assert (linear.states, linear.inputs) == (["q.shoulder", "v.shoulder"], ["u.motor"])
    inertia = 2.0 * 0.36 / 3
    assert B[1, 0] == pytest.approx(1 / inertia) and A[0, 1] == pytest.approx(1.0)
    assert A[1, 1] == pytest.approx(-0.02 / inertia)
    assert A[1, 0] == pytest.approx(2.0 * 9.81 * 0.3 * np.sin(-0.5) / inertia, rel=1e-7)
    assert np.allclose(np.sort_complex(np.linalg.eigvals(A)), np.sort_complex(np.array(linear.eigenvalues, dtype=complex)))
    assert linear.at.q.shoulder == pytest.approx(-0.5)


def test_modes_of_a_pendulum_by_hand(arm):
    mode, = lw.modes(arm)
    inertia = 2.0 * 0.36 / 3
    assert mode.frequency_hz == pytest.approx(np.sqrt(2.0 * 9.81 * 0.3 / inertia) / (2 * np.pi), rel=1e-6)
    assert len(lw.modes(arm)) == 1 and lw.modes(arm)[0] == mode


def test_equilibrium_that_is_not_there():
    b = lw.Builder("falling")
    b.free("fall", b.ground, b.body("stone", lw.sphere([0, 0, 0], radius=0.1, mass=1)))
    with pytest.raises(lw.SimulationError, match="equilibrium"):
        lw.equilibrium(b.model())


def test_inverse_drives_the_motion(program, models, tmp_path):
    m = lw.Model.from_file(models / "four_bar_driven.toml")
    program("inverse", models / "four_bar_driven.toml", "--out", tmp_path / "out", "--quiet", "--end", "0.2")
    rows = np.loadtxt(tmp_path / "out" / "inverse.csv", delimiter=",", skiprows=1)
    found = lw.inverse(m, end=0.2)
    assert np.array_equal(found["values"], rows)
    assert np.array_equal(found["effort.theta2"], rows[:, 1]) and np.array_equal(found.t, rows[:, 0])
    other = lw.inverse(m, actuators="theta4", end=0.2)
    assert other.actuators == ["theta4"]
    # The same power, whoever drives.
    assert np.allclose(found["effort.theta2"] * found["v.theta2"], other["effort.theta4"] * other["v.theta4"], rtol=1e-6, atol=1e-6)
    with pytest.raises(lw.InputError, match="elbow"):
        lw.inverse(m, actuators=["elbow"])


def test_sensitivities_are_differences_of_runs(arm):
    m = lw.Model.from_file("pendulum")
    found = lw.sensitivity(m, ["final(q.theta)", "work=max(v.theta)"], parameters="l", starts=["q.theta"], end=0.7)
    assert [measure.name for measure in found.measures][1] == "work"
    h = 1e-5
    runs = [lw.run(m.with_parameters(l=1 + sign * h), end=0.7)["q.theta"][-1] for sign in (1, -1)]
    first = found.measures[0]
    assert first.value == pytest.approx(lw.run(m, end=0.7)["q.theta"][-1], abs=1e-12)
    assert first.derivatives.l == pytest.approx((runs[0] - runs[1]) / (2 * h), rel=1e-6)
    with pytest.raises(lw.InputError, match="of a program"):
        lw.sensitivity(arm.with_force(lambda at, forces: None), "final(q.shoulder)", parameters="l")


def test_kinematics_is_that_of_the_program(program, models, tmp_path):
    program("kinematics", models / "four_bar_driven.toml", "--out", tmp_path / "out", "--quiet", "--end", "0.3")
    rows = np.loadtxt(tmp_path / "out" / "trajectory.csv", delimiter=",", skiprows=1)
    assert np.array_equal(lw.kinematics(lw.Model.from_file(models / "four_bar_driven.toml"), end=0.3).values, rows)
    with pytest.raises(lw.InputError):
        lw.kinematics("four_bar")


def test_compare_measures_methods():
    c = lw.compare("four_bar", end=0.3, integrators=["rk2", "rk4"], steps=[2e-3, 1e-3], stabilizations="projection", vary={"torque": [0, 6]})
    assert [(row.problem, row.integrator) for row in c.rows] == [
        (f"torque={torque}", integrator) for torque in (0, 6) for integrator in ("rk2", "rk2", "rk4", "rk4")]
    errors = np.array([row.error for row in c.rows]).reshape(2, 2, 2)
    assert np.all(errors[:, 1] < errors[:, 0])  # rk4 is better than rk2
    assert np.all((errors[:, 0, 0] / errors[:, 0, 1] > 2.5))  # second order
    with pytest.raises(lw.InputError, match="rk5"):
        lw.compare("four_bar", integrators="rk5")


def test_studies_are_known_by_name():
    assert "variable-dof" in lw.methods()["studies"]
    with pytest.raises(lw.InputError, match="variable-dof"):
        lw.study("variable-dofs")


def test_a_study_runs(tmp_path):
    said = []
    found = lw.study("variable-dof", quick=True, out=tmp_path, progress=said.append)
    assert len(found.claims) > 3 and all(claim.holds for claim in found.claims) and said
    assert json.loads((tmp_path / "study.json").read_text()) == found


def test_an_error_of_the_progress_of_a_study_ends_it():
    def stop(text):
        raise InterruptedError(text)

    with pytest.raises(InterruptedError):
        lw.study("variable-dof", quick=True, progress=stop)
