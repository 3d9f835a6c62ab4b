"""Memory comes back, and Ctrl-C is heard."""

import gc
import os
import signal
import subprocess
import sys
import time

import linkwork as lw


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def cycle(model, text):
    m = lw.Model.from_string(text)
    s = lw.Simulation(m)
    s.controller(lambda sim, s=s: None, period=0.01)  # knows its simulation: for the garbage collector
    s.step(3)
    del s
    gc.collect()  # else such cycles would wait, and the memory of their number be taken for a leak
    s = lw.Simulation(m)
    s.save()
    s.evaluate().mass_matrix()
    r = lw.run(model, end=0.02)
    r["q.theta"].sum()
    try:
        lw.Model.from_string("name = ")
    except lw.InputError:
        pass


def test_nothing_leaks():
    """10,000 cycles in full: LINKWORK_CYCLES=10000."""
    cycles = int(os.environ.get("LINKWORK_CYCLES", "400"))
    model = lw.Model.from_file("four_bar")
    for _ in range(50):
        cycle(model, model.text)
    gc.collect()
    before = resident()
    for _ in range(cycles):
        cycle(model, model.text)
    gc.collect()
    grown = (resident() - before) / cycles
    print(f"{cycles} cycles: {grown:.0f} bytes each, {resident() / 1e6:.1f} MB in all")
    # A simulation is some 100 kB: a leak of any of these objects would show. The rest is the heap settling.
    assert grown < 4e6 / cycles + 300


LONG_RUN = """
import time, signal, sys
import linkwork as lw
import numpy as np
{prepare}
print("ready", flush=True)
try:
    {run}
except KeyboardInterrupt as error:
    late = time.time()
    print(late, len(error.results) if hasattr(error, "results") else -1, {more})
"""


def interrupted(run, prepare="", more="''"):
    """Starts it, presses Ctrl-C, and gives how late it was heard, how many rows there are, and what else it prints."""
    child = subprocess.Popen([sys.executable, "-c", LONG_RUN.format(run=run, prepare=prepare, more=more)], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.5)  # the run is under way: what is asked is how it ends
    pressed = time.time()
    child.send_signal(signal.SIGINT)
    heard, rows, *rest = child.communicate(timeout=60)[0].split()
    assert child.returncode == 0
    return float(heard) - pressed, int(rows), rest


def test_ctrl_c_ends_a_run_and_keeps_its_rows():
    late, rows, rest = interrupted('lw.run("four_bar", end=1e6, every=1.0)', more="error.results.summary.status, error.results.t[-1] > 0")
    assert late < 2.0 and rows >= 1 and rest == ["interrupted", "True"]  # 0.2 s on a machine that is not busy: bench/python


def test_ctrl_c_ends_steps_and_the_simulation_goes_on():
    late, _, rest = interrupted("s.step(10**9)", prepare='s = lw.Simulation(lw.Model.from_file("four_bar"))',
                                more="s.t > 0, s.step(5)")
    assert late < 2.0 and rest == ["True", "True"]


def test_ctrl_c_ends_waiting_for_the_clock_and_modules_on_threads():
    late, rows, _ = interrupted('lw.run("four_bar", end=1e3, realtime=0.1)')
    assert late < 2.0 and rows >= 1
    late, rows, _ = interrupted('lw.run("ring_modules", end=1e5, every=1.0, threads=2)')
    assert late < 2.0 and rows >= 1


def test_ctrl_c_in_a_controller_is_raised_there():
    late, _, _ = interrupted("s.advance_to(1e9)", prepare="""
s = lw.Simulation(lw.Model.from_file("pid_arm"))
def act(sim):
    for _ in range(100): pass
s.controller(act, period=1e-3)
""")
    assert late < 2.0
