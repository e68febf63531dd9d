#!/usr/bin/env python3
"""Our speed-ups over peers in the same run: python3 tests/scripts/ratios.py FOLDER…

Prints a Markdown table. For each case and peer of a run's folder it has the ratio of the medians of
the rounds' medians, and the least and the greatest ratio within one round. For a packed run,
`scatterlab report FOLDER` first writes the tables that this script reads."""

import csv
import statistics
import sys
from collections import defaultdict
from pathlib import Path

WORDS = ("primitive", "kernel", "label", "operator", "type")
NUMBERS = ("elements", "tuples", "tuple", "stride")


def rounds(folder):
    """case -> round -> median of the round's samples, in seconds."""
    samples = defaultdict(lambda: defaultdict(list))
    with open(folder / "samples.csv", newline="") as file:
        for row in csv.DictReader(file):
            samples[row["case"]][row["round"]].append(float(row["seconds"]))
    return {case: {r: statistics.median(s) for r, s in by.items()} for case, by in samples.items()}


def table(folder):
    times, groups = rounds(folder), defaultdict(list)
    with open(folder / "results.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["status"] == "done":
                words = [row[k] for k in WORDS if row.get(k)]
                numbers = [f"{k} {row[k]}" for k in NUMBERS if row.get(k)]
                key = (row["experiment"], " ".join(words), *numbers)
                groups[key].append(row)
    print(f"\n{folder.name}\n\n| case | ours | peer | GB/s | peer's GB/s | ratio | of one round |\n|---|---|---|---|---|---|---|")
    for key, rows in groups.items():
        for peer in (r for r in rows if r["backend"].startswith("peer:")):
            for ours in (r for r in rows if r["backend"] == "cuda"):
                a, b = times[ours["case"]], times[peer["case"]]
                each = [b[r] / a[r] for r in a.keys() & b.keys()]
                rate = [float(r["effective_bytes"]) / float(r["median_s"]) / 1e9 for r in (ours, peer)]
                ratio = float(peer["median_s"]) / float(ours["median_s"])
                print(f"| {', '.join(key[1:])} | {ours['method']} | {peer['backend'][5:]} | {rate[0]:.0f} | {rate[1]:.0f} "
                      f"| {ratio:.3f} | {min(each):.3f} … {max(each):.3f} |")


for name in sys.argv[1:]:
    table(Path(name))
