#!/usr/bin/env python3
"""Runs a program more slowly, and changes nothing else: SLOWED_PROGRAM=FILE SLOWED_FACTOR=1.2 slowed.py ARGUMENT…

The program, and all that it starts, is stopped for short spells, so that it takes as many times as long as SLOWED_FACTOR
says. Work shorter than about 20 ms may run between two stops.
"""

import os
import pathlib
import signal
import subprocess
import sys
import time

# Seconds for which the program runs between two spells.
RUN = 0.004


def below(process):
    """The process and its descendants."""
    found = [process]
    for tasks in pathlib.Path(f"/proc/{process}/task").glob("*/children"):
        try:
            children = tasks.read_text().split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended meanwhile
        for child in children:
            found += below(int(child))
    return found


def tell(process, what):
    for one in below(process):
        try:
            os.kill(one, what)
        except ProcessLookupError:
            pass


def main():
    factor = float(os.environ["SLOWED_FACTOR"])
    program = subprocess.Popen([os.environ["SLOWED_PROGRAM"], *sys.argv[1:]])
    began, stopped = time.monotonic(), 0.0
    while program.poll() is None:
        time.sleep(RUN)
        then = time.monotonic()
        owed = (factor - 1) * (then - began - stopped) - stopped
        if owed > 0:
            tell(program.pid, signal.SIGSTOP)
            time.sleep(owed)
            tell(program.pid, signal.SIGCONT)
            stopped += time.monotonic() - then
    return program.returncode


if __name__ == "__main__":
    sys.exit(main())
