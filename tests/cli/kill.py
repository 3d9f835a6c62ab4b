"""Kills runs at random moments with SIGKILL, resumes them, and compares all bytes with runs that were not interrupted.

LINKWORK is the program; the current directory is empty at the start. LINKWORK_KILL_SEED repeats the choices of an earlier run.
A run is killed, resumed, killed again, ..., and in the end left to finish. What is on the disk after each kill must be the
beginning of what an undisturbed run writes, and all that was there at the last checkpoint.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

LINKWORK = os.environ["LINKWORK"]
SEED = int(os.environ.get("LINKWORK_KILL_SEED", time.time_ns() % 1_000_000))
MPIRUN = shutil.which("mpirun")
# mpirun gives the others a second to go, which is too long for so many deaths.
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_odls_base_sigkill_timeout="0")
CHECKPOINT = Path("run.ckpt")
LONGEST = 120.0  # s, for anything

# What is run, for how long at least, with how many processes, and how often it is killed.
CASES = [
    ("events", ["stick_slip_disc", "--step", "1e-4", "--every", "1e-3"], 2.0, 1, 2),
    ("adaptive", ["four_bar", "--integrator", "dopri45"], 3.0, 1, 2),
    ("multistep", ["four_bar", "--integrator", "cvode-bdf"], 3.0, 1, 1),
    ("hierarchical", ["chain_modules", "--every", "1e-3"], 0.02, 3, 8),
    ("events in modules", ["train_modules", "--every", "1e-2"], 0.4, 3, 4),
    ("friction between modules", ["clutch_modules", "--every", "1e-2"], 0.4, 2, 3),
    ("multistep over modules", ["clutch_modules", "--integrator", "cvode-bdf", "--every", "1e-2"], 0.4, 2, 2),
    ("waveform", ["gear_train_modules", "--glue", "waveform", "--every", "1e-3"], 0.1, 2, 6),
    ("projection", ["four_bar_modules", "--glue", "projection", "--integrator", "dopri45"], 0.5, 2, 6),
]
WANTED = 0.6  # s, that a run should take; how long it has to be for that depends on what else the machine does
CHECKPOINTS = 12


def fail(text):
    sys.exit(f"FAILED (seed {SEED}): {text}")


def launched(processes, arguments):
    launcher = [MPIRUN, "-n", str(processes), "--oversubscribe"] if processes > 1 else []
    return subprocess.Popen([*launcher, LINKWORK, *arguments, "--no-report"], stdout=open("stdout", "wb"), stderr=open("log", "wb"))


def ended(job):
    """The exit code, when there is one."""
    try:
        return job.wait(LONGEST)
    except subprocess.TimeoutExpired:
        job.kill()
        fail(f"{' '.join(job.args)} has not ended after {LONGEST} s")


def is_ready(job, processes, resumed):
    """One process may be killed at any moment. Ranks must have found each other: before that, it is mpirun that hangs."""
    if processes == 1 or job.poll() is not None:
        return True
    return b"resumed at" in Path("stdout").read_bytes() if resumed else CHECKPOINT.exists()


def ranks_of(job, processes):
    """The process ids of a job's ranks; none while they are being started."""
    if processes == 1:
        return [job.pid]
    try:
        children = Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()
        return [int(pid) for pid in children if Path(f"/proc/{pid}/comm").read_text().strip() == "linkwork"]
    except OSError:
        return []


def physics(folder):
    """The summary without what is a matter of clocks and of who does what."""
    summary = json.loads((folder / "summary.json").read_text())
    for key in ("wall_seconds", "ranks", "threads"):
        summary.pop(key)
    for key in ("of_rank", "messages_per_step", "bytes_per_step", "waiting_seconds_per_step", "inexpensive"):
        summary.get("modules", {}).pop(key, None)
    return summary


def compare(reference, folder, what):
    for name in ("trajectory.csv", "scene.json"):
        if (reference / name).read_bytes() != (folder / name).read_bytes():
            fail(f"{what}: {name} is another one than without interruption")
    if physics(reference) != physics(folder):
        fail(f"{what}: the summary differs: {physics(reference)} and {physics(folder)}")


def checkpoint():
    """The contents of the checkpoint; None if there is none yet."""
    try:
        return json.loads(CHECKPOINT.read_text().partition("\n")[2])
    except FileNotFoundError:
        return None


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % (1 << 64)
    return value


def check_sensitivity(reference, folder):
    """A checkpoint that is wrong in the last digits must show: the comparison would be of no use otherwise."""
    contents = checkpoint()
    state = contents["run"]["parts"][0]["x"]
    largest = max(range(len(state) - 1), key=lambda k: abs(state[k]))  # the last is work; some may be at rest
    state[largest] *= 1 + 1e-12
    body = json.dumps(contents) + "\n"
    data = body.encode()
    CHECKPOINT.write_text(f"linkwork checkpoint 2 {len(data)} {fnv1a(data):016x}\n{body}")
    if ended(launched(1, ["resume", str(CHECKPOINT)])) != 0:
        fail(f"a checkpoint with another number is refused: {Path('log').read_text()}")
    if (reference / "trajectory.csv").read_bytes() == (folder / "trajectory.csv").read_bytes():
        fail("a wrong checkpoint makes no difference: nothing is tested here")


def kill_once(job, processes, resumed, moment, choice):
    """Kills one of the ranks when it is time; whether it was still running."""
    limit = time.monotonic() + LONGEST
    while not is_ready(job, processes, resumed) and time.monotonic() < limit:
        time.sleep(0.002)
    time.sleep(moment)
    ranks = ranks_of(job, processes)
    if job.poll() is not None or not ranks:
        ended(job)
        return False
    try:
        os.kill(choice.choice(ranks), signal.SIGKILL)
    except ProcessLookupError:
        return False
    began = time.monotonic()
    code = ended(job)
    if code == 0:
        return False  # it was done
    if time.monotonic() - began > 30:
        fail("the other ranks went on for more than 30 s")
    if processes > 1 and b"rank" not in Path("log").read_bytes():
        fail("nobody says which rank has died")
    return True


def main():
    choice = random.Random(SEED)
    kills, unsaved, began = 0, 0, time.monotonic()
    for name, model, least, processes, wanted in CASES:
        if processes > 1 and not MPIRUN:
            continue
        reference, folder = Path(f"{name}-whole"), Path(f"{name}-killed")
        CHECKPOINT.unlink(missing_ok=True)
        end, seconds = least, 0.0
        for _ in range(2):  # a short one first
            if seconds > 0.0:
                end *= min(30.0, max(1.0, WANTED / seconds))
            arguments = ["--end", str(end), "--checkpoint-every", str(end / CHECKPOINTS), "--checkpoint", str(CHECKPOINT)]
            if ended(launched(processes, ["run", *model, *arguments, "--out", str(reference)])) != 0:
                fail(f"{name}: {Path('log').read_text()}")
            seconds = json.loads((reference / "summary.json").read_text())["wall_seconds"]
        whole = (reference / "trajectory.csv").read_bytes()
        CHECKPOINT.unlink()
        done, resumed = 0, False
        span = seconds / (wanted + 1)  # the mean of what is done before a kill, so that the run lasts for all of them
        while done < wanted:
            count = processes if processes == 1 or not resumed else choice.randint(2, 3)
            moment = choice.uniform(0.0, 2.0 * span)
            job = launched(count, ["resume", str(CHECKPOINT)] if resumed else ["run", *model, *arguments, "--out", str(folder)])
            if not kill_once(job, count, resumed, moment, choice):
                if job.returncode != 0:
                    fail(f"{name}: {Path('log').read_text()}")
                compare(reference, folder, f"{name} after {done} kills")
                CHECKPOINT.unlink()
                resumed = False  # it was over too soon: again from the start
                span *= 0.7
                continue
            done += 1
            saved = checkpoint()
            written = (folder / "trajectory.csv").read_bytes() if (folder / "trajectory.csv").exists() else b""
            if not whole.startswith(written):
                fail(f"{name}: what was written is not the beginning of the whole")
            if saved and len(written) < saved["bytes"]:
                fail(f"{name}: what was written before the checkpoint is lost")
            unsaved += saved is None
            resumed = saved is not None
        last = ["--threads", str(choice.randint(1, 3))] if processes > 1 else []
        if resumed and name == "adaptive":
            kept = CHECKPOINT.read_bytes()
            check_sensitivity(reference, folder)
            CHECKPOINT.write_bytes(kept)
        final = ["resume", str(CHECKPOINT), *last] if resumed else ["run", *model, *arguments, "--out", str(folder)]
        if ended(launched(1, final)) != 0:
            fail(f"{name}: {' '.join(final)}: {Path('log').read_text()}")
        compare(reference, folder, f"{name} after {done} kills")
        kills += done
        print(f"{name}: {seconds:.2f} s undisturbed, killed {done} times, {time.monotonic() - began:.1f} s so far")
    print(f"seed {SEED}: {kills} kills, {unsaved} of them before the first checkpoint")
    if kills < sum(case[4] for case in CASES if MPIRUN or case[3] == 1) or unsaved > kills // 2:
        fail("too few kills that matter")


main()
