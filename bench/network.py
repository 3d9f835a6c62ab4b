"""Times modules on another host, on this machine: network.py PROGRAM SOURCE_DIR [--out FILE].

A server of the right chain of the four-bar on loopback, mutual TLS and all: round trips of empty messages, a run of rk4 at 1 kHz as
fast as it goes, and one that keeps pace with the clock. Fails if the median round trip takes more than 200 us, or if the run takes more than a second
per simulated second."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MOST_US, SECONDS = 200.0, 5.0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=Path)
    parser.add_argument("source", type=Path)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    program, source = given.program.resolve(), given.source.resolve()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        result = measure(str(program), source)
    if given.out:
        given.out.write_text(json.dumps(result, indent=2) + "\n")
    good = result["round_trip_us"]["median"] <= MOST_US and result["seconds_per_second"] <= 1.0
    print(f"wanted: {MOST_US:.0f} us, 1 s per s: {'met' if good else 'NOT MET'}")
    return 0 if good else 1


def measure(program, source):
    def run(*arguments):
        return subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, text=True).stdout

    run("serve", "--make-keys", "keys")
    server = subprocess.Popen([program, "serve", source / "models/parts/four_bar_right.toml", "--cert", "keys/server.pem", "--key",
                               "keys/server.key", "--ca", "keys/ca.pem"], stdout=subprocess.PIPE, text=True)
    try:
        port = re.search(r":(\d+)/", server.stdout.readline())[1]
        os.environ.update(LINKWORK_CERT="keys/client.pem", LINKWORK_KEY="keys/client.key", LINKWORK_CA="keys/ca.pem")
        pinged = run("ping", f"127.0.0.1:{port}", "--count", 20000)
        print(pinged, end="")
        text = (source / "models/four_bar_modules.toml").read_text()
        text = text.replace('file = "parts/four_bar_right.toml"', f'remote = "linkwork://127.0.0.1:{port}/four_bar_right"')
        Path("there.toml").write_text(text.replace('file = "parts/', f'file = "{source}/models/parts/'))
        options = ("there.toml", "--integrator", "rk4", "--step", "1e-3", "--end", SECONDS, "--no-report", "--out", "there")
        before = time.monotonic()
        said = run("run", *options)
        seconds = (time.monotonic() - before) / SECONDS
        trips = int(re.search(r"(\d+) round trips", said)[1])
        print(f"rk4 at 1 kHz: {seconds:.3f} s per simulated second, {trips / SECONDS:.0f} round trips in it")
        pace = next(line.strip() for line in run("run", *options, "--realtime").splitlines() if "real time" in line)
        print(pace)
    finally:
        server.terminate()
        server.wait()
    median, most, longest = (float(x) for x in re.search(r"median (\d+) us, 95 % below (\d+) us, longest (\d+) us", pinged).groups())
    return {"round_trip_us": {"median": median, "95 %": most, "longest": longest}, "seconds_per_second": seconds,
            "round_trips_per_second": trips / SECONDS, "pace": pace}


sys.exit(main())
