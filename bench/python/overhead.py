"""What Python costs: PYTHONPATH=build/python /usr/bin/python3 bench/python/overhead.py [BENCHMARK_PROGRAM].

Every time is the shortest of many repeats: other programs only make it longer. The gain by threads is the median of many ratios. With the program of bench/python/native_steps.cpp
(target linkwork_bench_native_steps) steps are compared with those of C++.
"""

import signal
import statistics
import subprocess
import sys
import threading
import time

import linkwork as lw


def shortest(action, repeats=30):
    best = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - begin)
    return best


def arm():
    b = lw.Builder("arm")
    link = b.body("link", lw.rod([0, 0, 0], [0.6, 0, 0], mass=2.0))
    b.revolute("shoulder", b.ground, link, position=-0.5, damping=0.02)
    b.torque("shoulder", "u.motor")
    b.input("motor")
    return b.model()


def steps(program):
    s = lw.Simulation(lw.Model.from_file("four_bar", torque=0), step=1e-3)
    s.step(1000)
    if not program:
        print(f"s.step(1000), four-bar           {1e3 * shortest(lambda: s.step(1000), 200):8.3f} ms")
        return
    mine = theirs = float("inf")
    for _ in range(5):  # in turn, so that both see the same machine
        mine = min(mine, shortest(lambda: s.step(1000), 100))
        theirs = min(theirs, float(subprocess.run([program, lw.models()["four_bar"]], capture_output=True, text=True, check=True).stdout))
    print(f"s.step(1000), four-bar           {1e3 * mine:8.3f} ms, C++ {1e3 * theirs:.3f} ms: {100 * (mine / theirs - 1):+.1f} %")


def controller():
    def body(sim):
        pass

    def advance(sampled):
        s = lw.Simulation(arm(), step=1e-3)
        if sampled:
            s.controller(body, period=1e-3)
        s.step(1)
        return shortest(lambda: s.step(1000), 50)

    call = shortest(lambda: [body(None) for _ in range(1000)]) / 1000
    per_call = (advance(True) - advance(False)) / 1000
    print(f"controller at 1 kHz, per call    {1e6 * per_call:8.2f} us, of which its body {1e6 * call:.2f} us")
    s = lw.Simulation(arm())

    def read_and_set():
        for _ in range(1000):
            s.u["motor"] = 1.0 - s.q[0]

    print(f"s.u[...] = 1.0 - s.q[0]          {1e3 * shortest(read_and_set):8.2f} us")


def evaluations():
    s = lw.Simulation(lw.Model.from_file("four_bar"))
    s.step(10)

    def many():
        for _ in range(1000):
            s.forward_dynamics()

    print(f"forward_dynamics(), four-bar     {1e3 * shortest(many):8.2f} us")
    print(f"mass_matrix(), four-bar          {1e3 * shortest(lambda: [s.mass_matrix() for _ in range(1000)]):8.2f} us")


def threads():
    model = lw.Model.from_file("n_four_bar", n=20)
    simulations = [lw.Simulation(model) for _ in range(2)]

    def together():
        workers = [threading.Thread(target=s.step, args=(3000,)) for s in simulations]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    ratios = []
    for _ in range(15):  # in turn, so that both see the same machine
        one = shortest(lambda: [s.step(3000) for s in simulations], 1)
        ratios.append(one / shortest(together, 1))
    print(f"two simulations, two threads     {statistics.median(ratios):8.2f} times as fast as one after the other")


def interruption():
    latencies = []
    for _ in range(10):
        pressed = []
        timer = threading.Timer(0.2, lambda: (pressed.append(time.perf_counter()), signal.raise_signal(signal.SIGINT)))
        timer.start()
        try:
            lw.run("four_bar", end=1e6, every=1.0)
        except KeyboardInterrupt as stopped:
            latencies.append(time.perf_counter() - pressed[0])
            assert len(stopped.results) > 0
    print(f"Ctrl-C in a long run             {1e3 * max(latencies):8.1f} ms at most, {len(latencies)} times")


if __name__ == "__main__":
    steps(sys.argv[1] if len(sys.argv) > 1 else None)
    controller()
    evaluations()
    threads()
    interruption()
