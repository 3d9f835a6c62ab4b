"""Whole runs, and what can be asked of a model."""

import os
from itertools import product
from pathlib import Path

import numpy as np

from . import _core
from ._answer import Answer, answer
from ._errors import SimulationError
from ._model import Model


def _model(model):
    """A model, or what Model.from_file() takes."""
    return model if isinstance(model, Model) else Model.from_file(model)


def _folder_name(name):
    name = "".join("_" if c in "/\\" or ord(c) < 32 else c for c in name)
    return name if name not in ("", ".", "..") else "model"


def run(model, *, end=None, step=None, max_step=None, rtol=None, atol=None, every=None, coordinates=None, formulation=None,
        stabilization=None, integrator=None, glue=None, columns=None, threads=None, realtime=None, start_from=None,
        start_at=None, checkpoint=None, checkpoint_every=None, out=None, format="csv", no_report=False, quiet=True):
    """Simulates a model to its end and gives the rows: see Results. Options are those of 'linkwork run', by their names.

    Files are written only if `out`, a folder, is given (or `checkpoint`, which needs one: 'linkwork resume' goes on with such a
    run). Ctrl-C raises KeyboardInterrupt, and a run that cannot go on raises SimulationError: both have the rows so far as their
    attribute `results`.

    >>> import linkwork as lw
    >>> m = lw.Model.from_file("four_bar", torque=0)
    >>> r = lw.run(m, end=2, integrator="dopri45", rtol=1e-10)
    >>> r["energy.total"].std() < 1e-7
    True
    """
    model = _model(model)
    options = {name: value for name, value in locals().items() if name in _OPTIONS}
    if realtime is True:
        options["realtime"] = 1.0
    elif realtime is False:
        options["realtime"] = None
    if checkpoint is not None and out is None:
        options["out"] = out = Path("out") / _folder_name(model.name)
    results = _core.run(model._mechanism, options)
    if out is not None:
        unfinished = checkpoint is not None and not results._record.completed
        results.save(out, format="csv" if unfinished else format, report=not no_report)
    if not quiet:
        print(results)
    return results._checked()


_OPTIONS = frozenset(_core.option_names())


def kinematics(model, *, end=None, every=None, columns=None):
    """Moves a model by its drives alone, whatever its masses and forces.

    >>> import linkwork as lw
    >>> r = lw.kinematics(lw.Model.from_file("four_bar_driven"), end=0.1)
    >>> r.summary.status, "lambda.cut.x" in r
    ('done', False)
    """
    return _core.kinematics(_model(model)._mechanism, {"end": end, "every": every, "columns": columns})._checked()


def check(model):
    """What a model is, and whether it can run: the fields of 'linkwork check --json'.

    >>> import linkwork as lw
    >>> c = lw.check(lw.Model.from_file("quick_return"))
    >>> c.dof, c.loops, c.rows, c.rank
    (1, 2, 10, 4)
    """
    return answer(_core.check(_model(model)._mechanism))


class Equilibrium(Answer):
    """Where a mechanism can rest: status, iterations, residual, stable, q, reactions, efforts."""


def equilibrium(model):
    """Where a model can rest, near its start. Raises SimulationError if there is no such place.

    >>> import linkwork as lw
    >>> rest = lw.equilibrium(lw.Model.from_file("pendulum"))
    >>> rest.stable, rest.residual < 1e-9
    (True, True)
    """
    found = Equilibrium(_core.equilibrium(_model(model)._mechanism))
    if found["status"] != "found":
        error = SimulationError(f"there is no equilibrium that could be found: {found['status']}")
        error.results = found
        raise error
    return found


class Eigenvalue(complex):
    """A complex number with what it means for a vibration."""

    def __new__(cls, value):
        made = super().__new__(cls, value["re"], value["im"])
        made.re, made.im = value["re"], value["im"]
        made.frequency_hz, made.damping_ratio = value["frequency_hz"], value["damping_ratio"]
        return made


class Linearization(Answer):
    """xdot = A x + B u, y = C x + D u: states, inputs, outputs (names), A, B, C, D, at, eigenvalues. Also: A, B, C, D = l."""

    def __iter__(self):
        return iter((self["A"], self["B"], self["C"], self["D"]))


def linearize(model, at="start"):
    """The linear model of small motions about "start", "equilibrium", or a time of the motion.

    >>> import linkwork as lw
    >>> l = lw.linearize(lw.Model.from_file("pid_arm"), at="equilibrium")
    >>> A, B, C, D = l
    >>> A.shape == (len(l.states), len(l.states)), all(e.re < 0 for e in l.eigenvalues)
    (True, True)
    """
    found = dict(_core.linearize(_model(model)._mechanism, str(at)))
    n, m, p = len(found["states"]), len(found["inputs"]), len(found["outputs"])
    for name, shape in {"A": (n, n), "B": (n, m), "C": (p, n), "D": (p, m)}.items():
        found[name] = np.array(found[name], dtype=float).reshape(shape)
    eigenvalues = [Eigenvalue(value) for value in found.pop("eigenvalues")]
    linear = Linearization(found)
    linear["eigenvalues"] = eigenvalues
    return linear


class Modes(Answer):
    """Natural vibrations: modes, each with frequency_hz, damping_ratio and shape; ascending. Also a sequence of them."""

    def __iter__(self):
        return iter(self["modes"])

    def __len__(self):
        return len(self["modes"])

    def __getitem__(self, key):
        return super().__getitem__("modes")[key] if isinstance(key, (int, slice)) else super().__getitem__(key)


def modes(model, at="equilibrium", count=0):
    """The natural vibrations of a model, with their shapes. With a count, the lowest so many, which is much faster for large models.

    >>> import linkwork as lw
    >>> [round(mode.frequency_hz, 3) for mode in lw.modes(lw.Model.from_file("double_pendulum"))][:1]
    [0.381]
    """
    return Modes(_core.modes(_model(model)._mechanism, str(at), int(count)))


class Inverse(Answer):
    """Efforts of motors along a motion: columns by name, effort.<joint>, and the fields of inverse.json."""

    def __getitem__(self, key):
        if isinstance(key, str) and key in super().__getitem__("columns"):
            return super().__getitem__("values")[:, super().__getitem__("columns").index(key)]
        return super().__getitem__(key)

    @property
    def t(self):
        """The times of the rows, s."""
        return self["t"]


def inverse(model, *, actuators=(), motion=None, end=None, every=None):
    """The efforts of motors that make the motion of the drives happen, or that of a file with columns t and q.<joint>.

    >>> import linkwork as lw
    >>> i = lw.inverse(lw.Model.from_file("four_bar_driven"), end=0.1)
    >>> i["effort.theta2"].shape == i.t.shape
    True
    """
    fields, columns, values = _core.inverse(_model(model)._mechanism, _names(actuators), os.fspath(motion) if motion else "",
                                            {"end": end, "every": every})
    made = Inverse(fields)
    made["columns"], made["values"] = columns, values
    return made


def _names(given):
    return [name for name in given.split(",") if name] if isinstance(given, str) else list(given)


def export_fmu(model, file, *, fmi=2, type="cs,me"):
    """Writes a model as an FMU for other programs: inputs, outputs, parameters, tunable (of these), states, notes.

    fmi is the version, 2 or 3; type is "cs" (co-simulation), "me" (model exchange) or both.

    >>> import linkwork as lw, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     e = lw.export_fmu("four_bar", os.path.join(folder, "four_bar.fmu"), fmi=3)
    >>> e.outputs, e.states
    (['p.C.x', 'p.C.y', 'p.C.z'], 2)
    """
    return answer(_core.export_fmu(_model(model)._mechanism, str(file), fmi, type))


def sensitivity(model, measures, *, parameters=(), starts=(), method="auto", end=None):
    """How measures of a run change with parameters and start values: `measures`, each with name, value and derivatives.

    Measures are texts such as "final(q.theta)", "tip=max(p.tip.x)", "min(...)" and "integral(...)"; starts "q.theta" or "v.theta".

    >>> import linkwork as lw
    >>> s = lw.sensitivity("pendulum", ["final(q.theta)"], parameters=["l"], end=0.5)
    >>> abs(s.measures[0].derivatives.l) > 0
    True
    """
    measures = [measures] if isinstance(measures, str) else list(measures)
    return answer(_core.sensitivity(_model(model)._mechanism, measures, _names(parameters), _names(starts), method, {"end": end}))


def _as_text(value):
    return value if isinstance(value, str) else ",".join(map(str, value)) if isinstance(value, (list, tuple)) else repr(float(value))


def compare(model, *, vary=None, end=None, every=None, coordinates=None, formulations=None, stabilizations=None,
            integrators=None, steps=None, tolerances=None, reference=None, reference_rtol=None, budget=None):
    """Methods side by side on one model: error, drift and cost. Options are those of 'linkwork compare'; lists may be lists.

    `vary` has lists of values of parameters, each combination of which is a case of its own.

    >>> import linkwork as lw
    >>> c = lw.compare(lw.Model.from_file("pendulum"), end=0.2, integrators=["rk2", "rk4"], steps=[0.01])
    >>> [row.integrator for row in c.rows]
    ['rk2', 'rk4']
    """
    texts = {name: _as_text(value) for name, value in locals().items()
             if name not in ("model", "vary") and value is not None}
    model = _model(model)
    names = list(vary or {})
    cases = [dict(zip(names, values)) for values in product(*(vary or {}).values())]
    models = [(" ".join(f"{name}={value}" for name, value in case.items()),
               (model.with_parameters(set=case) if case else model)._mechanism) for case in cases]
    return answer(_core.compare(models, texts))


def study(name, *, quick=False, out=None, progress=None):
    """Reproduces a paper: the claims of study.json, with what was published and what was measured. See methods()["studies"]."""
    found = _core.study(name, quick, _READY, progress)
    if out is not None:
        import json

        folder = Path(out)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "study.json").write_text(json.dumps(found, indent=1), encoding="utf-8")
    return answer(found)


_READY = ""  # the folder of ready models, once the package knows it


def methods():
    """Names of everything that can be chosen, with a line about each: coordinates, formulations, ..., studies.

    >>> import linkwork as lw
    >>> "rk4" in lw.methods()["integrators"]
    True
    """
    return _core.methods()


def models():
    """The ready models that come with the package: names and files.

    >>> import linkwork as lw
    >>> "four_bar" in lw.models()
    True
    """
    return _core.ready_models()
