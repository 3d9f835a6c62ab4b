import gc
import threading
import traceback
import weakref

import numpy as np
import pytest

import linkwork as lw


def test_steps_are_those_of_a_run():
    r = lw.run("four_bar", end=0.5)
    s = lw.Simulation(lw.Model.from_file("four_bar"))
    for row in range(1, len(r)):
        assert s.step(10)
        assert s.t == pytest.approx(r.t[row], abs=1e-12)
        assert s["q.theta"] == r["q.theta"][row] and s["v.phi"] == r["v.phi"][row]
    again = lw.Simulation(lw.Model.from_file("four_bar"))
    again.advance_to(0.5)
    assert np.array_equal(again.q, s.q) and np.array_equal(again.row(), s.row())
    assert again.columns == s.columns


def test_run_gives_the_rows_from_here_on(arm):
    s = lw.Simulation(arm)
    s.advance_to(0.5)
    late = s.run()
    whole = lw.run(arm)
    assert late.t[0] > 0.5 and late.t[-1] == 1.0
    assert np.array_equal(late["q.shoulder"], whole["q.shoulder"][-len(late):])


def test_inputs_hold(arm):
    s = lw.Simulation(arm, integrator="dopri45", rtol=1e-10)
    assert list(s.u) == ["motor"] and "motor" in s.u and len(s.u) == 1 and s.u["motor"] == 0.0
    s.u["motor"] = 1.5
    assert s.u["motor"] == 1.5
    s.advance_to(0.2)
    torque = lw.run(lw.Model.from_string(arm.text, name="arm").with_force(lambda at, f: f.on_joint("shoulder", 1.5)), end=0.2,
                    integrator="dopri45", rtol=1e-10)
    assert s.q[0] == pytest.approx(torque["q.shoulder"][-1], abs=1e-9)
    s.u = {"motor": 2}
    assert dict(s.u) == {"motor": 2.0} and repr(s.u) == "{'motor': 2.0}"
    del s.u["motor"]
    assert s.u["motor"] == 0.0
    for name, value in (("engine", 1.0), ("motor", float("nan"))):
        with pytest.raises(lw.InputError, match=name):
            s.u[name] = value


def test_save_and_restore_give_the_same_bits(arm):
    s = lw.Simulation(arm)
    s.u["motor"] = 3.0
    s.step(100)
    saved = s.save()
    s.step(200)
    first = s.row()
    s.u["motor"] = -8.0
    s.step(5)
    s.restore(saved)
    assert s.u["motor"] == 3.0 and s.t == pytest.approx(0.1)
    s.step(200)
    assert np.array_equal(s.row(), first)
    other = lw.Simulation(arm)
    other.restore(saved)
    other.step(200)
    assert np.array_equal(other.row(), first)
    with pytest.raises(lw.InputError):
        lw.Simulation(lw.Model.from_file("four_bar")).restore(saved)


def test_reset_goes_back_to_the_start(arm):
    s = lw.Simulation(arm)
    start = s.q
    s.u["motor"] = 5.0
    s.step(50)
    s.reset()
    assert s.t == 0 and np.array_equal(s.q, start) and s.u["motor"] == 0.0


def test_states_can_be_set(arm):
    s = lw.Simulation(arm)
    s.q = [0.3]
    s.v = np.array([1.0])
    assert s.q[0] == 0.3 and s.v[0] == 1.0
    s.set_state(q=[0.1], v=[0.2], t=2.0)
    assert (s.t, s.q[0], s.v[0]) == (2.0, 0.1, 0.2)
    for bad in ([1.0, 2.0], [float("nan")], [[0.1]]):
        with pytest.raises(lw.InputError, match="q"):
            s.q = bad
    four_bar = lw.Simulation(lw.Model.from_file("four_bar"))
    q = four_bar.q
    q[four_bar.joints["theta"]] += 0.01
    four_bar.q = q  # the loop is closed again
    at = four_bar.evaluate()
    assert abs(at.constraint_jacobian() @ four_bar.v).max() < 1e-9
    assert max(four_bar["error.position"] if "error.position" in four_bar.columns else 0.0, 0.0) < 1e-9


def test_q_is_a_copy(arm):
    s = lw.Simulation(arm)
    q = s.q
    q[0] = 7.0
    assert s.q[0] != 7.0


def test_controllers_are_sampled(arm):
    s = lw.Simulation(arm, step=1e-3)
    times = []

    def act(sim):
        assert sim is s
        times.append(sim.t)
        sim.u["motor"] = 80 * (1 - sim.q[0]) - 12 * sim.v[0]

    s.controller(act, period=2e-3)
    s.advance_to(0.1)
    assert np.allclose(times, np.arange(51) * 2e-3, atol=1e-12)
    first = s.row()
    times.clear()
    s.reset()
    s.advance_to(0.1)
    assert len(times) == 51 and np.array_equal(s.row(), first)


def test_an_error_of_a_controller_is_raised_with_its_traceback(arm):
    s = lw.Simulation(arm)

    def guilty(sim):
        if sim.t > 0.05:
            raise ZeroDivisionError("of the controller")

    s.controller(guilty, period=0.01)
    with pytest.raises(ZeroDivisionError, match="of the controller") as error:
        s.advance_to(1.0)
    assert any(frame.name == "guilty" for frame in traceback.extract_tb(error.value.__traceback__))
    assert 0.05 < s.t < 0.07
    with pytest.raises(ZeroDivisionError) as error:
        lw.Simulation.run(s)
    assert error.value.results.columns == tuple(s.columns)


def test_a_controller_cannot_step(arm):
    s = lw.Simulation(arm)
    s.controller(lambda sim: sim.step(), period=0.01)
    with pytest.raises(RuntimeError, match="being stepped"):
        s.step()


def test_a_controller_may_evaluate(arm):
    s = lw.Simulation(arm)
    # Computed torque: the acceleration is what is asked for.
    def act(sim):
        del sim.u["motor"]
        sim.u["motor"] = sim.inverse_dynamics([-4.0 * sim.q[0] - 4.0 * sim.v[0]], actuators=["shoulder"])[0]

    s.controller(act, period=1e-3)
    s.advance_to(0.5)
    t, x0 = s.t, -0.5
    assert s.q[0] == pytest.approx(x0 * (1 + 2 * t) * np.exp(-2 * t), abs=2e-3)  # critically damped


def test_bad_controllers_are_refused(arm):
    s = lw.Simulation(arm)
    with pytest.raises(TypeError):
        s.controller("act", period=1)
    with pytest.raises(lw.InputError, match="period"):
        s.controller(lambda sim: None, period=0)


def test_another_thread_cannot_touch_a_simulation_at_work(arm):
    s = lw.Simulation(arm)
    inside, done, said = threading.Event(), threading.Event(), []

    def act(sim):
        inside.set()
        done.wait(10)

    s.controller(act, period=10.0)
    worker = threading.Thread(target=s.step)
    worker.start()
    inside.wait(10)
    for attempt in (lambda: s.q, s.step, s.evaluate):
        with pytest.raises(RuntimeError) as error:
            attempt()
        said.append(str(error.value))
    done.set()
    worker.join()
    assert said[0] == "another thread is stepping this simulation" and len(said) == 3
    assert s.q.shape == (1,)


def test_the_lock_is_released_while_stepping():
    """A thread of Python gets on while another one is stepping for long."""
    s = lw.Simulation(lw.Model.from_file("n_four_bar", n=40))
    s.step()
    worker = threading.Thread(target=s.step, args=(3000,))
    worker.start()
    count = 0
    while worker.is_alive():
        count += 1
    worker.join()
    assert count > 100


def test_threads_step_their_own_simulations_to_the_same_bits():
    m = lw.Model.from_file("four_bar")
    alone = lw.Simulation(m)
    alone.step(2000)
    simulations = [lw.Simulation(m) for _ in range(4)]
    threads = [threading.Thread(target=s.step, args=(2000,)) for s in simulations]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for s in simulations:
        assert np.array_equal(s.row(), alone.row())


def test_objects_may_be_deleted_in_any_order(arm):
    s = lw.Simulation(arm)
    u, at, saved = s.u, s.evaluate(), s.save()
    r = s.run()
    q = r["q.shoulder"]
    del s, r, arm
    gc.collect()
    u["motor"] = 1.0
    assert u["motor"] == 1.0 and at.vdot.shape == (1,) and saved.t == 0.0 and q[-1] == q[-1]
    del u
    gc.collect()
    assert at.mass_matrix().shape == (1, 1)


def test_a_simulation_that_its_controller_knows_is_collected(arm):
    s = lw.Simulation(arm)
    s.controller(lambda sim, s=s: None, period=0.1)
    s.step()
    gone = weakref.ref(s)
    del s
    gc.collect()
    assert gone() is None


def test_an_event_ends_the_motion(tmp_path):
    m = lw.Model.from_string(lw.Model.from_file("pendulum").text + """
[[event]]
name = "enough"
when = "q.theta - 4"
do = ["stop"]
""")
    s = lw.Simulation(m)
    assert s.step() is True
    assert s.advance_to(5.0) is False
    assert s.q[0] == pytest.approx(4.0, abs=1e-6)
    assert "enough" in lw.run(m).summary.status
