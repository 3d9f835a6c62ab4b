"""Many runs: sweeps, optimization, batches."""

import threading

import numpy as np
import pytest

import linkwork as lw


# --- sweeps

def test_rows_are_single_runs_to_the_last_bit():
    s = lw.sweep("four_bar", grid={"torque": (0, 6, 3)}, sample={"l1": ("normal", 1, 0.02)}, runs=2, measures=["final(q.theta)"],
                 keep="q.theta", end=0.2, threads=2, lanes=False)
    assert len(s) == 6 and s.done.all() and s.parameters == ("torque", "l1")
    for i in (0, 3, 5):
        alone = lw.run(lw.Model.from_file("four_bar", torque=s["torque"][i], l1=s["l1"][i]), end=0.2)
        assert s["final(q.theta)"][i] == alone["q.theta"][-1]
        assert (s.kept[i]["q.theta"] == alone["q.theta"]).all() and (s.kept[i]["t"] == alone.t).all()
        assert s["energy_drift"][i] == alone.summary.energy_drift


def test_rows_of_lanes_are_single_runs_to_rounding():
    options = dict(grid={"torque": (0, 6, 7)}, measures=["final(q.theta)"], keep="q.theta", end=0.2)
    s, alone = lw.sweep("four_bar", **options), lw.sweep("four_bar", lanes=False, **options)
    assert np.allclose(s["final(q.theta)"], alone["final(q.theta)"], rtol=0, atol=1e-12)
    assert all(np.allclose(a["q.theta"], b["q.theta"], rtol=0, atol=1e-12) for a, b in zip(s.kept, alone.kept))


def test_failures_are_rows():
    s = lw.sweep("four_bar", grid={"l1": (0.5, 9, 3)}, measures="top=max(q.phi)", end=0.05)
    assert s.done.tolist() == [True, True, False]
    assert "cut" in s.status[2] and np.isnan(s["top"][2])
    assert "2 runs" not in repr(s) and "1 failed" in repr(s)
    frame = s.to_pandas()
    assert list(frame.columns) == ["run", "l1", "status", "top", "constraint_error", "energy_drift"] and len(frame) == 3


def test_files_of_the_program(tmp_path):
    seen = []
    s = lw.sweep("four_bar", grid={"torque": "0:6:4"}, measures="max(v.theta)", end=0.1, out=tmp_path / "s", every=0.02,
                 progress=lambda done, runs: seen.append((done, runs)))
    assert seen == [(i, 4) for i in range(1, 5)]
    assert {file.name for file in (tmp_path / "s").iterdir()} >= {"sweep.csv", "sweep.json"}
    assert s["max(v.theta)"].shape == (4,)


def test_an_interrupted_sweep_goes_on(tmp_path):
    class Enough(Exception):
        pass

    def progress(done, runs):
        if done == 2:
            raise Enough

    options = dict(sample={"torque": "uniform(0, 6)"}, runs=6, measures="final(q.theta)", keep="q.phi", end=0.1)
    with pytest.raises(Enough):
        lw.sweep("four_bar", out=tmp_path / "a", progress=progress, **options)
    lw.sweep("four_bar", out=tmp_path / "a", **options)
    lw.sweep("four_bar", out=tmp_path / "b", **options)
    for name in ("sweep.csv", "kept.csv", "sweep.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_errors_in_words():
    with pytest.raises(lw.InputError, match="did you mean 'torque'"):
        lw.sweep("four_bar", grid={"torqe": (0, 1, 2)})
    with pytest.raises(lw.InputError, match="FROM is 'nan'"):
        lw.sweep("four_bar", grid={"torque": (np.nan, 1, 2)})
    with pytest.raises(lw.InputError, match="at most 10000000"):
        lw.sweep("four_bar", grid={"torque": (0, 1, 10**9)})
    with pytest.raises(lw.InputError, match="did you mean 'q.theta'"):
        lw.sweep("four_bar", grid={"torque": (0, 1, 2)}, measures="max(q.thta)")
    with pytest.raises(KeyError, match="there are: run, torque"):
        lw.sweep("four_bar", grid={"torque": (0, 1, 2)}, end=0.02)["torqe"]
    with pytest.raises(AttributeError, match="nothing was kept"):
        lw.sweep("four_bar", grid={"torque": (0, 1, 2)}, end=0.02).kept


# --- optimization

def test_a_fit_finds_what_made_the_data(tmp_path):
    made = lw.run(lw.Model.from_file("pendulum", l=0.7), end=1, every=0.05)
    fit = lw.optimize("pendulum", fit={"t": made.t, "q.theta": made["q.theta"], "v.theta": made["v.theta"]}, over={"l": (0.5, 2)},
                      out=tmp_path / "fit")
    assert abs(fit.parameters[0].value - 0.7) < 1e-6
    assert fit.parameters[0].standard_error < 1e-5 and fit.fit.degrees_of_freedom == 41
    assert (tmp_path / "fit" / "optimize.json").exists()


def test_what_does_not_converge_is_raised():
    with pytest.raises(lw.SimulationError, match="stopped after") as failure:
        lw.optimize("four_bar", minimize="rms(v.theta)", over={"torque": (0, 6), "l1": (0.9, 1.1)}, evaluations=4, end=0.05)
    assert len(failure.value.results.history) >= 4
    with pytest.raises(lw.InputError, match="nothing to change"):
        lw.optimize("four_bar", minimize="rms(v.theta)", over={})


# --- batches

def test_instances_are_simulations_to_the_last_bit():
    m = lw.Model.from_file("four_bar")
    torques = np.linspace(0, 6, 7)
    b = lw.Batch(m, 7, parameters={"torque": torques}, step=1e-3, threads=2, lanes=False)
    together = lw.Batch(m, 7, parameters={"torque": torques}, step=1e-3, threads=2)
    assert b.in_lanes == 0 and b.obstacle_to_lanes == "it was asked for so"
    assert together.in_lanes == 7 and together.obstacle_to_lanes == "" or "AVX2" in together.obstacle_to_lanes
    together.step(51)
    b.step(50)
    b.step()
    assert b.q.shape == (7, 3) and b.v.shape == (7, 3) and b.t.shape == (7,) and b.u.shape == (7, 0) and len(b) == 7
    for i in (0, 4, 6):
        s = lw.Simulation(lw.Model.from_file("four_bar", torque=torques[i]), step=1e-3)
        s.step(51)
        assert (b.q[i] == s.q).all() and (b.v[i] == s.v).all() and b.t[i] == s.t
        assert b["energy.total"][i] == s["energy.total"]
    assert np.allclose(together.q, b.q, rtol=0, atol=1e-13) and np.allclose(together.v, b.v, rtol=0, atol=1e-12)


def test_arrays_are_views():
    b = lw.Batch(lw.Model.from_file("pid_arm"), 3, step=1e-3)
    q, u = b.q, b.u
    before = q.copy()
    u[1, 0] = -1
    b.step(100)
    assert (q != before).all() and q[0, 0] == q[2, 0] != q[1, 0]
    with pytest.raises(ValueError):
        q[0, 0] = 1
    b.q = 0.25
    assert np.allclose(b.q, 0.25)
    b.u = np.nan
    b.reset([1])
    assert np.allclose(b.t, [0.1, 0, 0.1])
    kept = b.q
    del b
    assert kept.shape == (3, 1)  # the memory lives as long as the view


def test_instances_that_fail_stay():
    m = lw.Model.from_string("""
linkwork = 1
parameters = { a = 1.0 }
[[body]]
name = "mass"
solid = { shape = "point", at = [1, 0, 0], mass = 1.0 }
[[joint]]
name = "theta"
type = "revolute"
parent = { body = "ground" }
child = { body = "mass" }
axis = [0, 0, 1]
[[force]]
type = "torque"
joint = "theta"
value = "sqrt(a - t)"
""")
    b = lw.Batch(m, 3, parameters={"a": [9, 0.05, 9]}, step=0.01)
    b.step(20)
    assert b.live.tolist() == [True, False, True] and b.status[1] and not b.status[0]
    b.reset(~b.live)
    assert b.live.all() and b.t[1] == 0
    b.reset(np.array([False, False, False]))
    b.set_state(v=1.0, instances=[2])
    assert b.v[2, 0] == 1.0


def test_another_thread_is_told_and_the_lock_is_free():
    b = lw.Batch(lw.Model.from_file("rover"), 8, step=1e-3, threads=1)
    counted = 0
    worker = threading.Thread(target=lambda: b.step(400))
    worker.start()
    told = None
    while worker.is_alive():
        counted += 1
        try:
            b.step()
        except RuntimeError as error:
            told = str(error)
            break
    worker.join()
    assert told is None or "another thread" in told
    assert counted > 0


def test_batch_refuses_in_words():
    m = lw.Model.from_file("four_bar")
    with pytest.raises(lw.InputError, match="did you mean 'torque'"):
        lw.Batch(m, 2, parameters={"torqe": 1})
    with pytest.raises(lw.InputError, match="instance 1: "):
        lw.Batch(m, 2, parameters={"l1": [1, 20]})
    with pytest.raises(lw.InputError, match="a batch of 0 instances"):
        lw.Batch(m, 0)
    with pytest.raises(TypeError, match="unknown option"):
        lw.Batch(m, 2, stp=1)
    with pytest.raises(TypeError, match="takes a Model"):
        lw.Batch("four_bar", 2)
    with pytest.raises(lw.InputError, match="did you mean 'q.theta'"):
        lw.Batch(m, 2)["q.thta"]
    with pytest.raises(ValueError):
        lw.Batch(m, 2).reset(np.array([True]))
