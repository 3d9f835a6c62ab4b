"""A batch of 1,000 runs on all cores with multiprocessing: how fast is the four-bar linkage after 0.2 s, by its torque?

The model is sent to the processes, which read it again with other parameters.
"""

import multiprocessing
import sys

import numpy as np

import linkwork as lw


def speed(job):
    model, torque = job
    r = lw.run(model.with_parameters(torque=torque), end=0.2, step=2e-3, columns="v")
    return r["v.theta"][-1]


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    model = lw.Model.from_file("four_bar")
    torques = np.linspace(0.0, 10.0, count)
    with multiprocessing.Pool() as pool:
        speeds = np.array(pool.map(speed, [(model, torque) for torque in torques], chunksize=25))
    print(f"{count} runs: {speeds[0]:.4f} rad/s without a torque, {speeds[-1]:.4f} rad/s with {torques[-1]:g} N m")


if __name__ == "__main__":
    main()
