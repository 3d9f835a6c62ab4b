import html
import re
import shutil
import sys

import numpy as np
import pytest

import linkwork as lw


@pytest.fixture(scope="module")
def results():
    return lw.run("four_bar", end=1.0)


def test_the_report_is_one_page(results, tmp_path):
    page = results.report()
    assert page.startswith("<!") and "four-bar" in page and len(page) > 1e5
    assert results.report(tmp_path / "page.html").read_text(encoding="utf-8") == page


def test_a_notebook_shows_the_report_in_a_sandbox(results):
    shown = results._repr_html_()
    frame = re.fullmatch(r'<iframe sandbox="allow-scripts" style="[^"]*" srcdoc="([^"]*)"></iframe>', shown)
    assert frame and html.unescape(frame[1]) == results.report()
    assert not re.search(r'(?:src|href)="https?:', frame[1])


def test_the_report_draws_positions_that_were_not_asked_for():
    chosen = lw.run("four_bar", end=0.2, columns="energy")
    assert "q.theta" not in chosen.columns and "q.theta" in chosen.report()


def test_pandas(results):
    pandas = pytest.importorskip("pandas")
    frame = results.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == list(results.columns[1:])
    assert np.array_equal(frame["q.theta"], results["q.theta"]) and np.array_equal(frame.index, results.t)


def test_plot(results):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = results.plot("q.*", "v.theta", lw=2)
    assert [line.get_label() for line in ax.lines] == ["q.theta", "q.alpha", "q.phi", "v.theta"]
    assert np.array_equal(ax.lines[0].get_ydata(), results["q.theta"])
    assert results.plot("v.*", ax=ax) is ax


@pytest.mark.parametrize("package, use", [("matplotlib", "plot"), ("pandas", "to_pandas")])
def test_a_package_that_is_missing_is_named_with_the_way_to_get_it(results, monkeypatch, package, use):
    for module in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModuleNotFoundError, match=rf"{use}\(\) needs {package}.*apt install python3-{package}"):
        getattr(results, use)()


def test_animate_writes_films(results, tmp_path):
    image = pytest.importorskip("PIL.Image")
    file = results.animate(tmp_path / "run.gif", rate=10, size=(320, 240))
    with image.open(file) as film:
        assert film.size == (320, 240) and 10 <= film.n_frames <= 11
        first = np.array(film.convert("L"), dtype=int)
        film.seek(5)
        assert np.abs(np.array(film.convert("L"), dtype=int) - first).max() > 50  # it moves
    if shutil.which("ffmpeg"):
        assert results.animate(tmp_path / "run.mp4", rate=10, end=0.5, size=(320, 240)).read_bytes()[4:8] == b"ftyp"
    with pytest.raises(lw.InputError, match="gif"):
        results.animate(tmp_path / "run.avi")


def test_pictures(results, tmp_path):
    assert results.picture(tmp_path / "start.png", size=(320, 240)).read_bytes().startswith(b"\x89PNG")
    start, later = (results.picture(tmp_path / "at.svg", t=t).read_text() for t in (0.0, 0.5))
    assert "<svg" in start and start != later


def test_positions_that_were_not_asked_for_are_drawn(results, tmp_path):
    chosen = lw.run("four_bar", end=1.0, columns="energy")
    assert (chosen.picture(tmp_path / "a.svg", t=0.7).read_text() == results.picture(tmp_path / "b.svg", t=0.7).read_text())
