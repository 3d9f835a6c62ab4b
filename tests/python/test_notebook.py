import html
import re

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


def test_animate_writes_gif_and_mp4(results, tmp_path):
    pytest.importorskip("matplotlib")
    image = pytest.importorskip("PIL.Image")
    file = results.animate(tmp_path / "run.gif", fps=10, size=(3, 2.4))
    with image.open(file) as film:
        assert film.n_frames == 11
        first = np.array(film.convert("L"), dtype=int)
        film.seek(5)
        assert np.abs(np.array(film.convert("L"), dtype=int) - first).max() > 50  # it moves
    import shutil

    if shutil.which("ffmpeg"):
        assert results.animate(tmp_path / "run.mp4", fps=10, seconds=0.5, size=(3, 2.4)).read_bytes()[4:8] == b"ftyp"
    with pytest.raises(lw.InputError, match=".gif or .mp4"):
        results.animate(tmp_path / "run.avi")
    with pytest.raises(lw.InputError, match="columns q"):
        lw.run("four_bar", end=0.1, columns="energy").animate(tmp_path / "x.gif")


def test_animate_draws_where_things_are(results, tmp_path):
    """The pin of the loop is where both of its bodies have it."""
    from linkwork import _core

    scene, model = results._record.scene(), results._record.mechanism()
    q = np.stack([results[f"q.{name}"] for name in model.names()["positions"]], axis=1)
    poses = _core.poses(model, q)
    closure, = scene["closures"]
    names = [body["name"] for body in scene["bodies"]]

    def at(frame):
        pose = poses[:, model.names()["bodies"].index(names[frame["body"]])]
        return pose[:, :3, :3] @ frame["p"] + pose[:, :3, 3]

    assert np.abs(at(closure["a"]) - at(closure["b"])).max() < 1e-9


def test_animate_in_space(tmp_path):
    pytest.importorskip("matplotlib")
    r = lw.run("stewart", end=0.1)
    assert r.animate(tmp_path / "stewart.gif", fps=5, seconds=0.4, size=(3, 2.4)).stat().st_size > 1000
