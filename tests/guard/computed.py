"""Results that the program computes: findings of `verify`, and hashes of its outputs."""

import collections
import csv
import json
import os
import re
import sys

SEED = "1"
# Processors on which the summary was computed: sums of floats, and the places in hash tables, depend on the number of workers.
PROCESSORS = 2


def reproducible(row):
    """Whether two runs, and two machines, must agree on the output's bytes. They need not if several threads
    scatter and several values may go to one place, of which any may remain: this happens where the places are a
    list (which may repeat), in patterns whose uses overlap, and where an array is visited more than once. Nor where
    several threads fill a hash table: records take each other's places, and of those with the same key any is found."""
    value = parameters(row)
    if row["primitive"] in ("hash-build", "hash-search") and row["backend"] != "scalar":
        return row["primitive"] == "hash-search" and value["duplicates"] == "1"
    if row["primitive"] == "random-access" and value["kernel"] == "write" and row["backend"] != "scalar":
        # In the second lap, any of the visits to an element may be the last.
        return int(value["accesses"]) * int(value["element"]) <= int(value["footprint"])
    scatters = value.get("kernel") in ("scatter", "multiscatter", "gs")
    if row["backend"] == "scalar" or not (row["primitive"] == "scatter" or scatters):
        return True
    if row["primitive"] != "pattern":
        return value["locations"] != "list"
    side, delta = ("scatter", "delta-scatter") if value["kernel"] == "gs" else ("source", "delta")
    if value[delta] == "no-reuse" and value["kernel"] == "scatter":
        return value[side] != "custom"
    if value[side] != "uniform":
        return False
    length, stride = (int(value[f"{side}.uniform.{name}"]) for name in ("length", "stride"))
    reach = (length - 1) * stride + 1
    return int(value["count"]) <= 1 or all(step.isdigit() and int(step) >= reach for step in value[delta].split(","))


def parameters(row):
    return dict(re.findall(r"(\S+)=(\S+)", row["label"]))


def checks(guard, backend, cuda=False):
    """Adds the checks of a backend by primitive and method."""
    outputs = guard.folder / f"{backend}.csv"
    said = guard.run("verify", "--backend", backend, "--mutants", "--seed", SEED, "--outputs", outputs, cuda=cuda)
    # Status 3: a case failed, which its item shows.
    if not re.search(r"^exit status [03]\n\Z", said, re.M):
        sys.exit(f"verify --backend {backend}:\n{said}")
    groups = collections.defaultdict(list)
    with outputs.open(newline="") as file:
        for row in csv.DictReader(file):
            value = parameters(row)
            isa = value.get("backend.cpu.isa", "")
            name = " ".join(filter(None, [row["primitive"], value.get("method")]))
            groups["/".join(filter(None, [backend, isa, row["suite"], name]))].append(row)
    for name, rows in groups.items():
        tally = collections.Counter(row["finding"] for row in rows)
        good = tally["passed"] + tally["caught"] + tally["right"]
        open_ = tally["n/a"] + tally["not certified"]
        size = f"{good}+{open_}+{len(rows) - good - open_}"
        guard.add(f"verify/{name}", "".join(sorted(map(shown, rows))), size)
    if cuda:
        choices = collections.defaultdict(set)
        for row in (row for rows in groups.values() for row in rows if row["resolved"]):
            choices[row["primitive"]].add(f"{row['label']}: {resolved(row)}\n")
        for name, lines in choices.items():
            guard.add(f"choices/{name}", "".join(sorted(lines)))


def resolved(row):
    """The resolved values of open parameters, without the times of stages and what threads that race for arcs count."""
    return " ".join(word for word in row["resolved"].split() if not word.startswith(("stages.", "steps", "inefficiency")))


def shown(row):
    output = row["blake3"] and (row["blake3"] if reproducible(row) else "not the same in every run")
    return f"{row['label']}: {row['case']} {row['finding']} {row['detail']} {row['bytes']} {output}\n"


def verify(guard):
    if len(os.sched_getaffinity(0)) < PROCESSORS:
        guard.absent.append(("verify/cpu/", f"the summary is that of {PROCESSORS} processors, and here is one"))
    devices = json.loads(guard.run("devices", "--format", "json").rsplit("exit status", 1)[0])
    here = next(device["isa"] for device in devices if device["backend"] == "cpu").split()
    for isa in {"scalar", "avx2", "avx512"} - set(here):
        guard.absent.append((f"verify/cpu/{isa}/", f"this processor has no {isa}"))
    guard.each(lambda backend: checks(guard, backend), ["cpu", "scalar"])


def cuda(guard):
    checks(guard, "cuda", cuda=True)
