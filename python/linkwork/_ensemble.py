"""Many runs: sweeps over parameters, optimization, and batches that are stepped together."""

import csv
import os
import tempfile
import warnings
from pathlib import Path

import numpy as np

from . import _core
from ._answer import answer
from ._errors import SimulationError, needed
from ._model import Model
from ._run import _model, _names

_METHODS = ("end", "step", "max_step", "rtol", "atol", "every", "coordinates", "formulation", "stabilization", "integrator", "glue",
            "columns")


def _options(options):
    unknown = [name for name in options if name not in _METHODS]
    if unknown:
        raise TypeError(f"unknown option '{unknown[0]}'; known are: {', '.join(_METHODS)}")
    return options


def _given(arguments):
    return {name: value for name, value in arguments.items() if name in _METHODS}


def _threads(threads):
    return int(threads) if threads is not None else os.cpu_count() or 1


def _texts(given):
    return [given] if isinstance(given, str) else list(given)


def _grid(name, values):
    return f"{name}={values}" if isinstance(values, str) else "{}={!r}:{!r}:{}".format(name, *(float(v) for v in values[:2]), values[2])


def _sample(name, values):
    return f"{name}={values}" if isinstance(values, str) else "{}={}({!r},{!r})".format(name, values[0], *map(float, values[1:]))


class Sweep:
    """The runs of a sweep: a row per run, in order. Columns are numpy arrays, by name: parameters, measures, constraint_error,
    energy_drift; numbers that a run does not have are NaN.

    >>> import linkwork as lw
    >>> s = lw.sweep("pendulum", grid={"l": (0.5, 1.5, 3)}, measures=["swing=max(q.theta)"], end=0.5)
    >>> len(s), s["l"].tolist(), s.done.all()
    (3, [0.5, 1.0, 1.5], True)
    """

    def __init__(self, parameters, measures, kept, folder):
        self.parameters, self.measures, self.kept_columns = tuple(parameters), tuple(measures), tuple(kept)
        with open(Path(folder) / "sweep.csv", newline="", encoding="utf-8") as file:
            head, *rows = csv.reader(file)
        self.columns = tuple(name for name in head if name != "status")
        place = head.index("status")
        self.status = [row[place] for row in rows]
        numbers = [[float(field) if field else np.nan for k, field in enumerate(row) if k != place] for row in rows]
        self.values = np.array(numbers, dtype=float).reshape(len(rows), len(self.columns))
        self._kept = self._read_kept(Path(folder) / "kept.csv") if self.kept_columns else None

    def _read_kept(self, file):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of files without rows
            values = np.genfromtxt(file, delimiter=",", skip_header=1, ndmin=2).reshape(-1, 2 + len(self.kept_columns))
        names = ("t", *self.kept_columns)
        ends = np.searchsorted(values[:, 0], np.arange(1, len(self) + 1), side="right")
        rows = np.split(values[:, 1:], ends[:-1])
        return [dict(zip(names, each.T)) for each in rows]

    @property
    def done(self):
        """Which runs came to their end: an array of bool."""
        return np.array([status.startswith("done") for status in self.status])

    @property
    def kept(self):
        """Of each run, what `keep` asked for: a dict of arrays by column, and "t"."""
        if self._kept is None:
            raise AttributeError("nothing was kept: sweep(..., keep=[...])")
        return self._kept

    def __len__(self):
        return len(self.status)

    def __getitem__(self, column):
        """A column of all runs: s["tip"]."""
        try:
            return self.values[:, self.columns.index(column)]
        except ValueError:
            raise KeyError(f"there is no column '{column}'; there are: {', '.join(self.columns)}") from None

    def __contains__(self, column):
        return column in self.columns

    def to_pandas(self):
        """A DataFrame with a row per run."""
        pandas = needed("pandas", "to_pandas()")
        frame = pandas.DataFrame(self.values, columns=self.columns)
        frame.insert(1 + len(self.parameters), "status", self.status)
        return frame

    def __repr__(self):
        failed = int((~self.done).sum())
        return f"<linkwork.Sweep of {len(self)} runs{f', {failed} failed' if failed else ''}: {', '.join(self.columns)}>"


def sweep(model, *, grid=None, sample=None, runs=None, sampling="random", seed=1, measures=(), keep=(), trajectories=False,
          lanes=True, threads=None, out=None, restart=False, progress=None, end=None, step=None, max_step=None, rtol=None, atol=None,
          every=None, coordinates=None, formulation=None, stabilization=None, integrator=None, glue=None, columns=None):
    """Runs a model many times with other parameters, as 'linkwork sweep' does: see Sweep.

    `grid` has ranges of parameters (from, to, count); `sample` distributions, "normal(m,s)", "uniform(a,b)" or "lognormal(m,s)",
    of which `runs` samples are drawn. `measures` are texts such as "tip=max(p.tip.x)"; `keep` columns of every run. Other options
    are those of run(). Files are written only if `out`, a folder, is given: a sweep that was stopped goes on there.
    `progress(done, runs)` is called after each run. Where they can be, runs are computed several at a time, which rounds otherwise than
    run() does; with `lanes=False` they have its bits.

    >>> import linkwork as lw
    >>> s = lw.sweep("four_bar", sample={"torque": "normal(6, 0.5)"}, runs=4, sampling="sobol", measures="final(q.theta)", end=0.2)
    >>> s["final(q.theta)"].shape
    (4,)
    """
    options = _given(locals())
    request = {"grids": [_grid(name, values) for name, values in (grid or {}).items()],
               "samples": [_sample(name, values) for name, values in (sample or {}).items()],
               "runs": runs, "sampling": sampling, "seed": seed, "measures": _texts(measures), "keep": _names(keep),
               "trajectories": trajectories, "lanes": lanes, "threads": _threads(threads)}
    mechanism = _model(model)._mechanism

    def made(folder, with_page):
        return Sweep(*_core.sweep(mechanism, request, options, str(folder), restart, with_page, progress), folder)

    if out is not None:
        return made(Path(out), True)
    with tempfile.TemporaryDirectory() as folder:
        return made(folder, False)


def optimize(model, *, over, minimize=None, maximize=None, fit=None, fit_columns=(), method="auto", evaluations=500,
             tolerance=1e-6, threads=None, out=None, end=None, step=None, max_step=None, rtol=None, atol=None, coordinates=None,
             formulation=None, stabilization=None, integrator=None, glue=None):
    """The parameters within bounds that make a measure least or largest, or that fit data best: the fields of optimize.json.

    `over` has bounds, {"l": (0.5, 2)}. `fit` is a file with columns t and those of the model, or a dict of arrays. Other options are
    those of run(). Raises SimulationError if no optimum is found within `evaluations` runs; its attribute `results` has the best so far.

    >>> import linkwork as lw
    >>> best = lw.optimize("pendulum", minimize="final(q.theta)", over={"l": (0.8, 1.2)}, end=0.4)
    >>> best.status, best.parameters[0].name
    ('converged', 'l')
    """
    options = _given(locals())
    request = {"over": [f"{name}={bounds}" if isinstance(bounds, str) else "{}={!r}:{!r}".format(name, *map(float, bounds))
                        for name, bounds in over.items()],
               "minimize": minimize, "maximize": maximize, "fit_columns": _names(fit_columns), "method": method,
               "evaluations": evaluations, "tolerance": tolerance, "threads": _threads(threads)}
    mechanism, folder = _model(model)._mechanism, "" if out is None else os.fspath(out)

    def found(data):
        return answer(_core.optimize(mechanism, {**request, "fit": data}, options, folder))

    if isinstance(fit, dict):
        with tempfile.TemporaryDirectory() as place:
            file = Path(place) / "data.csv"
            np.savetxt(file, np.column_stack(list(fit.values())), fmt="%.17g", delimiter=",", header=",".join(fit), comments="")
            result = found(str(file))
    else:
        result = found(os.fspath(fit) if fit is not None else None)
    if result.status != "converged":
        error = SimulationError(result.status)
        error.results = result
        raise error
    return result


class Batch(_core.Batch):
    """Many instances of a model that are stepped together on all processors: arrays of shape (n, ...).

    Each moves as a Simulation of its own would: to rounding, or, with `lanes=False`, which takes longer, to the last bit. `parameters`
    has a value for each instance; `u` is an array to write into, in which NaN leaves an input to the model. An instance that fails
    stays where it was: see `live` and `status`.

    >>> import linkwork as lw
    >>> import numpy as np
    >>> b = lw.Batch(lw.Model.from_file("pendulum"), 8, parameters={"l": np.linspace(0.5, 2, 8)}, step=1e-3)
    >>> b.step(100)
    >>> b.q.shape, b.t[0].round(9), b.live.all()
    ((8, 1), 0.1, True)
    """

    def __init__(self, model, count, *, parameters=None, threads=None, lanes=True, **options):
        if not isinstance(model, Model):
            raise TypeError(f"a Batch takes a Model, not {type(model).__name__}")
        values = {name: np.broadcast_to(np.asarray(each, dtype=float), (count,)).tolist() for name, each in (parameters or {}).items()}
        super().__init__(model._mechanism, count, values, _options(options), _threads(threads), lanes)
        self._model = model

    @property
    def model(self):
        """What is simulated."""
        return self._model

    @property
    def joints(self):
        """Names of the columns of q; b.joints["theta"] is the place of one."""
        return self._model.positions

    @property
    def velocities(self):
        """Names of the columns of v."""
        return self._model.velocities

    @property
    def inputs(self):
        """Names of the columns of u."""
        return self._model.inputs

    @property
    def t(self):
        """The time of each instance, s. It changes with every step."""
        return self._view_t()

    @property
    def q(self):
        """Positions, a row per instance, in the order of `joints`. They change with every step; assigned, they are moved onto the
        constraints."""
        return self._view_q()

    @q.setter
    def q(self, values):
        self.set_state(q=values)

    @property
    def v(self):
        """Velocities, in the order of `velocities`; assigned, they are made to meet the constraints."""
        return self._view_v()

    @v.setter
    def v(self, values):
        self.set_state(v=values)

    @property
    def u(self):
        """Inputs, in the order of `inputs`, from the next step on: b.u[:, 0] = 2.0. NaN leaves one to the model."""
        return self._view_u()

    @u.setter
    def u(self, values):
        self._view_u()[...] = values

    @property
    def live(self):
        """Which instances can go on: an array of bool."""
        return np.array([status == "" for status in self.status])

    def set_state(self, q=None, v=None, instances=None):
        """Other positions and velocities, of all or of some instances (indices, or an array of bool)."""
        chosen = self._indices(instances)
        if chosen is not None and not chosen:
            return
        count = len(self) if chosen is None else len(chosen)
        rows = [None if each is None else np.ascontiguousarray(np.broadcast_to(np.asarray(each, dtype=float), (count, len(names))))
                for each, names in ((q, self.joints), (v, self.velocities))]
        self._set_rows(*rows, chosen or [])

    def reset(self, instances=None):
        """All, or some instances (indices, or an array of bool) back to the start; their inputs are left to the model."""
        chosen = self._indices(instances)
        if chosen is None or chosen:
            self._reset_rows(chosen or [])

    def _indices(self, instances):
        if instances is None:
            return None
        chosen = np.atleast_1d(np.asarray(instances))
        if chosen.dtype == bool:
            if chosen.shape != (len(self),):
                raise ValueError(f"a mask of {len(self)} instances is needed, not of shape {chosen.shape}")
            return np.flatnonzero(chosen).tolist()
        return [int(i) for i in chosen]

    def __getitem__(self, column):
        """A column of the output, of every instance: b["energy.total"]."""
        return self._value(column)

    def __repr__(self):
        return f"<linkwork.Batch of {len(self)} instances of '{self._model.name}'>"
