#!/usr/bin/env bash
# Provokes the faults of docs/faults.md that a real GPU can be made to have, each in a run of the program:
# tests/scripts/faults.sh PROGRAM [FOLDER]. Needs cc and takes about five minutes. DRIVER names the driver's
# library if the loader does not find it.
set -u
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "$(command -v "$1")")
out=${2:-$(mktemp -d)}
driver=${DRIVER:-$(ldconfig -p | awk '/libcuda\.so\.1 .*x86-64/ {print $NF; exit}')}
[ -e "$driver" ] || { echo "no libcuda.so.1: set DRIVER"; exit 2; }
mkdir -p "$out" && cd "$out" || exit 2
cc -shared -fPIC -O1 -w -o libfaults.so "$here/../gpu/faults/faults.c" -Wl,--no-as-needed "$driver" -ldl || exit 2
export SCATTERLAB_LIBCUDA=$PWD/libfaults.so FAULT_DRIVER=$driver SCATTERLAB_HUNG_AFTER=20
size=${SIZE:-16Mi}
cat > small.yaml <<YAML
title: Faults
stream: {kernel: [copy, scale, add, triad], elements: $size}
backend: cuda
chart: {x: kernel, y: time}
measure: {rounds: 2, samples: 2, second-look: never}
YAML
sed "s/$size/[$size, 16Gi]/; s/x: kernel/x: elements, lines: kernel/" small.yaml > large.yaml
failed=0

# row NAME RECIPE STATUS LINES WORDS [VARIABLE=VALUE …]: expects LINES lines with WORDS, exit status STATUS, and
# equally many rounds in the events and in samples.csv.
row() {
    local name=$1 recipe=$2 status=$3 lines=$4 words=$5; shift 5
    env "$@" timeout 180 "$program" run "$recipe" --out "$name" > "$name.log" 2>&1; local got=$?
    judge "$name" "$got" "$status" "$lines" "$words"
}

judge() {
    local name=$1 got=$2 status=$3 lines=$4 words=$5 found events samples
    found=$(grep '^\[' "$name.log" | grep -cF "$words")
    events=$(grep -c '"event":"round"' "$name/events.ndjson")
    samples=$(tail -n +2 "$name/samples.csv" | cut -d, -f1-3 | sort -u | wc -l)
    if [ "$got" = "$status" ] && [ "$found" = "$lines" ] && [ "$events" = "$samples" ] \
        && ! grep -q panicked "$name.log"; then
        echo "ok    $name: $events rounds; $(grep -F "$words" "$name.log" | head -1)"
    else
        echo "WRONG $name: status $got (not $status), $found lines (not $lines), rounds $events and $samples"
        sed 's/^/    /' "$name.log"; failed=1
    fi
}

scale="FAULT_KERNEL=stream_scale"
row whole small.yaml 0 0 FAILED
row illegal small.yaml 3 1 'ILLEGAL_ADDRESS (700); the run continues' $scale FAULT_CALL=cuLaunchKernel FAULT_AT=2 FAULT_DOES=wild
row endless small.yaml 3 1 'hung while ' $scale FAULT_CALL=cuEventSynchronize FAULT_AT=2 FAULT_DOES=spin
row crash small.yaml 3 1 'ended by signal 11' $scale FAULT_CALL=cuLaunchKernel FAULT_AT=2 FAULT_DOES=crash
row lost small.yaml 3 1 'DEVICE_UNAVAILABLE (46); the run' FAULT_CALL=cuMemGetInfo_v2 FAULT_AT=6 FAULT_DOES=46 FAULT_ONCE="$PWD/once"
row too-large large.yaml 0 4 'n/a: needs '
row no-memory large.yaml 3 4 'CUDA_ERROR_OUT_OF_MEMORY (2)' FAULT_FREE=4000000000000
row refused small.yaml 3 4 'CUDA_ERROR_INVALID_PTX (218)' FAULT_CALL=cuLibraryLoadData FAULT_DOES=218
grep -H 'more memory than' too-large.log

# The engine is killed from outside, as the kernel does when memory runs out.
sed -i 's/rounds: 2/rounds: 300/' small.yaml
"$program" run small.yaml --out killed > killed.log 2>&1 & run=$!
until [ "$(grep -c '"event":"round"' killed/events.ndjson 2>/dev/null)" -ge 9 ] 2>/dev/null || ! kill -0 $run 2>/dev/null
do sleep 0.01; done
kill -9 "$(cat /proc/$run/task/*/children | awk '{print $1; exit}')"
wait $run; judge killed $? 3 1 'killed by signal 9'
exit $failed
