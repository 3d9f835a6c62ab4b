"""Optimisation of a link length with scipy: which rocker of a crank-rocker linkage swings by 60 degrees?

The swing is taken from the kinematics of the linkage, and compared with the textbook: at both ends of the swing crank and coupler are
in line, which gives the rocker's angle by the cosine rule.
"""

import numpy as np
from scipy.optimize import minimize_scalar

import linkwork as lw

GROUND, CRANK, COUPLER = 1.0, 0.3, 0.9

TEXT = """
linkwork = 1
name = "crank-rocker"
[parameters]
ground = 1.0
crank = 0.3
coupler = 0.9
rocker = 0.7
[settings]
end = 1.0
output_every = 0.005
[[body]]
name = "crank"
solid = { shape = "rod", from = [0, 0, 0], to = ["crank", 0, 0], mass = 1 }
[[body]]
name = "coupler"
solid = { shape = "rod", from = [0, 0, 0], to = ["coupler", 0, 0], mass = 1 }
[[body]]
name = "rocker"
solid = { shape = "rod", from = [0, 0, 0], to = ["rocker", 0, 0], mass = 1 }
[[joint]]
name = "crank"
type = "revolute"
parent = { body = "ground" }
child = { body = "crank" }
position = 1.0
[[joint]]
name = "knee"
type = "revolute"
parent = { body = "crank", at = ["crank", 0, 0] }
child = { body = "coupler" }
position = -0.7
[[joint]]
name = "rocker"
type = "revolute"
parent = { body = "ground", at = ["ground", 0, 0] }
child = { body = "rocker" }
position = 1.5
[[closure]]
name = "pin"
type = "pin"
a = { body = "coupler", at = ["coupler", 0, 0] }
b = { body = "rocker", at = ["rocker", 0, 0] }
[[closure]]
name = "turn"
type = "drive"
joint = "crank"
value = "1.0 + 2*pi*t"
"""


def swing(rocker):
    """By the kinematics of one turn, in degrees."""
    r = lw.kinematics(lw.Model.from_string(TEXT, rocker=rocker), columns="q")
    return np.degrees(np.ptp(np.unwrap(r["q.rocker"])))


def swing_by_hand(rocker):
    def angle(reach):
        return np.arccos((GROUND**2 + rocker**2 - reach**2) / (2 * GROUND * rocker))

    return np.degrees(angle(COUPLER + CRANK) - angle(COUPLER - CRANK))


def main():
    best = minimize_scalar(lambda length: (swing(length) - 60.0) ** 2, bounds=(0.55, 0.9), method="bounded",
                           options={"xatol": 1e-5})
    print(f"a rocker of {best.x:.4f} m swings by {swing(best.x):.3f} degrees in {best.nfev} trials; "
          f"by hand {swing_by_hand(best.x):.3f} degrees")


if __name__ == "__main__":
    main()
