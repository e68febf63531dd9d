#!/usr/bin/env python3
"""How soon a program measures on a GPU: once with the driver's cache of kernels empty, once with it filled.

    tests/scripts/startup.py BINARY [BINARY...]

Runs the recipe `scans` twice by each program and prints of each run the seconds from the start of its engine to the
engine's greeting (the device is open then), to the end of the run, and from a case's `generate` to its first sample:
of the first case, and the most of any.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

RECIPE = "scans"


def engine(binary, log):
    """Stands for the engine, and notes when it says what."""
    with open(log, "w", buffering=1) as noted:
        noted.write(f"{time.time()} \n")
        process = subprocess.Popen([binary, "engine"], stdout=subprocess.PIPE)
        for line in process.stdout:
            noted.write(f"{time.time()} {line.decode()}")
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
        return process.wait()


def figures(log):
    """Seconds to the greeting, to the end, and of each case from `generate` to its first sample."""
    lines = [line.split(" ", 1) for line in pathlib.Path(log).read_text().splitlines()]
    began = float(lines[0][0])
    generated, sampled, greeted = {}, {}, None
    for at, text in lines[1:]:
        at, event = float(at), json.loads(text)
        greeted = greeted or (at if event["event"] == "hello" else None)
        if event["event"] == "progress":
            first = {"generate": generated, "sample": sampled}.get(event["stage"], {})
            first.setdefault(event["case"], at)
    waits = [sampled[case] - generated[case] for case in sampled]
    if not waits:
        sys.exit("no case was sampled")
    return greeted - began, float(lines[-1][0]) - began, waits


def run(binary, cache):
    with tempfile.TemporaryDirectory() as folder:
        log = f"{folder}/log"
        stand_in = f"{sys.executable} {os.path.abspath(__file__)} --engine {binary} {log}"
        command = [binary, "run", RECIPE, "--backend", "cuda", "--out", f"{folder}/run", "--engine", stand_in]
        done = subprocess.run(
            command, env={**os.environ, "CUDA_CACHE_PATH": cache}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        if done.returncode:
            sys.exit(done.stdout.decode())
        greeted, all, waits = figures(log)
        return f"greeting {greeted:.2f} s, run {all:.2f} s, first sample {waits[0]:.3f} s, most {max(waits):.3f} s"


def main(arguments):
    if arguments[:1] == ["--engine"]:
        return engine(*arguments[1:])
    for binary in map(os.path.abspath, arguments):
        with tempfile.TemporaryDirectory() as cache:
            for state in ["empty", "filled"]:
                print(f"{os.path.basename(binary)}, cache {state}: {run(binary, cache)}", flush=True)
    return 0 if arguments else __doc__


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
