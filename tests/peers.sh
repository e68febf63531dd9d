#!/usr/bin/env bash
# Exercises the peers on a machine with an NVIDIA GPU and an nvcc, in one visit:
#
#   bash tests/peers.sh OUT [BINARY]
#
# Builds the peers with that nvcc (NVCC=PATH for another one), runs each by hand into OUT/*.csv and, given a
# scatterlab BINARY, the recipe `peers` into OUT/peers.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$(realpath "$1")
binary=${2:+$(realpath "$2")}
programs=$(mktemp -d)
trap 'rm -rf "$programs"' EXIT
NVCC=${NVCC:-nvcc} bash "$here/benches/peers/build.sh" "$programs"

failed=()
# by_hand TABLE PROGRAM KEY=VALUE…: appends a row to a table, which starts with the header of the first one.
by_hand() {
    local table=$out/$1.csv rows
    rows=$("$programs/$2" --csv "${@:3}") || { failed+=("$*"); return 0; }
    if [[ -e $table ]]; then tail -n +2 <<<"$rows" >>"$table"; else echo "$rows" >"$table"; fi
}

echo "== the protocol"
printf '%s\n' 'prepare primitive=gather seed=1 index=4 locations=random tuple=8 tuples=16777216' 'sample 3' release \
    'prepare primitive=gather tuples=4 method=direct' | "$programs/plain"

echo "== by hand"
for kernel in copy write scale add triad; do
    by_hand stream plain primitive=stream kernel=$kernel elements=134217728
done
for kernel in copy write; do
    by_hand cudamemcpy cudamemcpy primitive=stream kernel=$kernel elements=134217728
done
for primitive in gather scatter; do
    for tuples in 1048576 16777216 268435456; do
        by_hand moves plain primitive=$primitive tuples=$tuples tuple=8 index=4 locations=random
    done
    for tuple in 4 16 32; do
        by_hand moves plain primitive=$primitive tuples=16777216 tuple=$tuple index=8 locations=random
    done
done
for kernel in gather scatter; do
    for stride in 1 2 4 8 16 32 64 128; do
        by_hand spatter spatter primitive=pattern kernel=$kernel source=uniform source.uniform.length=256 \
            source.uniform.stride=$stride delta=$((256 * stride)) count=$((1000000000 / (256 * stride)))
    done
done
tail -n 100 "$out"/*.csv || true

if [[ -n $binary ]]; then
    echo "== in the lab"
    rm -rf "$out/peers"
    (cd "$out" && "$binary" run peers --peers "$programs" --set measure.budget=2s --out peers) || failed+=(lab)
fi
printf 'failed: %s\n' "${failed[@]:-none}"
((${#failed[@]} == 0))
