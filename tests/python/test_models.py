import pickle

import numpy as np
import pytest

import linkwork as lw

PENDULUM = """
linkwork = 1
name = "pendulum"
[parameters]
l = 0.5
[[body]]
name = "bob"
solid = { shape = "rod", from = [0, 0, 0], to = ["l", 0, 0], mass = 1 }
[[joint]]
name = "swing"
type = "revolute"
parent = { body = "ground" }
child = { body = "bob" }
"""


def test_models_are_read_from_files_texts_and_by_name(models):
    by_file = lw.Model.from_file(models / "four_bar.toml")
    by_name = lw.Model.from_file("four_bar")
    by_text = lw.Model.from_string((models / "four_bar.toml").read_text())
    assert by_file.joints == by_name.joints == by_text.joints == ("theta", "alpha", "phi")
    assert np.array_equal(lw.run(by_file, end=0.1).values, lw.run(by_text, end=0.1).values)


def test_every_ready_model_is_read():
    assert len(lw.models()) > 30
    for name in lw.models():
        assert lw.Model.from_file(name).bodies


def test_robot_files_are_read(models):
    m = lw.Model.from_file(models / "desk_lamp.urdf")
    assert m.joints and lw.check(m).dof > 0


def test_keywords_are_parameters(models):
    m = lw.Model.from_file(models / "four_bar.toml", torque=0)
    assert m.parameters == {"torque": "0"} or float(m.parameters["torque"]) == 0
    assert np.ptp(lw.run(m, end=1)["energy.total"]) < 1e-4
    longer = lw.Model.from_string(PENDULUM, l="2*0.5")
    assert longer.evaluate().mass_matrix()[0, 0] == pytest.approx(1 / 3)
    assert longer.with_parameters(l=2).evaluate().mass_matrix()[0, 0] == pytest.approx(4 / 3)
    assert lw.Model.from_string(PENDULUM.replace("l = 0.5", "name = 0.5").replace('"l"', '"name"'), set={"name": 1.0})


@pytest.mark.parametrize("text, line", [('linkwork = 1\nname = "a"\n[[body]]\nname = "b"\nmass = "heavy"\n', 5), ("name = \n", 1),
                                        ('linkwork = 1\nname = "a"\n[[joint]]\nname = "j"\ntype = "revolvo"\n', 5)])
def test_errors_have_the_place(text, line):
    with pytest.raises(lw.InputError) as error:
        lw.Model.from_string(text, name="bad.toml")
    assert (error.value.file, error.value.line) == ("bad.toml", line)
    assert error.value.column >= 1
    assert str(error.value).startswith(f"bad.toml:{line}:")
    assert isinstance(error.value, ValueError)


def test_errors_are_those_of_the_program(tmp_path, program):
    import os
    import subprocess

    file = tmp_path / "bad.toml"
    file.write_text('linkwork = 1\nname = "a"\n[[body]]\nname = "b"\nmass = -1\n')
    said = subprocess.run([os.environ["LINKWORK"], "check", file], capture_output=True, text=True, check=False).stderr
    with pytest.raises(lw.InputError) as error:
        lw.Model.from_file(file)
    assert str(error.value) in said


def test_errors_can_be_sent_between_processes():
    with pytest.raises(lw.InputError) as error:
        lw.Model.from_file("four_baz")
    again = pickle.loads(pickle.dumps(error.value))
    assert str(again) == str(error.value) and again.line == error.value.line
    assert "four_bar" in str(again)


def test_files_that_are_not_there_are_named():
    with pytest.raises(lw.InputError, match="nowhere.toml"):
        lw.Model.from_file("nowhere.toml")


def test_models_can_be_sent_between_processes(tmp_path, models, monkeypatch):
    monkeypatch.chdir(models)
    for m in (lw.Model.from_file("four_bar.toml", torque=1), lw.Model.from_string(PENDULUM, l=0.7), lw.Model.from_file("desk_lamp.urdf")):
        monkeypatch.chdir(models)
        sent = pickle.dumps(m)
        monkeypatch.chdir(tmp_path)  # another process may stand elsewhere
        again = pickle.loads(sent)
        assert np.array_equal(lw.run(again, end=0.05).values, lw.run(m, end=0.05).values)


def test_models_with_parts_in_python_are_not_sent():
    with pytest.raises(TypeError, match="make it anew"):
        pickle.dumps(lw.Model.from_string(PENDULUM).with_force(lambda at, forces: None))


def test_builder_makes_the_model_of_a_file(models):
    b = lw.Builder("pendulum")
    b.parameters(l=0.5)
    bob = b.body("bob", lw.rod([0, 0, 0], ["l", 0, 0], mass=1))
    b.revolute("swing", b.ground, bob)
    assert np.array_equal(lw.run(b.model(), end=0.3).values, lw.run(lw.Model.from_string(PENDULUM), end=0.3).values)
    assert np.array_equal(lw.run(lw.Model.from_string(b.to_toml()), end=0.3).values, lw.run(b.model(), end=0.3).values)


def test_builder_names_what_is_wrong():
    b = lw.Builder("arm")
    b.revolute("shoulder", b.ground, lw.Frame(body="upper"))
    with pytest.raises(lw.InputError, match="arm, joint 'shoulder'.*upper"):
        b.model()
    with pytest.raises(lw.InputError, match="object"):
        b.add("joint", name=object())


def test_builder_takes_numpy_and_every_joint():
    b = lw.Builder("all")
    b.settings(end=0.01)
    for i, joint in enumerate(["revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "translational", "free"]):
        body = b.body(f"body{i}", lw.box(np.zeros(3), np.ones(3) * np.float64(0.1), mass=np.float32(1)))
        getattr(b, joint)(joint, b.ground.at(np.array([i, 0, 0])), body)
    screw = b.body("nut", lw.sphere([0, 0, 0], radius=0.1, mass=1))
    b.screw("screw", b.ground, screw, pitch=0.01)
    b.body("plate", lw.mass(2.0, com=[0.1, 0, 0], inertia=np.diag([1.0, 2.0, 2.5]).tolist()))
    b.weld("weld", b.ground, lw.Frame(body="plate").turned([1, 0, 0, 0]))
    m = b.model()
    assert len(m.joints) == 10
    assert m.positions["spherical"] == slice(*(lambda i: (i[0], i[-1] + 1))([i for i, n in enumerate(m.positions) if n.startswith("spherical.")]))
    assert lw.run(m).summary.status == "done"
