#!/usr/bin/env bash
# Exercises a release binary on a host with two NVIDIA GPUs that can access each other, in one visit of some
# minutes:
#
#   bash tests/scripts/gpus.sh BINARY OUT [STEP…]
#
# Steps: devices, verify, large, recipe, spatter. Logs and the run's folder go to OUT.
# BINARY is a path or a command's name.
set -uo pipefail
binary=$1
[ ! -e "$binary" ] || binary=$(realpath "$binary")
out=$(realpath "$2")
recipe=$(realpath "$(dirname "$0")/../../experiments/several-gpus.yaml")
shift 2
steps=${*:-devices verify large recipe spatter}
failed=()

devices() { "$binary" devices && nvidia-smi topo -m; }

# Cases on each of two GPUs and across both: against the oracle, and with deliberately wrong kernels. Only a
# sample, because the suites are large and arrays that span GPUs take a while to map.
verify() { timeout 100 "$binary" verify --backend cuda --gpus 2 --small --mutants --sample 800; }

# Arrays that span both GPUs, beyond 4 GiB.
large() { timeout 60 "$binary" verify --backend cuda --gpus 2 --sample 30; }

recipe() {
  (cd "$out" && timeout 120 "$binary" run "$recipe" --set measure.max-rounds=6 --set measure.budget=2s --out several-gpus) || return
  python3 - "$out/several-gpus/results.csv" <<'PY'
import csv, sys

rows = [row for row in csv.DictReader(open(sys.argv[1])) if row["status"] == "done"]
rate = lambda row: float(row["effective_gb_s"])
for primitive in ("stream", "scatter"):
    weak = {row["gpus"]: rate(row) for row in rows if row["primitive"] == primitive and row["memory"] != "spanning"}
    if {"1", "2"} <= weak.keys():
        print(f"{primitive}: {weak['1']:.0f} and {weak['2']:.0f} GB/s, weak scaling {weak['2'] / weak['1']:.3f}")
for row in sorted(rows, key=lambda row: (row["locations"], row["gpus"], int(row["tuples"] or 0))):
    if row["memory"] == "spanning":
        print(row["locations"], row["gpus"], "GPUs,", row["tuples"], f"tuples: {rate(row):.1f} GB/s", row["verification"])
PY
}

spatter() {
  for device in 0 all; do
    "$binary" spatter -b cuda --device "$device" -v0 -p UNIFORM:8:1:NR -l 16777216 || return
  done
}

for step in $steps; do
  start=$SECONDS
  echo "== $step"
  "$step" 2>&1 | tee "$out/$step.log" | tail -n 60
  status=${PIPESTATUS[0]}
  echo "== $step: status $status, $((SECONDS - start)) s"
  [ "$status" = 0 ] || failed+=("$step")
done
echo "failed: ${failed[*]:-none}"
[ ${#failed[@]} = 0 ]
