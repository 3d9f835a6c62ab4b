"""The package as the build left it, and the program beside it: PYTHONPATH, LINKWORK and SOURCE_DIR are set by the test."""

import os
import subprocess
from pathlib import Path

import pytest

import linkwork as lw

SOURCE = Path(os.environ["SOURCE_DIR"])


@pytest.fixture
def program(tmp_path):
    """Runs the program, quietly, in a folder of its own."""

    def run(*arguments):
        done = subprocess.run([os.environ["LINKWORK"], *map(str, arguments)], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def models():
    return SOURCE / "models"


@pytest.fixture
def source():
    return SOURCE


@pytest.fixture
def arm():
    """A link on a motor."""
    b = lw.Builder("arm")
    b.settings(end=1.0, step=1e-3)
    link = b.body("link", lw.rod([0, 0, 0], [0.6, 0, 0], mass=2.0))
    b.revolute("shoulder", b.ground, link, position=-0.5, damping=0.02)
    b.torque("shoulder", "u.motor")
    b.input("motor")
    return b.model()
