"""What can go wrong, in the words of the program."""

import importlib


def needed(module, purpose):
    """A package that only some functions need, or an error that tells how to get it."""
    package = module.split(".")[0]
    try:
        importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise ModuleNotFoundError(f"{purpose} needs {package}, which is not installed; on Debian: apt install python3-{package}", name=package) from None
    return importlib.import_module(module)


class InputError(ValueError):
    """Something is wrong with a model, a name or an option: where, what, and what would be right.

    >>> import linkwork as lw
    >>> try:
    ...     lw.Model.from_string("linkwork = 1\\n[[body]]\\nmass = 'heavy'\\n", name="arm.toml")
    ... except lw.InputError as error:
    ...     print(error.file, error.line)
    arm.toml 2
    """

    def __init__(self, message, file=None, line=None, column=None):
        super().__init__(message, file, line, column)  # all of it, so that errors can be sent between processes
        self.file, self.line, self.column = file, line, column

    def __str__(self):
        return self.args[0]


class SimulationError(RuntimeError):
    """A run, or an evaluation, cannot go on: the words say why. `results` has the rows so far, if there are any."""

    file = line = column = None
    results = None
