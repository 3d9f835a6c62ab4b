"""Exported FMUs, run by the importer beside: export_test.py PROGRAM."""

import csv
import math
import os
import subprocess
import sys
import unittest
import zipfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from importer import ERROR, Fmu, FmiError, Instance  # noqa: E402

PROGRAM = sys.argv[1]
del sys.argv[1:3]

ARM = """
linkwork = 1
name = "arm"
[parameters]
mass = 2.0
length = 0.8
start = 0.3
friction = 0.1
twice = "2*friction"
[settings]
end = 2.0
[[input]]
name = "motor"
value = 0.5
[[state]]
name = "filter"
start = 0.25
rate = "10*(u.motor - z.filter)"
[[body]]
name = "link"
solid = { shape = "rod", from = [0, 0, 0], to = ["length", 0, 0], mass = "mass" }
[[joint]]
name = "hinge"
type = "revolute"
parent = { body = "ground" }
child = { body = "link" }
position = "start"
damping = "twice"
[[force]]
type = "torque"
joint = "hinge"
value = "z.filter - if(q.hinge > 0.6, 3, 0)"
[[sensor]]
name = "tip"
type = "point"
body = "link"
at = ["length", 0, 0]
[[sensor]]
name = "angle"
type = "expression"
expression = "q.hinge/2 + u.motor"
"""


def program(*arguments, expect=0):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
    assert done.returncode == expect, f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def export(model, version, types="cs,me", *more):
    name = f"{os.path.splitext(os.path.basename(model))[0]}_{version}_{types.replace(',', '')}.fmu"
    program("export", "fmu", model, "-o", name, "--fmi", str(version), "--type", types, *more)
    return Fmu(name)


def direct_run(model, *options):
    """The last row of a run, by column."""
    out = f"direct_{os.path.basename(model)}_{abs(hash(options))}"
    program("run", model, "--quiet", "--no-report", "--out", out, *options)
    with open(os.path.join(out, "trajectory.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: float(value) for name, value in rows[-1].items()}


class Exported(unittest.TestCase):
    def compare(self, instance, row, tolerance, prefixes=("q.", "v.", "p.", "s.", "z.")):
        compared = 0
        for name in instance.fmu.variables:
            if name.startswith(prefixes) and name in row:
                self.assertLess(abs(instance.get(name) - row[name]), tolerance, name)
                compared += 1
        self.assertGreater(compared, 1)

    def run_both(self, model, end, h, tolerance, options=(), kinds=("cs", "me"), versions=(2, 3)):
        row = direct_run(model, "--end", str(end), *options)
        for version in versions:
            fmu = export(model, version)
            for kind in kinds:
                with self.subTest(model=model, version=version, kind=kind):
                    instance = Instance(fmu, kind)
                    instance.initialize()
                    if kind == "me":
                        instance.exchange_to(end, h)
                    else:
                        instance.step_to(end, 0.05)
                    self.compare(instance, row, 1e-9 if kind == "cs" else tolerance)
                    instance.terminate()
                    instance.free()
            fmu.close()

    def test_licences_go_along(self):
        for version in (2, 3):
            program("export", "fmu", "four_bar", "-o", f"licences_{version}.fmu", "--fmi", str(version))
            with zipfile.ZipFile(f"licences_{version}.fmu") as archive:
                text = archive.read("documentation/licenses/licenses.txt").decode()
            self.assertIn("Apache License", text)
            if os.path.exists("/usr/share/doc/libsundials-dev/copyright"):
                for package in ("libeigen3-dev", "libsundials-dev", "libfmt-dev"):
                    self.assertIn(f"Contains {package}:", text)

    def test_four_bar(self):
        self.run_both("four_bar", 1.0, 1e-3, 1e-9)

    def test_rover(self):
        self.run_both("rover", 0.1, 1e-3, 1e-8)

    def test_gripper(self):
        """Contacts with impacts, stops, friction that sticks and slides, and events that depend on time."""
        self.run_both("gripper", 1.2, 1e-3, 1e-6)

    def test_turning_over_chooses_coordinates_anew(self):
        """The crank of the four-bar turns over, and with driven coordinates the independent ones become poor."""
        self.run_both("slider_crank", 1.0, 1e-3, 1e-7, versions=(2,))  # rk4 in other coordinates

    def test_floating_body(self):
        """Turns far from where rotation vectors are counted from."""
        with open("tumbling.toml", "w", encoding="utf-8") as file:
            file.write('linkwork = 1\n[settings]\nend = 2\nstep = 1e-3\n[[body]]\nname = "box"\n'
                       'solid = { shape = "box", size = [0.1, 0.2, 0.4], mass = 1 }\n'
                       '[[joint]]\nname = "free"\ntype = "free"\nparent = { body = "ground" }\nchild = { body = "box" }\n'
                       'velocity = [1, 2, 3, 0.2, 4, 0.1]\n[[sensor]]\nname = "corner"\ntype = "point"\nbody = "box"\nat = [0.1, 0, 0.2]\n')
        self.run_both("tumbling.toml", 2.0, 1e-3, 1e-7, versions=(2,))

    def test_events_end_a_run(self):
        with open("falls.toml", "w", encoding="utf-8") as file:
            file.write('linkwork = 1\n[settings]\nend = 5\n[[body]]\nname = "b"\nsolid = { shape = "sphere", radius = 0.1, mass = 1 }\n'
                       '[[joint]]\nname = "y"\ntype = "prismatic"\naxis = [0, 1, 0]\nparent = { body = "ground" }\nchild = { body = "b" }\n'
                       'position = 1\n[[event]]\nname = "ground"\nwhen = "q.y"\ndo = ["stop"]\n')
        for version in (2, 3):
            fmu = export("falls.toml", version)
            for kind in ("cs", "me"):
                instance = Instance(fmu, kind, logging=True)
                instance.initialize()
                instance.exchange_to(5.0, 0.01) if kind == "me" else instance.step_to(5.0, 0.1)
                self.assertTrue(instance.ended)
                self.assertLess(abs(instance.get("time") - math.sqrt(2 / 9.81)), 1e-9)
                self.assertTrue(any(b"logEvents" == entry[1] for entry in instance.log))


class OfTheArm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open("arm.toml", "w", encoding="utf-8") as file:
            file.write(ARM)
        cls.fmus = [export("arm.toml", 2), export("arm.toml", 3)]

    def each(self):
        for fmu in self.fmus:
            for kind in ("cs", "me"):
                with self.subTest(version=fmu.version, kind=kind):
                    instance = Instance(fmu, kind)
                    yield instance
                    instance.free()

    def advance(self, instance, to):
        instance.exchange_to(to, 1e-3) if instance.kind == "me" else instance.step_to(to, 0.01)

    def test_description(self):
        for fmu in self.fmus:
            self.assertEqual(fmu.names("input"), ["motor"])
            self.assertEqual(sorted(fmu.names("output")), ["p.tip.x", "p.tip.y", "p.tip.z", "s.angle"])
            self.assertEqual(sorted(fmu.names("parameter")), ["friction", "length", "mass", "start"])
            self.assertEqual(fmu.names("calculatedParameter"), ["twice"])
            self.assertEqual(fmu.names("independent"), ["time"])
            self.assertEqual(fmu.states, 3)
            tunable = {name for name in fmu.variables if fmu.variables[name].get("variability") == "tunable"}
            self.assertEqual(tunable, {"friction", "length", "mass", "twice"})
            references = [node.get("valueReference") for node in fmu.variables.values()]
            self.assertEqual(len(references), len(set(references)))
            for name, node in fmu.variables.items():
                typed = node[0] if fmu.version == 2 else node
                has_start = typed.get("start") is not None
                self.assertEqual(has_start, node.get("causality") in ("input", "parameter"), name)
                if name.startswith("der("):
                    state = int(typed.get("derivative"))
                    names = list(fmu.variables)
                    of = names[state - 1] if fmu.version == 2 else next(n for n in names if fmu.reference(n) == state)
                    self.assertEqual(name, f"der({of})")
        structure = self.fmus[0].root.find("ModelStructure")
        names = list(self.fmus[0].variables)
        outputs = [names[int(unknown.get("index")) - 1] for unknown in structure.find("Outputs")]
        self.assertEqual(sorted(outputs), sorted(self.fmus[0].names("output")))
        unknowns = [int(unknown.get("index")) for unknown in structure.find("InitialUnknowns")]
        self.assertEqual(unknowns, sorted(unknowns))

    def test_binary_shows_nothing_but_the_standard(self):
        for fmu in self.fmus:
            fmu.library
            symbols = subprocess.run(["nm", "-D", "--defined-only", fmu.binary], capture_output=True, text=True, check=True).stdout
            names = {line.split()[-1] for line in symbols.splitlines()}
            self.assertTrue(names)
            self.assertEqual([name for name in names if not name.startswith(("fmi2", "fmi3"))], [])
            needed = subprocess.run(["readelf", "-d", fmu.binary], capture_output=True, text=True, check=True).stdout
            libraries = {line.split("[")[1].split("]")[0] for line in needed.splitlines() if "(NEEDED)" in line}
            self.assertLessEqual(libraries, {"libc.so.6", "libm.so.6", "libz.so.1", "libpthread.so.0", "libdl.so.2",
                                             "ld-linux-x86-64.so.2"})

    def test_same_as_direct_run_with_parameters_and_inputs(self):
        row = direct_run("arm.toml", "--set", "mass=3", "--set", "start=0.5", "--end", "1.5")
        for instance in self.each():
            instance.initialize(values={"mass": 3.0, "start": 0.5})
            self.advance(instance, 1.5)
            for name in ("q.hinge", "v.hinge", "z.filter", "p.tip.x", "s.angle"):
                self.assertLess(abs(instance.get(name) - row[name]), 1e-9, name)

    def test_inputs_and_feedthrough(self):
        for instance in self.each():
            instance.initialize()
            self.assertEqual(instance.get("motor"), 0.5)
            before = instance.get("s.angle")
            instance.set("motor", 1.5)
            self.assertAlmostEqual(instance.get("s.angle"), before + 1.0, 14)
            self.advance(instance, 1.0)
            self.assertAlmostEqual(instance.get("z.filter"), 1.5 - 1.25 * math.exp(-10), 9)

    def test_calculated_and_tunable_parameters(self):
        for instance in self.each():
            instance.initialize(values={"friction": 0.3})
            self.assertAlmostEqual(instance.get("twice"), 0.6, 15)
            self.advance(instance, 0.5)
            if instance.kind == "me":
                instance.call("EnterEventMode")
            place = instance.get("q.hinge"), instance.get("v.hinge"), instance.get("z.filter")
            instance.set("mass", 5.0)
            for name, value in zip(("q.hinge", "v.hinge", "z.filter"), place):
                self.assertAlmostEqual(instance.get(name), value, 14)
            with self.assertRaises(FmiError):
                instance.set("start", 0.0)
            self.assertIn("before the run only", instance.log[-1][2].decode())
            with self.assertRaises(FmiError):
                instance.set("q.hinge", 0.0)

    def test_state_round_trip_gives_the_same_bits(self):
        watched = ("q.hinge", "v.hinge", "z.filter", "p.tip.x", "s.angle")
        for instance in self.each():
            instance.initialize()
            instance.set("motor", 0.9)
            self.advance(instance, 0.4)
            saved = instance.save()
            data = instance.serialize(saved)
            self.advance(instance, 1.1)
            first = [instance.get(name) for name in watched]
            instance.restore(saved)
            self.advance(instance, 1.1)
            self.assertEqual([instance.get(name) for name in watched], first)
            other = Instance(instance.fmu, instance.kind)
            other.initialize()
            read = other.deserialize(data, saved)
            other.restore(read)
            self.advance(other, 1.1)
            self.assertEqual([other.get(name) for name in watched], first)
            other.forget(read)
            instance.forget(saved)
            other.free()

    def test_hundred_instances_do_not_meet(self):
        for fmu in self.fmus:
            instances = [Instance(fmu, "me" if k % 2 else "cs") for k in range(100)]
            for k, instance in enumerate(instances):
                instance.initialize(values={"start": 0.01 * k})
            for instance in instances:
                self.advance(instance, 0.02)
            angles = [instance.get("q.hinge") for instance in instances]
            self.assertEqual(len(set(angles)), 100)
            alone = Instance(fmu, "cs")
            alone.initialize(values={"start": 0.64})
            self.advance(alone, 0.02)
            self.assertEqual(alone.get("q.hinge"), angles[64])
            for instance in instances:
                instance.free()

    def test_directional_derivatives(self):
        for fmu in self.fmus:
            instance = Instance(fmu, "me")
            instance.initialize()
            self.advance(instance, 0.3)
            x = instance.states()
            unknowns = [f"der(x[{k}])" for k in (1, 2, 3)] + ["p.tip.x", "p.tip.y", "s.angle"]
            for known in ("x[1]", "x[2]", "x[3]", "motor"):
                exact = instance.directional(unknowns, [known], [1.0])
                values = []
                for by in (1e-5, -1e-5):
                    instance.set("motor", 0.5 + (by if known == "motor" else 0.0))
                    instance.place(instance.t, [v + (by if known == f"x[{k + 1}]" else 0.0) for k, v in enumerate(x)])
                    values.append([instance.get(name) for name in unknowns])
                instance.set("motor", 0.5)
                instance.place(instance.t, x)
                for name, d, a, b in zip(unknowns, exact, *values):
                    self.assertAlmostEqual(d, (a - b) / 2e-5, 6, f"{name} by {known}")
            instance.free()

    def test_errors_are_told(self):
        for fmu in self.fmus:
            with self.assertRaisesRegex(FmiError, "token"):
                Instance(fmu, "cs", token="{00000000-0000-0000-0000-000000000000}")
            instance = Instance(fmu, "cs")
            self.assertEqual(instance.status("Terminate"), ERROR)
            with self.assertRaises(FmiError):
                instance.initialize(values={"mass": -1.0})
            self.assertTrue(instance.log[-1][2])
            instance.free()

    def test_start_at_another_time_and_reset(self):
        for instance in self.each():
            instance.initialize(start=3.0)
            self.advance(instance, 3.5)
            first = instance.get("q.hinge")
            self.assertAlmostEqual(instance.get("time"), 3.5, 12)
            instance.call("Reset")
            instance.initialize()
            self.advance(instance, 0.5)
            self.assertAlmostEqual(instance.get("q.hinge"), first, 9)


class OnTheCommandLine(unittest.TestCase):
    def test_same_bytes(self):
        program("export", "fmu", "four_bar", "-o", "a.fmu")
        program("export", "fmu", "four_bar", "-o", "b.fmu")
        with open("a.fmu", "rb") as a, open("b.fmu", "rb") as b:
            self.assertEqual(a.read(), b.read())

    def test_files_of_modules_and_data_go_along(self):
        fmu = export("measured_car", 2, "cs")
        instance = Instance(fmu, "cs")
        instance.initialize()
        instance.step_to(0.1, 0.01)
        instance.free()
        fmu = export("four_bar_modules", 3, "cs")
        instance = Instance(fmu, "cs")
        instance.initialize()
        instance.step_to(0.1, 0.01)
        instance.free()

    def test_mistakes(self):
        self.assertIn("did you mean 'fmu'", program("export", "fmi", "four_bar", expect=2))
        self.assertIn("2 or 3", program("export", "fmu", "four_bar", "--fmi", "1", expect=2))
        self.assertIn("cs,me", program("export", "fmu", "four_bar", "--type", "xx", expect=2))
        self.assertIn("no_such_parameter", program("export", "fmu", "four_bar", "--set", "no_such_parameter=1", expect=2))


if __name__ == "__main__":
    unittest.main()
