"""Linkwork simulates constrained mechanical systems: linkages, parallel robots, anything of rigid bodies, joints and closed loops.

>>> import linkwork as lw
>>> m = lw.Model.from_file("four_bar", torque=0)      # a model file, a robot file, or the name of a ready model
>>> r = lw.run(m, end=1)
>>> len(r), r["q.theta"].shape
(101, (101,))
"""

from pathlib import Path as _Path

from . import _core, _run
from ._answer import Answer, Names
from ._builder import Builder, Entry, Frame, box, cylinder, mass, point_mass, rod, sphere
from ._core import Evaluation, Inputs, Saved
from ._errors import InputError, SimulationError
from ._model import Model
from ._module import Module
from ._results import Results
from ._run import check, compare, equilibrium, export_fmu, inverse, kinematics, linearize, methods, models, modes, run, sensitivity, study
from ._simulation import Simulation

__version__ = _core.version
__all__ = ["Answer", "Builder", "Entry", "Evaluation", "Frame", "InputError", "Inputs", "Model", "Module", "Names", "Results",
           "Saved", "Simulation", "SimulationError", "box", "check", "compare", "cylinder", "equilibrium", "export_fmu", "inverse", "kinematics",
           "linearize", "mass", "methods", "models", "modes", "point_mass", "rod", "run", "sensitivity", "sphere", "study"]

_run._READY = str(_Path(__file__).parent / "models")
_core.set_ready_models(_run._READY)
_core.set_fmu_binary(str(_Path(__file__).parent / "linkwork_fmu.so"))
for _class in (Answer, Builder, Entry, Evaluation, Frame, InputError, Inputs, Model, Module, Names, Results, Saved, Simulation,
               SimulationError):
    _class.__module__ = "linkwork"
