#!/usr/bin/env bash
# Exercises a release binary on a machine with an NVIDIA GPU, in one visit:
#
#   bash tests/scripts/gpu.sh BINARY OUT [STEP…]
#
# Steps: devices, verify, memcheck, racecheck, sass, processor, sanity, patterns, faults, startup; and for
# comparison with peers, which this machine's nvcc builds: ceilings, peers, strides, suites, random, passes,
# partitioned, fetch, hints, histograms, counters. Logs and run folders go to OUT. BINARY is a path or a
# command's name; PEERS names a folder with the peers.
set -uo pipefail
binary=$1
[ ! -e "$binary" ] || binary=$(realpath "$binary")
out=$(realpath "$2")
shift 2
steps=${*:-devices verify memcheck racecheck sass processor sanity patterns faults startup}
failed=()

devices() { "$binary" devices; }

# Check against the oracle, beyond 4 GiB, and with deliberately wrong kernels.
verify() { "$binary" verify --backend cuda --mutants; }

# The same cases under the sanitizer, with a single seed; wrong kernels must stay inside their arrays too.
sanitize() {
  timeout 280 compute-sanitizer --tool "$1" --target-processes all --error-exitcode 9 --print-limit 5 \
    "$binary" verify --backend cuda --small --seed 7 "${@:2}"
}
memcheck() { sanitize memcheck --mutants; }
# Racecheck follows each access to shared memory and is slow; the sample still includes every kernel.
racecheck() { sanitize racecheck --sample 250; }

# Count the stores to shared memory that each pattern kernel keeps in an H200's machine code.
sass() {
  ptxas -arch=sm_90 kernels/ptx/pattern.ptx -o "$out/pattern.cubin" &&
    cuobjdump -sass "$out/pattern.cubin" | awk '/Function :/ {name=$3} / STS/ {stores[name]++} END {for (n in stores) print n, stores[n], "STS"}' | sort
  rm -f "$out/pattern.cubin"
}

# The CPU counterparts of the same cases on this machine.
processor() { "$binary" verify --backend scalar,cpu --sample 1500 --mutants; }

# Stride-1 pattern gather beside stream read, on the GPU and on the CPU with the same threads.
sanity() { (cd "$out" && "$binary" run sanity --out h200-sanity); }

patterns() { (cd "$out" && "$binary" run lavin2020/app-patterns --backend scalar,cpu,cuda --out h200-app-patterns); }

# The program's reaction to faults that the GPU really has.
faults() { bash tests/scripts/faults.sh "$binary" "$out/faults"; }

# Time to the first sample, with the driver's kernel cache empty and filled.
startup() { python3 "$(dirname "$0")/startup.py" "$binary"; }

# Builds the peers for comparison.
peers_built() {
  : "${PEERS:=/tmp/scatterlab-peers}"
  [ -x "$PEERS/plain" ] || NVCC=nvcc bash "$(dirname "$0")/../../benches/peers/build.sh" "$PEERS"
}

# lab RECIPE NAME [OPTION…]: runs a shipped recipe into the folder h200-NAME.
lab() { (cd "$out" && "$binary" run "$1" --out "h200-$2" "${@:3}"); }
beside() { peers_built && lab "$1" "$2" --peers "$PEERS" "${@:3}"; }

ceilings() { lab ceilings ceilings --backend cuda; }
peers() { beside peers peers; }
strides() { beside lavin2020/gpu-tuning tuning --set peers=spatter; }
suites() { beside lavin2020/gpu-suites suites --set peers=spatter; }
random() { beside he2007/gpu-random random --set peers=plain; }
passes() { lab he2007/gpu-passes passes; }
partitioned() { beside he2007/gpu-partitioned partitioned --set peers=plain; }
fetch() { lab he2007/gpu-fetch fetch; }
hints() { lab he2007/gpu-hints hints; }
histograms() {
  beside ashkiani2017/table11-histogram histogram --backend cuda &&
    beside ashkiani2017/gpu-histogram histogram-bins --set peers=cub-histogram
}

# Counters of random gathers and scatters, to find their limits: one launch of each, from L2 and from memory.
counters() {
  local size ids
  for size in 1Mi 16Mi 256Mi; do
    ids=$("$binary" run he2007/gpu-random --set "tuples=$size" --dry-run | awk '/^  [0-9a-f]+ / {print $1}')
    # shellcheck disable=SC2086
    "$binary" counters $ids he2007/gpu-random --set "tuples=$size" | tee "$out/counters-$size.sh" | grep '^#'
    bash "$out/counters-$size.sh" 2>&1 | grep -E '^ *[0-9a-z_]+\.|gather_t|scatter_t|ERR'
  done
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
