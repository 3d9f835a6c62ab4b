"""FMUs out and in: a motor is exported, and drives a wheel as the same law in the model does."""

import numpy as np
import pytest

import linkwork as lw

MOTOR = """
linkwork = 1
[parameters]
R = 1.0
[[body]]
name = "case"
mass = 1
[[joint]]
name = "foot"
type = "weld"
parent = { body = "ground" }
child = { body = "case" }
[[input]]
name = "voltage"
[[input]]
name = "speed"
[[state]]
name = "current"
rate = "(u.voltage - R*z.current - 0.4*u.speed)/0.05"
[[sensor]]
name = "torque"
type = "expression"
expression = "0.4*z.current"
"""

WHEEL = """
linkwork = 1
[settings]
end = 1
[[body]]
name = "wheel"
solid = { shape = "cylinder", from = [0, 0, 0], to = [0, 0, 0.1], radius = 0.2, mass = 5 }
[[joint]]
name = "shaft"
type = "revolute"
parent = { body = "ground" }
child = { body = "wheel" }
"""

FMU = """
[[fmu]]
name = "motor"
file = "motor.fmu"
inputs = { voltage = 12, speed = "v.shaft" }
parameters = { R = 1.2 }
[[force]]
type = "torque"
joint = "shaft"
value = "y.motor.s.torque"
"""

LAW = """
[[state]]
name = "current"
rate = "(12 - 1.2*z.current - 0.4*v.shaft)/0.05"
[[force]]
type = "torque"
joint = "shaft"
value = "0.4*z.current"
"""


@pytest.fixture
def wheel(tmp_path):
    (tmp_path / "motor.toml").write_text(MOTOR)
    lw.export_fmu(tmp_path / "motor.toml", tmp_path / "motor.fmu", type="me")
    (tmp_path / "wheel.toml").write_text(WHEEL + FMU)
    return tmp_path / "wheel.toml"


def test_a_motor_drives_as_its_law_does(wheel, tmp_path):
    (tmp_path / "law.toml").write_text(WHEEL + LAW)
    r, wanted = lw.run(lw.Model.from_file(wheel)), lw.run(lw.Model.from_file(tmp_path / "law.toml"))
    assert np.max(np.abs(r["q.shaft"] - wanted["q.shaft"])) < 1e-9
    assert np.max(np.abs(r["y.motor.s.torque"] - 0.4 * wanted["z.current"])) < 1e-9
    assert abs(wanted["q.shaft"][-1]) > 1


def test_a_bad_archive_is_an_error_in_words(wheel, tmp_path):
    (tmp_path / "motor.fmu").write_bytes(b"nothing")
    with pytest.raises(lw.InputError, match="not a zip archive"):
        lw.Model.from_file(wheel)
