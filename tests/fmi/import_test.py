"""FMUs of others in models: import_test.py PROGRAM FOLDER_OF_FIXTURES."""

import csv
import math
import os
import struct
import subprocess
import sys
import unittest
import zipfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fixtures  # noqa: E402

FOLDER = sys.argv.pop(2)
PROGRAM = sys.argv.pop(1)

PENDULUM = """
linkwork = 1
[settings]
end = {end}
step = {step}
integrator = "{integrator}"
[[body]]
name = "bob"
solid = {{ shape = "point", at = [1, 0, 0], mass = 1 }}
[[joint]]
name = "hinge"
type = "revolute"
parent = {{ body = "ground" }}
child = {{ body = "bob" }}
"""

MOTOR_LAW = """
[[state]]
name = "i"
rate = "(12 - 1.2*z.i - 0.4*v.theta)/0.05"
[[force]]
type = "torque"
joint = "theta"
value = "0.4*z.i"
"""

MOTOR_FMU = """
[[fmu]]
name = "motor"
file = "dc_motor.fmu"
inputs = {{ voltage = 12, speed = "v.theta" }}
parameters = {{ R = 1.2 }}
{more}
[[force]]
type = "torque"
joint = "theta"
value = "y.motor.torque"
"""


def program(*arguments, expect=0):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
    assert done.returncode == expect, f"{arguments}: {done.returncode}, expected {expect}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def write(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
    return name


RUNS = [0]


def run(text, *options, expect=0):
    """Rows of a run of a model text, by column."""
    RUNS[0] += 1
    model, out = write(f"model{RUNS[0]}.toml", text), f"out{RUNS[0]}"
    said = program("run", model, "--quiet", "--no-report", "--out", out, *options, expect=expect)
    if expect == 2:
        return said
    with open(os.path.join(out, "trajectory.csv"), encoding="utf-8") as file:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    return (rows, said) if expect else rows


def pendulum(more, end=2.0, step=1e-3, integrator="rk4"):
    return PENDULUM.format(end=end, step=step, integrator=integrator) + more


def fmu(name, file, more=""):
    return f'[[fmu]]\nname = "{name}"\nfile = "{file}"\n{more}\n'


class Imported(unittest.TestCase):
    def each(self, name, kinds=("me", "cs")):
        return [(version, kind, fixtures.make(name, version, FOLDER, f"{name}_{version}_{kind}.fmu", (kind,)))
                for version in (2, 3) for kind in kinds]

    def test_dahlquist(self):
        for version, kind, file in self.each("dahlquist"):
            more = "step = 0.01" if kind == "cs" else ""
            for row in run(pendulum(fmu("d", file, 'parameters = { k = 2 }\n' + more))):
                self.assertAlmostEqual(row["y.d.y"], math.exp(-2 * row["t"]), 9)

    def test_van_der_pol_as_states_of_ones_own(self):
        law = '[[state]]\nname = "a"\nstart = 2\nrate = "z.b"\n[[state]]\nname = "b"\nrate = "3*(1 - z.a^2)*z.b - z.a"\n'
        wanted = run(pendulum(law, end=5))
        for version, kind, file in self.each("van_der_pol", ("me",)):
            rows = run(pendulum(fmu("v", file, "parameters = { mu = 3 }"), end=5))
            for row, other in zip(rows, wanted):
                self.assertAlmostEqual(row["y.v.y0"], other["z.a"], 10)
                self.assertAlmostEqual(row["z.v.x1"], other["z.b"], 10)

    def test_ball_bounces(self):
        """State events are located: the heights between bounces are those of the closed form."""
        def height(t, g=9.81, e=0.7):
            flight, v = math.sqrt(2 / g), math.sqrt(2 * g)
            if t < flight:
                return 1 - g * t * t / 2
            t -= flight
            while True:
                v *= e
                if t < 2 * v / g:
                    return v * t - g * t * t / 2
                t -= 2 * v / g
        for integrator in ("rk4", "dopri45", "cvode-adams"):
            for version, kind, file in self.each("ball", ("me",)):
                rows = run(pendulum(fmu("ball", file), end=1.9, integrator=integrator), "--rtol", "1e-10", "--atol", "1e-12")
                for row in rows:
                    self.assertAlmostEqual(row["y.ball.height"], height(row["t"]), 7 if integrator == "cvode-adams" else 8)
                self.assertEqual(rows[-1]["y.ball.bounces"], 4.0)

    def test_stair_has_time_events_and_an_end(self):
        for version, kind, file in self.each("stair", ("me",)):
            rows = run(pendulum(fmu("s", file, ""), end=5, step=7e-3))
            for row in rows[:-1]:
                if abs(row["t"] / 0.2 - round(row["t"] / 0.2)) > 1e-6:
                    self.assertEqual(row["y.s.counter"], math.floor(row["t"] / 0.2 + 1e-9) + 1)
            self.assertAlmostEqual(rows[-1]["t"], 1.8, 9)

    def test_feedthrough_of_all_types(self):
        for version, kind, file in self.each("feedthrough"):
            inputs = {"real in": "2*q.hinge", "discrete_in": "if(t > 0.5, 3, 1)", "int_in": "if(t > 0.25, 7, -2)", "bool_in": "t > 0.75"}
            if version == 3:
                inputs.update({f"{kind3}_in": "if(t > 0.5, 100, 5)" for kind3 in ("Int8", "UInt8", "Int16", "UInt16", "Int64", "UInt64", "UInt32")})
            text = "inputs = { " + ", ".join(f'"{name}" = "{value}"' for name, value in inputs.items()) + " }\n"
            text += 'parameters = { offset = 0.5, text = "hello" }\noutputs = { real = "real out" }\n'
            text += "step = 0.01\n" if kind == "cs" else ""
            rows = run(pendulum(fmu("f", file, text), end=1.0))
            late = 0.0101 if kind == "cs" else 1e-9
            for row in rows:
                t = row["t"]
                if kind == "me":
                    self.assertAlmostEqual(row["y.f.real"], 2 * row["q.hinge"] + 0.5, 12)
                for column, at, before, after in (("discrete_out", 0.5, 1, 3), ("int_out", 0.25, -2, 7), ("bool_out", 0.75, 0, 1)):
                    if t < at - 1e-9 or t > at + late + 1e-9:
                        self.assertEqual(row[f"y.f.{column}"], before if t < at else after, (column, t))
                if version == 3 and (t < 0.5 - 1e-9 or t > 0.5 + late + 1e-9):
                    self.assertEqual(row["y.f.UInt16_out"], 5 if t < 0.5 else 100)

    def test_clocks_are_refused(self):
        more = '<Clock name="tick" valueReference="950" causality="input" intervalVariability="triggered"/>'
        file = fixtures.make("dahlquist", 3, FOLDER, "clocks.fmu", more=more)
        self.assertIn("clocks ('tick'), which are not supported", run(pendulum(fmu("c", file)), expect=2))

    def test_dc_motor_drives_the_slider_crank_as_the_same_law(self):
        model = program_text("slider_crank")
        wanted = run(model + MOTOR_LAW, "--end", "2", "--set", "torque=0")
        for version, kind, _ in self.each("dc_motor", ("me",)):
            fixtures.make("dc_motor", version, FOLDER, "dc_motor.fmu", (kind,))
            rows = run(model + MOTOR_FMU.format(more=""), "--end", "2", "--set", "torque=0")
            for column in ("q.theta", "v.theta", "q.x"):
                self.assertLess(max(abs(a[column] - b[column]) for a, b in zip(rows, wanted)), 1e-9)
            self.assertLess(max(abs(a["z.motor.i"] - b["z.i"]) for a, b in zip(rows, wanted)), 1e-9)

    def test_integrators_that_control_their_steps(self):
        model = program_text("slider_crank")
        fixtures.make("dc_motor", 3, FOLDER, "dc_motor.fmu", ("me",))
        options = ("--end", "1", "--set", "torque=0", "--rtol", "1e-9", "--atol", "1e-11")
        for integrator in ("dopri45", "cvode-bdf", "cvode-adams", "arkode"):
            with self.subTest(integrator=integrator):
                wanted = run(model + MOTOR_LAW, *options, "--integrator", integrator)
                rows = run(model + MOTOR_FMU.format(more=""), *options, "--integrator", integrator)
                self.assertLess(max(abs(a["q.theta"] - b["q.theta"]) for a, b in zip(rows, wanted)), 1e-7)
        self.assertIn("does not integrate", run(model + MOTOR_FMU.format(more=""), "--integrator", "ida", expect=2))

    def test_modules_with_fmus_inside(self):
        """In one piece they run, with names of the module before them; a glue refuses them."""
        fixtures.make("dahlquist", 2, FOLDER, "d.fmu", ("me",))
        write("part.toml", pendulum(fmu("d", "d.fmu", 'inputs = { u = "q.hinge" }')
                                    + '[[force]]\ntype = "torque"\njoint = "hinge"\nvalue = "0.5*y.d.y"\n[[port]]\nname = "tip"\nbody = "bob"\n'))
        wanted = run(contents("part.toml").decode())
        whole = ('linkwork = 1\n[settings]\nend = 2\nstep = 1e-3\nglue = "{}"\n[[module]]\nname = "left"\nfile = "part.toml"\n'
                 '[[body]]\nname = "other"\nmass = 1\n[[joint]]\nname = "slide"\ntype = "prismatic"\nparent = { body = "ground" }\n'
                 'child = { body = "other" }\n')
        rows = run(whole.replace("{}", "none"))
        self.assertLess(max(abs(a["q.left.hinge"] - b["q.hinge"]) for a, b in zip(rows, wanted)), 1e-12)
        self.assertLess(max(abs(a["y.left.d.y"] - b["y.d.y"]) for a, b in zip(rows, wanted)), 1e-12)
        self.assertIn("FMU 'left.d'", run(whole.replace("{}", "hierarchical"), expect=2))
        self.assertIn("FMU 'd'", program("serve", "part.toml", "--cert", "x", "--key", "x", "--ca", "x", expect=2))
        self.assertIn("FMU 'd'", program("export", "fmu", "part.toml", "-o", "no.fmu", expect=2))

    def test_fmus_as_modules(self):
        """The rocker of a four-bar as an FMU, glued to a crank and a coupler: as the same rod in a model file."""
        write("crank.toml", 'linkwork = 1\n[[body]]\nname = "crank"\nsolid = { shape = "rod", from = [0, 0, 0], to = [0.5, 0, 0], mass = 1 }\n'
              '[[body]]\nname = "coupler"\nsolid = { shape = "rod", from = [0, 0, 0], to = ["sqrt(1.25)", 0, 0], mass = 1 }\n'
              '[[joint]]\nname = "a"\ntype = "revolute"\nparent = { body = "ground" }\nchild = { body = "crank" }\nposition = "pi/2"\n'
              '[[joint]]\nname = "b"\ntype = "revolute"\nparent = { body = "crank", at = [0.5, 0, 0] }\nchild = { body = "coupler" }\n'
              'position = "atan2(0.5, 1) - pi/2"\n[[port]]\nname = "tip"\nbody = "coupler"\nat = ["sqrt(1.25)", 0, 0]\n'
              '[[force]]\ntype = "torque"\njoint = "a"\nvalue = 4\n')
        write("rocker.toml", 'linkwork = 1\n[[body]]\nname = "rod"\nsolid = { shape = "rod", from = [0, 0, 0], to = [1, 0, 0], mass = 1 }\n'
              '[[joint]]\nname = "d"\ntype = "revolute"\nparent = { body = "ground", at = [1, 0, 0] }\nchild = { body = "rod" }\nposition = "pi/2"\n'
              '[[port]]\nname = "tip"\nbody = "rod"\nat = [1, 0, 0]\n')
        whole = ('linkwork = 1\n[settings]\nend = 1\nstep = 1e-3\ngravity = [0, -9.81, 0]\nglue = "hierarchical"\n'
                 '[[module]]\nname = "left"\nfile = "crank.toml"\n[[module]]\nname = "right"\nfile = "FILE"\n'
                 '[[connection]]\nname = "pin"\ntype = "revolute"\na = "left.tip"\nb = "right.tip"\n')
        wanted = run(whole.replace("FILE", "rocker.toml"))
        for version, kind, file in self.each("pendulum", ("me",)):
            rows = run(whole.replace("FILE", file))
            self.assertGreater(abs(rows[-1]["q.left.a"] - rows[0]["q.left.a"]), 1.0)
            for mine, other in (("q.left.a", "q.left.a"), ("v.left.b", "v.left.b"), ("z.right.angle", "q.right.d")):
                self.assertLess(max(abs(a[mine] - b[other]) for a, b in zip(rows, wanted)), 1e-9, mine)
            self.assertIn("one piece", run(whole.replace("FILE", file).replace("hierarchical", "none"), expect=2))
            self.assertIn("no input 'top.tx'", run(whole.replace("FILE", file).replace("right.tip", "right.top"), expect=2))
        # It starts elsewhere, and is brought to the others.
        rows = run(whole.replace('file = "FILE"', 'file = "pendulum_2_me.fmu"\nparameters = { angle = 1.5 }'))
        self.assertLess(max(abs(math.hypot(row["y.right.tip.x"] - 1, row["y.right.tip.y"]) - 1) for row in rows), 1e-12)
        file = fixtures.make("ball", 2, FOLDER, "ball.fmu", ("me",))
        self.assertIn("has events", run(whole.replace("FILE", file), expect=2))
        file = fixtures.make("dahlquist", 2, FOLDER, "d.fmu", ("me",))
        self.assertIn("has no input 'tip.tx'", run(whole.replace("FILE", file), expect=2))

    def test_whole_numbers_change_where_they_round(self):
        for version, kind, file in self.each("feedthrough", ("me",)):
            rows = run(pendulum(fmu("f", file, 'inputs = { int_in = "10*t", discrete_in = "t" }'), end=1.0))
            for row in rows:
                if abs((10 * row["t"] + 0.5) % 1.0) > 1e-6 and abs((10 * row["t"] + 0.5) % 1.0 - 1.0) > 1e-6:
                    self.assertEqual(row["y.f.int_out"], math.floor(10 * row["t"] + 0.5), row["t"])
                self.assertAlmostEqual(row["y.f.discrete_out"], row["t"], 9)
            said = run(pendulum(fmu("f", file, 'inputs = { int_in = "1e10" }')), expect=2)
            self.assertIn("'int_in' of an FMU is 10000000000, which its type Int32 cannot hold", said)

    def test_co_simulation_converges_with_its_step(self):
        model = program_text("slider_crank")
        wanted = run(model + MOTOR_LAW, "--end", "1", "--set", "torque=0")[-1]["q.theta"]
        for version, kind, _ in self.each("dc_motor", ("cs",)):
            fixtures.make("dc_motor", version, FOLDER, "dc_motor.fmu", (kind,))
            errors = {}
            for how in ("hold", "linear"):
                for step in (4e-3, 2e-3):
                    rows = run(model + MOTOR_FMU.format(more=f'step = {step}\ninterpolation = "{how}"'), "--end", "1", "--set", "torque=0")
                    errors[how, step] = abs(rows[-1]["q.theta"] - wanted)
            self.assertLess(errors["hold", 2e-3], 0.6 * errors["hold", 4e-3])
            self.assertLess(errors["linear", 2e-3], 0.6 * errors["linear", 4e-3])
            self.assertLess(errors["linear", 2e-3], 5e-2)

    def test_fmus_drive_one_another(self):
        """A controller and a motor in a loop, which the motor's state opens."""
        fixtures.make("dc_motor", 2, FOLDER, "dc_motor.fmu", ("me",))
        fixtures.make("controller", 3, FOLDER, "controller.fmu", ("me",))
        model = program_text("slider_crank")
        both = (fmu("control", "controller.fmu", 'inputs = { wanted = "8*min(1, t)", speed = "v.theta" }')
                + fmu("motor", "dc_motor.fmu", 'inputs = { voltage = "y.control.voltage", speed = "v.theta" }')
                + '[[force]]\ntype = "torque"\njoint = "theta"\nvalue = "y.motor.torque"\n')
        law = ('[[state]]\nname = "x"\nrate = "8*min(1, t) - v.theta"\n[[state]]\nname = "i"\n'
               'rate = "(2*(8*min(1, t) - v.theta) + z.x - z.i - 0.4*v.theta)/0.05"\n'
               '[[force]]\ntype = "torque"\njoint = "theta"\nvalue = "0.4*z.i"\n')
        rows = run(model + both, "--end", "1.5", "--set", "torque=0")
        wanted = run(model + law, "--end", "1.5", "--set", "torque=0")
        self.assertLess(abs(rows[-1]["q.theta"] - wanted[-1]["q.theta"]), 1e-9)

    def test_loops_without_a_state_are_refused(self):
        file = fixtures.make("feedthrough", 2, FOLDER, "loop.fmu", ("me",))
        text = fmu("f", file, 'inputs = { "real in" = "y.f.real" }\noutputs = { real = "real out" }')
        self.assertIn("depends on itself", run(pendulum(text), expect=2))

    def test_checkpoints_go_on_to_the_same_bytes(self):
        for version, kind, file in self.each("ball"):
            text = pendulum(fmu("ball", file, "step = 0.01" if kind == "cs" else ""), end=1.5)
            model = write("resumed.toml", text)
            program("run", model, "--quiet", "--no-report", "--out", "plain")
            program("run", model, "--quiet", "--no-report", "--out", "saved", "--checkpoint", "saved.ck", "--checkpoint-every", "0.4")
            self.assertEqual(contents("plain/trajectory.csv"), contents("saved/trajectory.csv"))
            # The part after the last checkpoint again, with all files of the model gone: it has them.
            os.remove(model), os.remove(file)
            self.assertIn("resumed at t = 1.2 s", program("resume", "saved.ck", "--no-report"))
            self.assertEqual(contents("plain/trajectory.csv"), contents("saved/trajectory.csv"))
            self.assertIn("forbidden", program("resume", "saved.ck", "--no-fmu", expect=2))

    def test_fmus_that_do_not_tell_their_state_cannot_be_saved(self):
        for version, kind, file in self.each("ball"):
            file = fixtures.make("ball", version, FOLDER, "silent.fmu", (kind,), serializes=False)
            text = pendulum(fmu("ball", file, "step = 0.01" if kind == "cs" else ""), end=1.5)
            self.assertIn("'ball' does not tell its state", run(text, "--checkpoint", "silent.ck", expect=2))
        # One without a memory of its own needs none.
        file = fixtures.make("dahlquist", 2, FOLDER, "silent.fmu", ("me",), serializes=False)
        model = write("silent.toml", pendulum(fmu("d", file, 'inputs = { u = "q.hinge" }')))
        program("run", model, "--quiet", "--no-report", "--out", "plain")
        program("run", model, "--quiet", "--no-report", "--out", "saved", "--checkpoint", "saved.ck")
        program("resume", "saved.ck", "--quiet")
        self.assertEqual(contents("plain/trajectory.csv"), contents("saved/trajectory.csv"))

    def test_failures_are_told(self):
        for version, kind, file in self.each("failing"):
            text = pendulum(fmu("f", file, "step = 0.01" if kind == "cs" else ""), end=1.0)
            _, said = run(text, expect=1)
            self.assertIn("FMU 'f' fails: no value at", said)

    @unittest.skipUnless(os.path.exists(os.path.join(os.path.dirname(PROGRAM), "linkwork_fmu.so")), "built without export")
    def test_exported_fmus_import(self):
        """A filter goes out as an FMU, and comes back in."""
        write("lag.toml", 'linkwork = 1\nname = "lag"\n[parameters]\nrate = 5\n[[input]]\nname = "in"\n[[state]]\nname = "x"\n'
              'rate = "rate*(u.in - z.x)"\n[[body]]\nname = "b"\nmass = 1\n[[joint]]\nname = "j"\ntype = "prismatic"\n'
              'parent = { body = "ground" }\nchild = { body = "b" }\n[[sensor]]\nname = "out"\ntype = "expression"\nexpression = "z.x"\n')
        wanted = run(pendulum('[[state]]\nname = "x"\nrate = "7*(q.hinge - z.x)"\n'))
        for version in ("2", "3"):
            program("export", "fmu", "lag.toml", "-o", "lag.fmu", "--fmi", version)
            rows = run(pendulum(fmu("lag", "lag.fmu", 'inputs = { in = "q.hinge" }\nparameters = { rate = 7 }')))
            self.assertAlmostEqual(rows[-1]["y.lag.s.out"], wanted[-1]["z.x"], 9)


def contents(name):
    with open(name, "rb") as file:
        return file.read()


def program_text(model):
    path = os.path.join(os.environ["SOURCE_DIR"], "models", model + ".toml")
    with open(path, encoding="utf-8") as file:
        return file.read()


class Hostile(unittest.TestCase):
    def refused(self, file, *words):
        said = run(pendulum(fmu("f", file)), expect=2)
        for word in words:
            self.assertIn(word, said)

    def test_no_archive(self):
        write("text.fmu", "this is no archive")
        self.refused("text.fmu", "not a zip archive")
        write("empty.fmu", "")
        self.refused("empty.fmu", "not a zip archive")
        self.refused("absent.fmu", "absent.fmu")

    def test_paths_that_lead_out(self):
        for name in ("../evil", "/etc/evil", "resources/../../evil", "a\\b", "binaries//x"):
            file = fixtures.make("dahlquist", 2, FOLDER, "evil.fmu", extra=[(name, "x")])
            self.refused(file, "has an entry whose name")

    def test_links(self):
        with zipfile.ZipFile("link.fmu", "w") as archive:
            archive.writestr("modelDescription.xml", fixtures.description("dahlquist", 2))
            link = zipfile.ZipInfo("resources/link")
            link.create_system = 3
            link.external_attr = 0o120777 << 16
            archive.writestr(link, "/etc/passwd")
        self.refused("link.fmu", "a link or a device")

    def test_bombs(self):
        with zipfile.ZipFile("bomb.fmu", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("modelDescription.xml", fixtures.description("dahlquist", 2))
            for k in range(12):
                archive.writestr(f"resources/{k}", bytes(100 << 20))
        self.refused("bomb.fmu", "more than 1024 MB")
        with zipfile.ZipFile("small.fmu", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("modelDescription.xml", fixtures.description("dahlquist", 2) + " " * 100000)
        with open("small.fmu", "rb") as file:
            data = bytearray(file.read())
        at = data.find(b"PK\x01\x02")
        data[at + 24:at + 28] = struct.pack("<I", 10)  # says that it is small
        with open("lies.fmu", "wb") as file:
            file.write(data)
        self.refused("lies.fmu", "not of the size")

    def test_many_entries(self):
        with zipfile.ZipFile("many.fmu", "w") as archive:
            for k in range(10001):
                archive.writestr(f"{k}", "")
        self.refused("many.fmu", "entries")

    def test_descriptions(self):
        def described(text):
            with zipfile.ZipFile("described.fmu", "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("modelDescription.xml", text)
            return "described.fmu"
        good = fixtures.description("dahlquist", 2)
        self.refused(described("<a>"), "is not XML")
        self.refused(described("<a/>"), "no <fmiModelDescription>")
        self.refused(described(good.replace('"2.0"', '"1.0"')), "is of FMI 1.0", "2.0 or 3.0")
        self.refused(described(good.replace("<?xml", "<!DOCTYPE a [<!ENTITY b 'c'>]><?xml")), "document type")
        self.refused(described(good.replace('modelIdentifier="dahlquist"', 'modelIdentifier="../../x"')), "model identifier")
        self.refused(described(good.replace('derivative="1"', 'derivative="77"')), "variable 77")
        self.refused(described(good.replace('valueReference="3"', 'valueReference="-3"')), "valueReference")
        self.refused(described(good), "no binary for this platform")
        self.refused(described(" " * (65 << 20)), "more than 64 MB")
        with zipfile.ZipFile("none.fmu", "w") as archive:
            archive.writestr("x", "")
        self.refused("none.fmu", "has no modelDescription.xml")

    def test_binaries_and_tokens(self):
        self.refused(fixtures.make("dahlquist", 2, FOLDER, "windows.fmu", binary=False), "no binary for this platform", "it has: win64")
        self.refused(fixtures.make("dahlquist", 2, FOLDER, "guid.fmu", guid="{other}"), "refuses to be instantiated", "GUID {other} is wrong")
        self.refused(fixtures.make("dahlquist", 3, FOLDER, "token.fmu", guid="{other}"), "refuses to be instantiated", "token is wrong")
        with zipfile.ZipFile("junk.fmu", "w") as archive:
            archive.writestr("modelDescription.xml", fixtures.description("dahlquist", 2))
            archive.writestr("binaries/linux64/dahlquist.so", "no library")
        self.refused("junk.fmu", "cannot be loaded")

    def test_mistakes_in_the_model(self):
        file = fixtures.make("dahlquist", 2, FOLDER, "d.fmu")
        said = lambda more, extra="": run(pendulum(fmu("d", file, more) + extra), expect=2)
        self.assertIn("did you mean 'u'", said('inputs = { U = "1" }'))
        self.assertIn("parameter of the FMU 'd'", said("parameters = { kk = 1 }"))
        self.assertIn("has no 'step'", said('type = "me"\nstep = 0.1'))
        self.assertIn("step is not known", said('type = "cs"'))
        self.assertIn("output of an FMU", said("", '[[force]]\ntype = "torque"\njoint = "hinge"\nvalue = "y.d.z"\n'))
        self.assertIn("the name 'd' is taken by the fmu", said("", fmu("d", file)))
        model = write("forbidden.toml", pendulum(fmu("d", file)))
        for command in (["run"], ["check"], ["kinematics"], ["linearize"], ["export", "fmu", "-o", "no.fmu"], ["compare"], ["picture", "-o", "no.svg"],
                        ["sweep"], ["view"]):
            self.assertIn("forbidden (--no-fmu)", program(*command, model, "--no-fmu", expect=2), command)


if __name__ == "__main__":
    unittest.main()
