"""Interrupts runs with SIGINT, SIGTERM and SIGHUP: a summary that says so, a checkpoint to go on from, the exit code of the signal.

LINKWORK is the program; the current directory is empty at the start.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

LINKWORK = os.environ["LINKWORK"]
MPIRUN = shutil.which("mpirun")
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
LONGEST = 120.0  # s, for anything


def fail(text):
    sys.exit(f"FAILED: {text}")


def start(arguments, launcher=()):
    return subprocess.Popen([*launcher, LINKWORK, *arguments, "--no-report"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(condition, job):
    end = time.monotonic() + LONGEST
    while not condition():
        if job.poll() is not None or time.monotonic() > end:
            fail(f"{job.args} came to nothing: {job.communicate()}")
        time.sleep(0.02)


def rows(folder):
    file = Path(folder, "trajectory.csv")
    return file.read_bytes().count(b"\n") if file.exists() else 0


def interrupted(arguments, folder, number, launcher=(), first=20):
    """Starts a run, waits for its first rows, sends the signal; what it printed, its exit code and its summary."""
    job = start([*arguments, "--out", folder], launcher)
    wait_for(lambda: rows(folder) > first, job)
    job.send_signal(number)
    out, error = job.communicate(timeout=LONGEST)
    return error, job.returncode, json.loads(Path(folder, "summary.json").read_text())


def resumed(checkpoint, folder, reference):
    if subprocess.run([LINKWORK, "resume", checkpoint, "--quiet", "--no-report"], timeout=LONGEST).returncode != 0:
        fail(f"{checkpoint} cannot be resumed")
    if Path(folder, "trajectory.csv").read_bytes() != Path(reference, "trajectory.csv").read_bytes():
        fail(f"{folder} differs from a run that was not interrupted")
    if json.loads(Path(folder, "summary.json").read_text())["status"] != "done":
        fail(f"{folder} is not done")


# Paced by the clock, so that it is still going when the signal comes, on any machine.
RUN = ["run", "four_bar", "--end", "3", "--every", "1e-3", "--realtime"]
subprocess.run([LINKWORK, "run", "four_bar", "--end", "3", "--every", "1e-3", "--quiet", "--no-report", "--out", "whole"], check=True)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    folder = number.name
    error, code, summary = interrupted([*RUN, "--checkpoint", f"{folder}.ckpt"], folder, number)
    if code != 128 + number or summary["status"] != "interrupted" or not 0 < summary["simulated_seconds"] < 3:
        fail(f"{folder}: exit {code}, {summary['status']}, {summary['simulated_seconds']}")
    if "four-bar: interrupted at t = " not in error or "goes on from there" not in error:
        fail(f"{folder}: {error}")
    saved = json.loads(Path(f"{folder}.ckpt").read_text().split("\n", 1)[1])["run"]["t"]
    if saved != summary["simulated_seconds"]:
        fail(f"{folder}: saved at {saved}, interrupted at {summary['simulated_seconds']}")
    resumed(f"{folder}.ckpt", folder, "whole")

error, code, summary = interrupted(RUN, "plain", signal.SIGTERM)
if code != 143 or summary["status"] != "interrupted" or "resume" in error:
    fail(f"without a checkpoint: exit {code}, {summary['status']}, {error}")

# A pace at which nobody could wait for the next step.
job = start(["run", "four_bar", "--realtime", "1e-6", "--out", "slow"])
wait_for(lambda: Path("slow/scene.json").exists(), job)
job.send_signal(signal.SIGINT)
if job.wait(LONGEST) != 130:
    fail(f"a run that waits does not listen: {job.returncode}")

# Modules, on threads and on ranks; a signal for one rank is one for all.
MODULES = ["run", "chain_modules", "--every", "1e-3", "--end", "0.5"]
SLOW = ["--realtime", "0.1"]
subprocess.run([LINKWORK, *MODULES, "--quiet", "--no-report", "--out", "modules"], check=True)
error, code, summary = interrupted([*MODULES, *SLOW, "--threads", "2", "--checkpoint", "threads.ckpt"], "threads", signal.SIGINT)
if (code, summary["status"]) != (130, "interrupted"):
    fail(f"threads: exit {code}, {summary['status']}")
resumed("threads.ckpt", "threads", "modules")
if MPIRUN:
    launcher = [MPIRUN, "-n", "2", "--oversubscribe"]
    error, code, summary = interrupted([*MODULES, *SLOW, "--checkpoint", "ranks.ckpt"], "ranks", signal.SIGINT, launcher, first=200)
    if code == 0 or summary["status"] != "interrupted":
        fail(f"ranks: exit {code}, {summary['status']}, {error}")
    resumed("ranks.ckpt", "ranks", "modules")

# Motion by drives alone.
job = start(["kinematics", "four_bar_driven", "--every", "1e-5", "--end", "100", "--out", "driven"])
wait_for(lambda: rows("driven") > 0, job)
job.send_signal(signal.SIGTERM)
if job.wait(LONGEST) != 143 or json.loads(Path("driven/summary.json").read_text())["status"] != "interrupted":
    fail(f"kinematics: exit {job.returncode}")
