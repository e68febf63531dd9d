#!/usr/bin/env bash
# What a machine with an NVIDIA GPU proves about a release binary, in one visit:
#
#   bash tests/gpu.sh BINARY OUT [STEP…]
#
# Steps: devices, verify, memcheck, racecheck, sanity, patterns. Logs, CSV and archives go to OUT.
set -uo pipefail
binary=$(realpath "$1")
out=$(realpath "$2")
shift 2
steps=${*:-devices verify memcheck racecheck sanity patterns}
failed=()

devices() { "$binary" devices; }

# Against the oracle, beyond 4 GiB, and with deliberately wrong kernels.
verify() { "$binary" verify --backend cuda --mutants; }

# The same cases under the sanitizer, one seed; wrong kernels must stay inside their arrays too.
sanitize() {
  timeout 280 compute-sanitizer --tool "$1" --target-processes all --error-exitcode 9 --print-limit 5 \
    "$binary" verify --backend cuda --small --seed 7 "${@:2}"
}
memcheck() { sanitize memcheck --mutants; }
# Racecheck follows each access to shared memory and is slow; a sample has every kernel in it.
racecheck() { sanitize racecheck --sample 250; }

# Stride-1 pattern gather beside stream read, on the GPU and on the CPU with the same threads.
sanity() {
  "$binary" run experiments/sanity.yaml --out "$out/sanity" &&
    cut -d, -f2-4 "$out/sanity/results.csv"
}

patterns() {
  "$binary" run experiments/lavin2020/app-patterns.yaml --backend scalar,cpu,cuda --out "$out/h200-app-patterns" &&
    tar -C "$out" -czf "$out/h200-app-patterns.tar.gz" h200-app-patterns
}

for step in $steps; do
  start=$SECONDS
  echo "== $step"
  "$step" 2>&1 | tee "$out/$step.log" | tail -n 25
  status=${PIPESTATUS[0]}
  echo "== $step: status $status, $((SECONDS - start)) s"
  [ "$status" = 0 ] || failed+=("$step")
done
echo "failed: ${failed[*]:-none}"
[ ${#failed[@]} = 0 ]
