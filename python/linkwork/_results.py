"""What runs leave."""

import html
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from ._answer import answer
from ._errors import InputError, SimulationError, needed


class Results:
    """The rows of a run. Columns are numpy arrays in the memory of the run itself: nothing is copied, and nothing can be written.

    >>> import linkwork as lw
    >>> r = lw.run(lw.Model.from_file("four_bar"), end=1)
    >>> r.t.shape, r["q.theta"].shape, r.values.shape == (len(r), len(r.columns))
    ((101,), (101,), True)
    >>> r.summary.status
    'done'
    """

    def __init__(self, record):
        self._record = record
        self.columns = tuple(record.columns)
        self.values = record.values
        self._index = {name: i for i, name in enumerate(self.columns)}

    @cached_property
    def summary(self):
        """How the run went: the fields of summary.json, as attributes and as keys."""
        return answer(self._record.summary())

    @property
    def t(self):
        """The times of the rows, s."""
        return self["t"]

    def __getitem__(self, column):
        """A column, by its name."""
        try:
            return self.values[:, self._index[column]]
        except KeyError:
            raise KeyError(self._unknown(column)) from None

    def __contains__(self, column):
        return column in self._index

    def __iter__(self):
        return iter(self.columns)

    def keys(self):
        """Names of the columns."""
        return self.columns

    def __len__(self):
        """How many rows there are."""
        return self.values.shape[0]

    def _unknown(self, column):
        near = [name for name in self.columns if column in name or name.endswith("." + column.rsplit(".", 1)[-1])]
        return f"there is no column '{column}'; " + (f"did you mean {', '.join(near[:5])}?" if near else "see r.columns")

    def matching(self, *patterns):
        """Names of the columns that fit patterns such as "q.*" or "force.crank.?".

        >>> import linkwork as lw
        >>> lw.run(lw.Model.from_file("four_bar"), end=0.1).matching("q.*")
        ['q.theta', 'q.alpha', 'q.phi']
        """
        names = []
        for pattern in patterns:
            fit = [name for name in self.columns if fnmatchcase(name, pattern)]
            if not fit:
                raise KeyError(self._unknown(pattern))
            names += [name for name in fit if name not in names]
        return names

    def to_pandas(self):
        """A DataFrame of all columns but t, which is its index; the values are not copied. Needs pandas."""
        pandas = needed("pandas", "to_pandas()")
        frame = pandas.DataFrame(self.values, columns=list(self.columns), copy=False)
        return frame.set_index("t") if "t" in self else frame

    def save(self, folder, *, format="csv", report=True):
        """Writes the files of 'linkwork run' into a folder, which is made if need be: trajectory, summary, scene, report."""
        self._record.save(str(folder), format, report)
        return Path(folder)

    def report(self, file=None):
        """The page that shows the run, as one text of HTML; or it is written to a file."""
        page = self._record.report()
        if not page:
            raise InputError("linkwork was built without the report page; expected a build with node and npm (LINKWORK_WEB=ON)")
        if file is None:
            return page
        Path(file).write_text(page, encoding="utf-8")
        return Path(file)

    def plot(self, *columns, ax=None, **style):
        """Draws columns over time, by names and patterns, with matplotlib; gives the axes."""
        if ax is None:
            pyplot = needed("matplotlib.pyplot", "plot()")
            ax = pyplot.subplots()[1]
        for name in self.matching(*(columns or ("q.*",))):
            ax.plot(self.t, self[name], label=name, **style)
        ax.set_xlabel("t [s]")
        ax.legend()
        return ax

    def animate(self, file="run.gif", *, rate=25.0, speed=1.0, start=None, end=None, size=(960, 720), dark=False, paths=True):
        """Writes a film of the motion without a browser: a GIF, or an MP4 or WebM if the program ffmpeg is there. Gives its file.

        `rate` is pictures per second, `speed` simulated seconds per second, `start` and `end` times of the run, `size` pixels;
        `paths` draws those of point sensors. The mechanism is drawn as in the report.
        """
        self._record.animate(str(file), rate, speed, start, end, size, dark, paths)
        return Path(file)

    def picture(self, file, *, t=None, size=(960, 720), dark=False, paths=True):
        """Writes a picture of the mechanism at the row nearest to t (default: the first): .png or .svg. Gives its file."""
        self._record.picture(str(file), t, size, dark, paths)
        return Path(file)

    def _repr_html_(self):
        """For notebooks: the report in a frame of its own, which can reach neither the notebook nor the network."""
        page = self._record.report()
        if not page:
            return f"<pre>{html.escape(repr(self))}</pre>"
        return ('<iframe sandbox="allow-scripts" style="width:100%;height:680px;border:1px solid #ccc" '
                f'srcdoc="{html.escape(page)}"></iframe>')

    def __repr__(self):
        return f"<linkwork.Results of '{self.summary.model}': {len(self)} rows, {len(self.columns)} columns, {self.summary.status}>"

    def _checked(self):
        """Raises SimulationError, with what there is, if the run did not get to its end."""
        if not self._record.completed:
            error = SimulationError(self._record.status)
            error.results = self
            raise error
        return self
