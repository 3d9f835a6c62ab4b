"""A small importer of FMUs, written from the standard (FMI 2.0 and 3.0) and of nothing of Linkwork's: it unpacks an archive, reads its
description, calls its C functions, and simulates by co-simulation, or by Runge-Kutta steps with events located by bisection."""

import ctypes as c
import os
import shutil
import tempfile
import xml.etree.ElementTree as xml
import zipfile

OK, WARNING, DISCARD, ERROR, FATAL = range(5)
LOG2 = c.CFUNCTYPE(None, c.c_void_p, c.c_char_p, c.c_int, c.c_char_p, c.c_char_p, c.c_char_p)
LOG3 = c.CFUNCTYPE(None, c.c_void_p, c.c_int, c.c_char_p, c.c_char_p)
ALLOCATE = c.CFUNCTYPE(c.c_void_p, c.c_size_t, c.c_size_t)
FREE = c.CFUNCTYPE(None, c.c_void_p)


class Callbacks(c.Structure):
    _fields_ = [("logger", LOG2), ("allocate", ALLOCATE), ("free", FREE), ("finished", c.c_void_p), ("environment", c.c_void_p)]


class EventInfo(c.Structure):
    _fields_ = [(name, c.c_int) for name in ("again", "terminate", "nominals", "values", "has_next")] + [("next", c.c_double)]


class FmiError(Exception):
    pass


class Fmu:
    """An archive: its description, and its library once it is asked for."""

    def __init__(self, path):
        self.folder = tempfile.mkdtemp(prefix="importer-")
        with zipfile.ZipFile(path) as archive:
            archive.extractall(self.folder)
        self.root = xml.parse(os.path.join(self.folder, "modelDescription.xml")).getroot()
        self.version = int(self.root.get("fmiVersion")[0])
        self.token = self.root.get("guid" if self.version == 2 else "instantiationToken")
        self.variables = {}
        self.types = {}
        for node in self.root.find("ModelVariables"):
            self.variables[node.get("name")] = node
            self.types[node.get("name")] = node.tag if self.version == 3 else node[0].tag
        structure = self.root.find("ModelStructure")
        if self.version == 2:
            derivatives = structure.find("Derivatives")
            self.states = 0 if derivatives is None else len(derivatives)
            self.indicators = int(self.root.get("numberOfEventIndicators", "0"))
        else:
            self.states = len(structure.findall("ContinuousStateDerivative"))
            self.indicators = len(structure.findall("EventIndicator"))
        self._library = None

    @property
    def library(self):
        if self._library is None:
            kind = self.root.find("ModelExchange")
            if kind is None:
                kind = self.root.find("CoSimulation")
            folder = "linux64" if self.version == 2 else "x86_64-linux"
            self.binary = os.path.join(self.folder, "binaries", folder, kind.get("modelIdentifier") + ".so")
            self._library = c.CDLL(self.binary)
        return self._library

    def reference(self, name):
        return int(self.variables[name].get("valueReference"))

    def names(self, causality):
        return [name for name, node in self.variables.items() if node.get("causality", "local") == causality]

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class Instance:
    def __init__(self, fmu, kind, token=None, logging=False):
        """kind: "me" or "cs"."""
        self.fmu, self.kind, self.log = fmu, kind, []
        token = (fmu.token if token is None else token).encode()
        resources = os.path.join(fmu.folder, "resources")
        if fmu.version == 2:
            self._log = LOG2(lambda _, name, status, category, form, text: self.log.append((status, category, text)))
            libc = c.CDLL(None)
            libc.calloc.restype, libc.calloc.argtypes = c.c_void_p, [c.c_size_t, c.c_size_t]
            libc.free.argtypes = [c.c_void_p]
            self._callbacks = Callbacks(self._log, ALLOCATE(libc.calloc), FREE(libc.free), None, None)
            make = self._function("Instantiate", c.c_void_p)
            self.pointer = make(b"instance", c.c_int(0 if kind == "me" else 1), token, ("file://" + resources).encode(),
                                c.byref(self._callbacks), c.c_int(0), c.c_int(logging))
        else:
            self._log = LOG3(lambda _, status, category, text: self.log.append((status, category, text)))
            if kind == "me":
                make = self._function("InstantiateModelExchange", c.c_void_p)
                self.pointer = make(b"instance", token, (resources + "/").encode(), c.c_bool(False), c.c_bool(logging), None, self._log)
            else:
                make = self._function("InstantiateCoSimulation", c.c_void_p)
                self.pointer = make(b"instance", token, (resources + "/").encode(), c.c_bool(False), c.c_bool(logging), c.c_bool(False),
                                    c.c_bool(False), None, c.c_size_t(0), None, self._log, None)
        if not self.pointer:
            raise FmiError(f"not instantiated: {self.log}")
        self.next_event = float("inf")
        self.t = 0.0

    def _function(self, name, result=c.c_int):
        function = getattr(self.fmu.library, f"fmi{self.fmu.version}{name}")
        function.restype = result
        return function

    def status(self, name, *arguments):
        return self._function(name)(c.c_void_p(self.pointer), *arguments)

    def call(self, name, *arguments):
        status = self.status(name, *arguments)
        if status > WARNING:
            raise FmiError(f"{name} gives {status}: {self.log[-1:]}")

    def get(self, *names):
        references = (c.c_uint * len(names))(*[self.fmu.reference(name) for name in names])
        values = (c.c_double * len(names))()
        if self.fmu.version == 2:
            self.call("GetReal", references, c.c_size_t(len(names)), values)
        else:
            self.call("GetFloat64", references, c.c_size_t(len(names)), values, c.c_size_t(len(names)))
        return values[0] if len(names) == 1 else list(values)

    def set(self, name, value):
        reference, value = (c.c_uint * 1)(self.fmu.reference(name)), (c.c_double * 1)(value)
        if self.fmu.version == 2:
            self.call("SetReal", reference, c.c_size_t(1), value)
        else:
            self.call("SetFloat64", reference, c.c_size_t(1), value, c.c_size_t(1))

    # --- life

    def initialize(self, start=0.0, tolerance=None, values=None, stop=None):
        for name, value in (values or {}).items():
            self.set(name, value)
        has = tolerance is not None
        if self.fmu.version == 2:
            self.call("SetupExperiment", c.c_int(has), c.c_double(tolerance or 0.0), c.c_double(start), c.c_int(stop is not None),
                      c.c_double(stop or 0.0))
            self.call("EnterInitializationMode")
        else:
            self.call("EnterInitializationMode", c.c_bool(has), c.c_double(tolerance or 0.0), c.c_double(start),
                      c.c_bool(stop is not None), c.c_double(stop or 0.0))
        self.call("ExitInitializationMode")
        self.t = start
        self.ended = False
        self.events = 0
        if self.kind == "me":
            self.handle_events()
            self.call("EnterContinuousTimeMode")

    def handle_events(self):
        while True:
            if self.fmu.version == 2:
                info = EventInfo()
                self.call("NewDiscreteStates", c.byref(info))
                again, end, has_next, next_time = info.again, info.terminate, info.has_next, info.next
            else:
                flags = [c.c_bool() for _ in range(5)]
                next_value = c.c_double()
                self.call("UpdateDiscreteStates", *[c.byref(flag) for flag in flags], c.byref(next_value))
                again, end, has_next, next_time = flags[0].value, flags[1].value, flags[4].value, next_value.value
            self.ended = self.ended or bool(end)
            self.next_event = next_time if has_next else float("inf")
            if not again:
                return

    def terminate(self):
        self.call("Terminate")

    def free(self):
        self._function("FreeInstance", None)(c.c_void_p(self.pointer))
        self.pointer = None

    # --- model exchange

    def _array(self, name, count):
        values = (c.c_double * count)()
        self.call(name, values, c.c_size_t(count))
        return list(values)

    def states(self):
        return self._array("GetContinuousStates", self.fmu.states)

    def derivatives(self):
        return self._array("GetDerivatives" if self.fmu.version == 2 else "GetContinuousStateDerivatives", self.fmu.states)

    def indicators(self):
        return self._array("GetEventIndicators", self.fmu.indicators)

    def place(self, t, x):
        self.call("SetTime", c.c_double(t))
        self.call("SetContinuousStates", (c.c_double * len(x))(*x), c.c_size_t(len(x)))

    def rates(self, t, x):
        self.place(t, x)
        return self.derivatives()

    def rk4(self, t, x, h):
        along = lambda k, by: [a + by * b for a, b in zip(x, k)]
        k1 = self.rates(t, x)
        k2 = self.rates(t + h / 2, along(k1, h / 2))
        k3 = self.rates(t + h / 2, along(k2, h / 2))
        k4 = self.rates(t + h, along(k3, h))
        return [a + h / 6 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in zip(x, k1, k2, k3, k4)]

    def exchange_to(self, stop, h):
        """By steps of h, with events located by bisection."""
        while self.t < stop - 1e-12 and not self.ended:
            x, before = self.states(), self.indicators()
            end = min(self.t + h, stop, self.next_event)
            if stop - end < 1e-9 * h:
                end = stop
            crossed = lambda: any((a > 0) != (b > 0) for a, b in zip(before, self.indicators()))
            reach = lambda to: self.place(to, self.rk4(self.t, x, to - self.t))
            if end > self.t:
                reach(end)
            state_event = end > self.t and crossed()
            if state_event:
                low, high = self.t, end
                while high - low > 1e-13 * max(1.0, end):
                    middle = low + (high - low) / 2
                    if middle in (low, high):
                        break
                    reach(middle)
                    low, high = (low, middle) if crossed() else (middle, high)
                reach(high)
                end = high
            self.t = end
            event, terminate = (c.c_int(), c.c_int()) if self.fmu.version == 2 else (c.c_bool(), c.c_bool())
            flag = c.c_int(1) if self.fmu.version == 2 else c.c_bool(True)
            self.call("CompletedIntegratorStep", flag, c.byref(event), c.byref(terminate))
            if state_event or event.value or end >= self.next_event:
                self.events += 1
                self.call("EnterEventMode")
                self.handle_events()
                self.call("EnterContinuousTimeMode")

    # --- co-simulation

    def step_to(self, stop, h):
        k, start = 0, self.t
        while self.t < stop - 1e-9 * h and not self.ended:
            k += 1
            end = min(start + k * h, stop)
            self.do_step(end - self.t)

    def do_step(self, h):
        if self.fmu.version == 2:
            status = self.status("DoStep", c.c_double(self.t), c.c_double(h), c.c_int(1))
            if status == DISCARD:
                flag = c.c_int()
                self.call("GetBooleanStatus", c.c_int(3), c.byref(flag))
                self.ended = bool(flag.value)
            elif status > WARNING:
                raise FmiError(f"DoStep gives {status}: {self.log[-1:]}")
        else:
            flags, reached = [c.c_bool() for _ in range(3)], c.c_double()
            self.call("DoStep", c.c_double(self.t), c.c_double(h), c.c_bool(True), *[c.byref(flag) for flag in flags], c.byref(reached))
            self.ended = flags[1].value
        self.t += h

    # --- states

    def _state(self, name):
        return name if self.fmu.version == 2 else {"GetFMUstate": "GetFMUState", "SetFMUstate": "SetFMUState",
                                                   "FreeFMUstate": "FreeFMUState", "SerializedFMUstateSize": "SerializedFMUStateSize",
                                                   "SerializeFMUstate": "SerializeFMUState",
                                                   "DeSerializeFMUstate": "DeserializeFMUState"}[name]

    def save(self):
        state = c.c_void_p()
        self.call(self._state("GetFMUstate"), c.byref(state))
        return state, self.t, self.next_event

    def restore(self, saved):
        self.call(self._state("SetFMUstate"), saved[0])
        self.t, self.next_event = saved[1:]

    def forget(self, saved):
        self.call(self._state("FreeFMUstate"), c.byref(saved[0]))

    def serialize(self, saved):
        size = c.c_size_t()
        self.call(self._state("SerializedFMUstateSize"), saved[0], c.byref(size))
        data = (c.c_char * size.value)()
        self.call(self._state("SerializeFMUstate"), saved[0], data, size)
        return bytes(data)

    def deserialize(self, data, like):
        state = c.c_void_p()
        self.call(self._state("DeSerializeFMUstate"), data, c.c_size_t(len(data)), c.byref(state))
        return state, like[1], like[2]

    def directional(self, unknowns, knowns, seed):
        references = lambda names: (c.c_uint * len(names))(*[self.fmu.reference(name) for name in names])
        values = (c.c_double * len(unknowns))()
        along = (c.c_double * len(seed))(*seed)
        counts = (c.c_size_t(len(unknowns)), c.c_size_t(len(knowns)))
        if self.fmu.version == 2:
            self.call("GetDirectionalDerivative", references(unknowns), counts[0], references(knowns), counts[1], along, values)
        else:
            self.call("GetDirectionalDerivative", references(unknowns), counts[0], references(knowns), counts[1], along, counts[1],
                      values, counts[0])
        return list(values)
