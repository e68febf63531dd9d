#!/usr/bin/env bash
# What a machine with an NVIDIA GPU proves about a release binary, in one visit:
#
#   bash tests/gpu.sh BINARY OUT [STEP…]
#
# Steps: devices, verify, memcheck, racecheck, sass, processor, sanity, patterns, faults. Logs and run folders go to OUT.
# BINARY is a path or a command's name.
set -uo pipefail
binary=$1
[ ! -e "$binary" ] || binary=$(realpath "$binary")
out=$(realpath "$2")
shift 2
steps=${*:-devices verify memcheck racecheck sass processor sanity patterns faults}
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

# The kernels of pattern in the machine code of an H200: how many stores to shared memory each keeps.
sass() {
  ptxas -arch=sm_90 kernels/ptx/pattern.ptx -o "$out/pattern.cubin" &&
    cuobjdump -sass "$out/pattern.cubin" | awk '/Function :/ {name=$3} / STS/ {stores[name]++} END {for (n in stores) print n, stores[n], "STS"}' | sort
  rm -f "$out/pattern.cubin"
}

# The same kernels' twins on this machine's processor.
processor() { "$binary" verify --backend scalar,cpu --sample 1500 --mutants; }

# Stride-1 pattern gather beside stream read, on the GPU and on the CPU with the same threads.
sanity() { (cd "$out" && "$binary" run sanity --out h200-sanity); }

patterns() { (cd "$out" && "$binary" run lavin2020/app-patterns --backend scalar,cpu,cuda --out h200-app-patterns); }

# What the program makes of faults that the GPU really has.
faults() { bash tests/gpu_faults/real.sh "$binary" "$out/faults"; }

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
