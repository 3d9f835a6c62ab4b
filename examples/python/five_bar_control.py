"""PD and LQR control of a five-bar robot: two motors at the ground move a pen to a target, without gravity.

The PD controller acts on each motor by itself. The LQR controller is computed from the linear model at the target, in which the two
arms are coupled by the loop. Both are called 1000 times per second.
"""

import numpy as np
from scipy.linalg import solve_continuous_are

import linkwork as lw


def five_bar(left, right):
    """Arms of 0.2 m on pivots 0.15 m apart, forearms of 0.3 m that meet at the pen; motors stand at angles left and right."""
    b = lw.Builder("five-bar")
    b.settings(gravity=[0, 0, 0], step=1e-3, end=2.0)
    arm_1 = b.body("arm_1", lw.rod([0, 0, 0], [0.2, 0, 0], mass=0.3))
    fore_1 = b.body("fore_1", lw.rod([0, 0, 0], [0.3, 0, 0], mass=0.2))
    arm_2 = b.body("arm_2", lw.rod([0, 0, 0], [0.2, 0, 0], mass=0.3))
    fore_2 = b.body("fore_2", lw.rod([0, 0, 0], [0.3, 0, 0], mass=0.2))
    b.revolute("left", b.ground, arm_1, position=left, fixed=True, damping=0.005)
    b.revolute("elbow_1", arm_1.at(0.2, 0, 0), fore_1, position=-1.5)
    b.revolute("right", b.ground.at(0.15, 0, 0), arm_2, position=right, fixed=True, damping=0.005)
    b.revolute("elbow_2", arm_2.at(0.2, 0, 0), fore_2, position=1.5)
    b.pin("pen", fore_1.at(0.3, 0, 0), fore_2.at(0.3, 0, 0))
    for motor in ("left", "right"):
        b.torque(motor, f"u.{motor}")
        b.input(motor)
    b.sensor("pen", fore_1.at(0.3, 0, 0))
    return b.model()


START, TARGET = (2.6, 0.6), (2.2, 0.9)


def motors(s):
    """Angles and speeds of the two motors."""
    return np.array([s.position("left"), s.position("right")]), np.array([s.velocity("left"), s.velocity("right")])


def pd_controller(kp=4.0, kd=0.35):
    def act(s):
        q, v = motors(s)
        s.u["left"], s.u["right"] = kp * (np.array(TARGET) - q) - kd * v

    return act


def lqr_controller():
    """u = -K (x - x_target), which makes the integral of x' Q x + u' R u least for the linear model at the target."""
    linear = lw.linearize(five_bar(*TARGET))
    A, B, C, D = linear
    Q = np.diag([300.0 if name.startswith("q.") else 1.0 for name in linear.states])
    R = np.eye(len(linear.inputs))
    K = np.linalg.solve(R, B.T @ solve_continuous_are(A, B, Q, R))
    target = {**{f"q.{name}": value for name, value in linear["at"]["q"].items()}}
    aim = np.array([target.get(name, 0.0) for name in linear.states])

    def act(s):
        x = np.array([s.position(n[2:]) if n.startswith("q.") else s.velocity(n[2:]) for n in linear.states])
        s.u = dict(zip((name[2:] for name in linear.inputs), -K @ (x - aim)))  # "u.left" is the input "left"

    return act


def settling_time(r, pen):
    """When the pen stays within 1 mm of where it ends."""
    off = np.hypot(r["p.pen.x"] - pen[0], r["p.pen.y"] - pen[1])
    late = np.flatnonzero(off > 1e-3)
    return r.t[late[-1]] if len(late) else 0.0


def main():
    goal = lw.Simulation(five_bar(*TARGET)).row()
    columns = lw.Simulation(five_bar(*TARGET)).columns
    pen = [goal[columns.index(f"p.pen.{axis}")] for axis in "xy"]
    for name, controller in (("PD", pd_controller()), ("LQR", lqr_controller())):
        s = lw.Simulation(five_bar(*START))
        s.controller(controller, period=1e-3)
        r = s.run()
        effort = np.abs(np.stack([r["u.left"], r["u.right"]])).max()
        error = 1e3 * np.hypot(r["p.pen.x"][-1] - pen[0], r["p.pen.y"][-1] - pen[1])
        print(f"{name}: the pen settles within 1 mm after {settling_time(r, pen):.2f} s, {error:.4f} mm off in the end, "
              f"with up to {effort:.2f} N m")


if __name__ == "__main__":
    main()
