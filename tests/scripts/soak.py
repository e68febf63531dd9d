#!/usr/bin/env python3
"""Many runs in a row, each disturbed in a way that chance draws: tests/scripts/soak.py [--binary FILE] [--runs N] [--seed S]

A run is left alone, its client or its engine is killed, either of them is stopped for a while, its disk is full, or
two clients want the same folder. Then it is resumed until it is complete. Of each run:

- no line of the event log that was on disk is lost or changed,
- each case has each of its rounds once, and `report` finds nothing wrong,
- no process is left.

Full disks need the right to mount a tmpfs and are left out without it. Prints a tally; 1 and the reasons if a rule is broken.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROUNDS, CASES = 6, 4
RECIPE = f"""title: Soak
stream: {{kernel: [copy, triad], elements: [4Ki, 64Ki]}}
backend: scalar
chart: {{x: elements, lines: kernel}}
measure: {{rounds: {ROUNDS}, samples: 3, ci: none, second-look: never}}
"""


class Run:
    def __init__(self, binary, folder):
        self.binary, self.folder, self.out = binary, folder, folder / "out"
        self.seen = b""
        (folder / "soak.yaml").write_text(RECIPE)

    def start(self, *words):
        nothing = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
        return subprocess.Popen([self.binary, *words], cwd=self.folder, **nothing)

    def fresh(self):
        return self.start("run", "soak.yaml", "--out", "out")

    def resumed(self):
        return self.start("run", "--resume", "out")

    def log(self):
        events = self.out / "events.ndjson"
        return events.read_bytes() if events.exists() else b""

    def kept(self):
        """Keeps the complete lines on disk, which must begin every later log."""
        whole = self.log()
        whole = whole[: whole.rfind(b"\n") + 1]
        if not whole.startswith(self.seen):
            raise AssertionError("a line that was on disk is lost or changed")
        self.seen = whole

    def processes(self):
        """Processes with this run's folder as their working folder."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and os.readlink(entry / "cwd").startswith(str(self.folder)):
                    found.append(int(entry.name))
            except OSError:
                pass
        return found

    def engines(self, client):
        return [process for process in self.processes() if process != client.pid]

    def complete(self):
        """Resumes until the run is complete."""
        for _ in range(8):
            begun = (self.out / "manifest.json").exists()
            if not begun and self.out.exists():
                shutil.rmtree(self.out)
            client = self.resumed() if begun else self.fresh()
            _, error = client.communicate(timeout=120)
            self.kept()
            if client.returncode == 0:
                return
        raise AssertionError(f"not complete after 8 attempts: {error.decode()}")

    def judge(self):
        rounds = collections.Counter()
        for line in self.log().splitlines():
            event = json.loads(line)
            if event["event"] == "round":
                rounds[event["result"]["case"], event["result"]["round"]] += 1
        if len(rounds) != CASES * ROUNDS or set(rounds.values()) != {1}:
            raise AssertionError(f"rounds: {sorted(rounds.items())}")
        report = subprocess.run([self.binary, "report", "out"], cwd=self.folder, capture_output=True, text=True)
        if report.returncode != 0 or report.stderr or "unchecked" in report.stdout:
            raise AssertionError(f"report: {report.stderr}{report.stdout}")
        until = time.monotonic() + 35
        while self.processes():
            if time.monotonic() > until:
                raise AssertionError(f"processes are left: {self.processes()}")
            time.sleep(0.05)


def some_time(dice):
    time.sleep(dice.uniform(0.0, 0.25))


def signalled(process, what):
    try:
        os.kill(process, what)
    except ProcessLookupError:
        pass


def left_alone(run, dice):
    run.fresh().communicate(timeout=120)


def client_killed(run, dice):
    client = run.fresh()
    some_time(dice)
    client.kill()
    client.communicate()


def interrupted(run, dice):
    client = run.fresh()
    some_time(dice)
    client.send_signal(dice.choice([signal.SIGINT, signal.SIGTERM]))
    client.communicate(timeout=60)


def engine_killed(run, dice):
    client = run.fresh()
    some_time(dice)
    for engine in run.engines(client):
        signalled(engine, signal.SIGKILL)
    client.communicate(timeout=120)


def paused(run, dice):
    client = run.fresh()
    some_time(dice)
    stopped = [client.pid] if dice.random() < 0.5 else run.engines(client)
    for process in stopped:
        signalled(process, signal.SIGSTOP)
    some_time(dice)
    for process in stopped:
        signalled(process, signal.SIGCONT)
    client.communicate(timeout=120)


def two_clients(run, dice):
    first = run.fresh()
    some_time(dice)
    second = run.resumed() if (run.out / "manifest.json").exists() else run.fresh()
    for client in (first, second):
        client.communicate(timeout=120)


def disk_full(run, dice):
    disk = run.folder / "out"
    disk.mkdir()
    size = dice.choice([8, 16, 24, 32, 48, 64])
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", disk], capture_output=True)
    if mounted.returncode != 0:
        raise PermissionError
    try:
        run.fresh().communicate(timeout=120)
        run.kept()
        kept = run.folder / "kept"
        shutil.copytree(disk, kept)
    finally:
        subprocess.run(["umount", disk], check=True)
    disk.rmdir()
    kept.rename(disk)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="target/release/scatterlab")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    binary = pathlib.Path(arguments.binary).resolve()
    dice, tally, broken = random.Random(arguments.seed), collections.Counter(), []
    ways = [left_alone, client_killed, interrupted, engine_killed, paused, two_clients, disk_full]
    for number in range(arguments.runs):
        way = dice.choice(ways)
        name = way.__name__.replace("_", " ")
        with tempfile.TemporaryDirectory() as folder:
            run = Run(binary, pathlib.Path(folder).resolve())
            try:
                way(run, dice)
                run.kept()
                run.complete()
                run.judge()
                tally[name] += 1
            except PermissionError:
                tally[f"{name}: left out, no right to mount"] += 1
            except (AssertionError, subprocess.TimeoutExpired) as error:
                broken.append(f"run {number}, {name}: {error}")
                for process in run.processes():
                    signalled(process, signal.SIGKILL)
    print(", ".join(f"{count} {name}" for name, count in sorted(tally.items())))
    print("\n".join(broken) or f"{sum(tally.values())} runs complete, nothing lost or doubled, no process left")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
