import csv
import inspect
import re

import numpy as np
import pytest

import linkwork as lw


def read_csv(file):
    with open(file, encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    return tuple(rows[0]), np.array([[float(text) for text in row] for row in rows[1:]])


CASES = [("four_bar", {}), ("four_bar", dict(integrator="dopri45", rtol=1e-9, atol=1e-11)), ("stewart", dict(end=0.2)),
         ("four_bar", dict(coordinates="FA", formulation="lagrange", stabilization="baumgarte:alpha=5,beta=5", end=0.5)),
         ("gripper", dict(end=0.3)), ("pid_arm", dict(end=1)), ("ring_modules", dict(end=0.2)),
         ("ring_modules", dict(end=0.2, threads=2)), ("four_bar", dict(columns="q,energy.*", every=0.02, end=1, step=5e-4)),
         ("flyball_stiff", dict(integrator="cvode-bdf", end=0.2, max_step=0.01))]


@pytest.mark.parametrize("model, options", CASES)
def test_results_are_those_of_the_program_to_the_last_bit(model, options, models, program, tmp_path):
    given = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    program("run", models / f"{model}.toml", "--out", tmp_path / "out", "--no-report", "--quiet", *given)
    columns, values = read_csv(tmp_path / "out" / "trajectory.csv")
    r = lw.run(lw.Model.from_file(models / f"{model}.toml"), **options)
    assert r.columns == columns
    assert np.array_equal(r.values, values, equal_nan=True)


def test_run_has_every_option_of_the_program(program):
    shown = set(re.findall(r"--([a-z][a-z-]*)", program("run", "--help").split("Examples:")[0]))
    known = {name.replace("_", "-") for name in inspect.signature(lw.run).parameters} | {"help"}
    known |= {name.replace("_", "-") for name in inspect.signature(lw.Model.from_file).parameters}
    assert len(shown) > 20
    assert shown - known == {"rank-timeout", "no-fmu"}  # of mpirun; of the program, see docs/python.md


def test_compare_has_every_option_of_the_program(program):
    shown = set(re.findall(r"^\s+--([a-z][a-z-]*)", program("compare", "--help").split("Examples:")[0], re.MULTILINE))
    known = {name.replace("_", "-") for name in inspect.signature(lw.compare).parameters}
    assert len(shown) > 10
    assert shown - known == {"set", "loops", "fixed-base", "package", "no-fmu", "out", "quiet"} & shown - known


def test_arrays_are_in_the_memory_of_the_results():
    r = lw.run("four_bar", end=0.5)
    theta = r["q.theta"]
    assert np.shares_memory(theta, r.values) and np.shares_memory(r.t, r.values) and theta.base is not None
    assert theta.strides[0] == 8 * len(r.columns)
    assert not theta.flags.writeable
    address = theta.__array_interface__["data"][0]
    assert r["q.theta"].__array_interface__["data"][0] == address
    with pytest.raises(ValueError):
        theta[0] = 1.0


def test_arrays_outlive_the_results():
    theta = lw.run("four_bar", end=0.5)["q.theta"]
    before = theta.copy()
    junk = [lw.run("four_bar", end=0.5, columns="v") for _ in range(5)]
    assert np.array_equal(theta, before) and junk


def test_columns_are_found_by_name_and_pattern():
    r = lw.run("four_bar", end=0.1)
    assert r.matching("q.*", "v.theta") == ["q.theta", "q.alpha", "q.phi", "v.theta"]
    assert "q.theta" in r and "q.tetha" not in r and list(r)[0] == "t"
    with pytest.raises(KeyError, match="q.theta"):
        r["theta"]


def test_bad_options_are_told_by_name():
    for options, words in [(dict(end=-1), "end: is -1.*positive"), (dict(integrator="rk5"), "rk5"), (dict(end="long"), "end: is 'long'"),
                           (dict(threads=0), "threads"), (dict(columns=["nothing"]), "nothing"), (dict(step=float("nan")), "step"),
                           (dict(threads=2), "threads"), (dict(realtime=1, integrator="dopri45"), "realtime"),
                           (dict(columns=[]), "columns"), (dict(integrator=3), "integrator"), (dict(end=[1]), "end")]:
        with pytest.raises((lw.InputError, TypeError), match=words):
            lw.run("four_bar", **options)
    with pytest.raises(TypeError):
        lw.run("four_bar", stpe=1)


def test_files_are_those_of_the_program(models, program, tmp_path):
    program("run", models / "four_bar.toml", "--end", "1", "--out", tmp_path / "program", "--quiet")
    m = lw.Model.from_file(models / "four_bar.toml")
    lw.run(m, end=1, out=tmp_path / "python")
    for file in ("trajectory.csv", "scene.json"):
        assert (tmp_path / "program" / file).read_bytes() == (tmp_path / "python" / file).read_bytes()
    assert {file.name for file in (tmp_path / "program").iterdir()} == {file.name for file in (tmp_path / "python").iterdir()}
    program("report", tmp_path / "python", "-o", tmp_path / "page.html")


def test_formats(tmp_path):
    h5py, scipy_io = pytest.importorskip("h5py"), pytest.importorskip("scipy.io")
    r = lw.run("four_bar", end=0.2, out=tmp_path / "h5", format="hdf5")
    with h5py.File(tmp_path / "h5" / "trajectory.h5") as file:
        assert np.array_equal(file["q.theta"][:], r["q.theta"])
    r.save(tmp_path / "mat", format="mat", report=False)
    assert np.array_equal(scipy_io.loadmat(tmp_path / "mat" / "trajectory.mat", simplify_cells=True)["q"]["theta"], r["q.theta"])
    assert not (tmp_path / "mat" / "report.html").exists()
    with pytest.raises(lw.InputError, match="format"):
        r.save(tmp_path / "x", format="xls")


def test_a_run_starts_from_another(tmp_path):
    first = lw.run("four_bar", end=1, out=tmp_path / "first")
    second = lw.run("four_bar", end=1, start_from=f"{tmp_path / 'first'}@0.5")
    row = np.searchsorted(first.t, 0.5 - 1e-9)
    assert second["q.theta"][0] == pytest.approx(first["q.theta"][row], abs=1e-9)
    assert second["v.theta"][0] == pytest.approx(first["v.theta"][row], abs=1e-9)
    assert any("the start is the state of" in note for note in second.summary.notes)


def test_a_run_starts_at_rest():
    rest = lw.equilibrium("measured_car")
    r = lw.run("measured_car", end=0.01, start_at="equilibrium")
    for name, value in rest.q.items():
        assert r["q." + name][0] == pytest.approx(value, abs=1e-9)
    assert max(abs(r[column][0]) for column in r.columns if column.startswith("v.")) < 1e-12
    assert lw.Simulation(lw.Model.from_file("measured_car"), start_at="equilibrium").q == pytest.approx(list(rest.q.values()), abs=1e-9)
    with pytest.raises(lw.InputError, match="start_at"):
        lw.run("measured_car", start_at="noon")
    with pytest.raises(lw.InputError, match="one of them"):
        lw.run("measured_car", start_at="equilibrium", start_from="x")


@pytest.mark.parametrize("make", [lambda models: lw.Model.from_file(models / "four_bar.toml", torque=2),
                                  lambda models: lw.Model.from_string((models / "four_bar.toml").read_text(), torque=2)])
def test_an_interrupted_run_is_resumed_by_the_program(make, models, program, tmp_path):
    whole = lw.run(make(models), end=1)
    lw.run(make(models), end=1, checkpoint=tmp_path / "run.ckpt", checkpoint_every=0.3, out=tmp_path / "out", no_report=True)
    # The last checkpoint is that of t = 0.9: what came after it is written once more.
    rows = (tmp_path / "out" / "trajectory.csv").read_text().splitlines(keepends=True)
    (tmp_path / "out" / "trajectory.csv").write_text("".join(rows[:-3]))
    program("resume", tmp_path / "run.ckpt", "--quiet", "--no-report")
    columns, values = read_csv(tmp_path / "out" / "trajectory.csv")
    assert columns == whole.columns and np.allclose(values, whole.values, rtol=0, atol=1e-9)


def test_checkpoints_need_a_model_that_can_be_saved(tmp_path, arm):
    with pytest.raises(lw.InputError, match="checkpoint"):
        lw.run(arm.with_force(lambda at, forces: None), checkpoint=tmp_path / "x.ckpt", out=tmp_path)


def test_real_time_is_kept():
    r = lw.run("four_bar", end=0.1, realtime=True)
    assert r.summary.realtime.factor == 1 and r.summary.realtime.steps == 100
    assert r.summary.wall_seconds >= 0.09


def test_a_run_that_cannot_go_on_keeps_its_rows(arm):
    def grow(at, forces):
        forces.on_joint("shoulder", 1e3 if at.t < 0.5 else float("nan"))

    with pytest.raises(lw.SimulationError, match="not finite") as error:
        lw.run(arm.with_force(grow), end=1)
    assert 45 <= len(error.value.results) <= 52
    assert error.value.results.summary.status.startswith("stopped")


def test_an_error_of_a_force_is_raised_with_its_traceback(arm):
    def force(at, forces):
        forces.on_joint("elbow", 1.0)

    with pytest.raises(lw.InputError, match="elbow") as error:
        lw.run(arm.with_force(force))
    assert any(entry.name == "force" for entry in error.traceback)


def test_forces_in_python_keep_the_energy_balance(arm):
    k = 3.0
    spring = arm.with_force(lambda at, forces: forces.on_joint("shoulder", -k * at.q("shoulder")), name="spring",
                            potential=lambda at: 0.5 * k * at.q("shoulder") ** 2)
    r = lw.run(spring)
    assert r.summary.energy_drift < 1e-9

    def pull(at, forces):  # the same by a force on the body
        p, w = at.position("link", [0.6, 0, 0]), at.twist("link")[0]
        forces.on("link", force=[0, -5.0 * p[1], 0], at=[0.6, 0, 0])
        forces.on("link", torque=-0.1 * w)

    dragged = lw.run(arm.with_force(pull, name="drag"))
    assert dragged.summary.energy_drift < 1e-8
    same = lw.run(arm.with_force(
        lambda at, forces: forces.on_joint("shoulder", -5.0 * (0.6 * np.sin(at.q("shoulder"))) * 0.6 * np.cos(at.q("shoulder"))
                                           - 0.1 * at.v("shoulder")), name="drag"))
    assert np.allclose(dragged["q.shoulder"], same["q.shoulder"], atol=1e-10)


def test_what_a_force_is_given_is_known_only_there(arm):
    kept = []
    lw.run(arm.with_force(lambda at, forces: kept.append((at, forces))), end=0.01)
    with pytest.raises(RuntimeError, match="only while"):
        kept[0][0].q("shoulder")
    with pytest.raises(RuntimeError, match="only while"):
        kept[0][1].on_joint("shoulder", 1.0)


def test_the_program_runs_in_python(tmp_path):
    import os
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-m", "linkwork", "run", "four_bar", "--end", "0.1"], cwd=tmp_path, text=True,
                          env=dict(os.environ), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "four-bar: 3 bodies" in done.stdout and (tmp_path / "out/four-bar/summary.json").exists()
    wrong = subprocess.run([sys.executable, "-m", "linkwork", "run", "four_baz"], cwd=tmp_path, text=True, capture_output=True, check=False)
    assert wrong.returncode == 2 and "did you mean 'four_bar'" in wrong.stderr
