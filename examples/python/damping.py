"""Identification of damping from a noisy run: a pendulum swings out, and its angle was measured with noise.

Least squares with scipy finds the damping of the bearing and where the pendulum started from.
"""

import numpy as np
from scipy.optimize import least_squares

import linkwork as lw

TRUE_DAMPING, TRUE_START, NOISE = 0.035, 0.8, 0.01


def pendulum(damping, start):
    b = lw.Builder("pendulum")
    b.settings(end=6.0, step=5e-3, output_every=0.02)
    b.parameters(c=damping, start=start)
    bob = b.body("bob", lw.rod([0, 0, 0], [0, -0.5, 0], mass=0.8))
    b.revolute("swing", b.ground, bob, position="start", damping="c")
    return b.model()


def main():
    model = pendulum(TRUE_DAMPING, TRUE_START)
    truth = lw.run(model, columns="q")
    measured = truth["q.swing"] + NOISE * np.random.default_rng(1).standard_normal(len(truth))

    def residuals(guess):
        return lw.run(model.with_parameters(c=guess[0], start=guess[1]), columns="q")["q.swing"] - measured

    found = least_squares(residuals, x0=[0.005, 0.5], x_scale=[0.01, 0.1])
    spread = NOISE * np.sqrt(np.diag(np.linalg.inv(found.jac.T @ found.jac)))
    print(f"damping {found.x[0]:.4f} +- {spread[0]:.4f} N m s/rad (true: {TRUE_DAMPING}), "
          f"start {found.x[1]:.4f} +- {spread[1]:.4f} rad (true: {TRUE_START})")


if __name__ == "__main__":
    main()
