"""What the site asks of the program: pictures, films, tables, help. Pictures are kept from build to build."""

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# A picture of one point, for builds that do not draw.
BLANK_GIF = bytes.fromhex("47494638396101000100800000ffffff00000021f90401000000002c00000000010001000002024401003b")


def dark(picture):
    """The file with the same picture on a dark ground."""
    stem, ending = os.path.splitext(picture)
    return f"{stem}-dark{ending}"


class Program:
    """Pictures are asked for by a command, without '-o FILE', and known by a hash of it, the program and the models."""

    def __init__(self, path, root, kept, folder, draws=True):
        self.path, self.root, self.kept, self.folder, self.draws = path, root, kept, folder, draws
        self.kept.mkdir(parents=True, exist_ok=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.workers = ThreadPoolExecutor(os.cpu_count() or 1)
        self.jobs, self.drawn, self.wanted = {}, 0, set()
        self.state = hashlib.sha256()
        for file in [path, *sorted(path for path in (root / "models").rglob("*") if path.is_file())]:
            self.state.update(file.read_bytes())

    def run(self, *arguments, cwd=None, expect=0):
        """What the program prints."""
        done = subprocess.run([self.path, *arguments], cwd=cwd or self.root, env=dict(os.environ, NO_COLOR="1", COLUMNS="120"),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != expect:
            raise RuntimeError(f"linkwork {shlex.join(map(str, arguments))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def version(self):
        return self.run("--version").split()[-1]

    def _file(self, key, ending):
        state = self.state.copy()
        state.update(Path(key[1]).read_bytes() if Path(key[1]).is_file() else key[1].encode())
        state.update(repr((key[0], *key[2:])).encode())
        return f"{state.hexdigest()[:16]}{ending}"

    def _later(self, name, draw):
        """The file's name at once; what draws it is under way."""
        if name not in self.wanted:
            self.wanted.add(name)
            self.jobs[name] = self.workers.submit(self._draw, name, draw)
        return f"pictures/{name}"

    def _draw(self, name, draw):
        if not self.draws:
            (self.folder / name).write_bytes(BLANK_GIF)
            return
        if not (self.kept / name).is_file():
            with tempfile.TemporaryDirectory(dir=self.kept) as work:
                drawn = Path(work) / name
                draw(drawn, Path(work))
                drawn.rename(self.kept / name)
            self.drawn += 1
        shutil.copy(self.kept / name, self.folder / name)

    def _light_and_dark(self, name, draw):
        """The file's name; its twin on a dark ground has the name that `dark` gives."""
        self._later(dark(name), lambda file, work: draw(file, work, "--dark"))
        return self._later(name, draw)

    def picture(self, model, *options, ending=".svg"):
        return self._light_and_dark(self._file(("picture", model, options), ending),
                                    lambda file, work, *scheme: self.run("picture", model, *options, *scheme, "-o", file))

    def film(self, model, run_options=(), film_options=(), size="480x360", rate=12):
        """A film of a run, slowed down or sped up as the options say."""
        def draw(file, work, *scheme):
            self.run("run", model, *run_options, "--quiet", "--no-report", "--out", work / "run")
            self.run("animate", work / "run", "--size", size, "--rate", str(rate), *film_options, *scheme, "--quiet", "-o", file)
        return self._light_and_dark(self._file(("film", model, run_options, film_options, size, rate), ".gif"), draw)

    def compare(self, model, *options):
        """The rows of 'linkwork compare', as JSON."""
        name = self._file(("compare", model, options), ".json")
        if not (self.kept / name).is_file():
            with tempfile.TemporaryDirectory(dir=self.kept) as work:
                self.run("compare", model, *options, "--out", Path(work) / "out")
                shutil.copy(Path(work) / "out" / "compare.json", self.kept / name)
        return json.loads((self.kept / name).read_text(encoding="utf-8"))

    def study(self, name):
        """The folder with the results of 'linkwork study'."""
        folder = self.kept / self._file(("study", name), "") / name
        if not folder.is_dir():
            with tempfile.TemporaryDirectory(dir=self.kept) as work:
                self.run("study", name, "--quiet", "--out", Path(work) / "out")
                folder.parent.mkdir(exist_ok=True)
                (Path(work) / "out").rename(folder)
        return folder

    def finish(self):
        """Waits for all pictures, and forgets those that no page shows any more."""
        failed = []
        for name, job in self.jobs.items():
            try:
                job.result()
            except RuntimeError as error:
                failed.append(str(error))
        if failed:
            sys.exit("\n".join(failed))
        self.workers.shutdown()
        for file in self.kept.glob("*.gif"):
            if self.draws and file.name not in self.wanted:
                file.unlink()
