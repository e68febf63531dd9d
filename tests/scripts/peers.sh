#!/usr/bin/env bash
# Exercises the peers on a machine with an NVIDIA GPU and an nvcc, in one visit:
#
#   bash tests/scripts/peers.sh OUT [BINARY]
#
# Builds the peers of GPUs with that nvcc (NVCC=PATH for another one), runs each by hand into OUT/*.csv and, given a
# scatterlab BINARY, the recipe `peers` into OUT/peers.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
out=$(realpath "$1")
binary=${2:+$(realpath "$2")}
programs=$(mktemp -d)
trap 'rm -rf "$programs"' EXIT
NVCC=${NVCC:-nvcc} bash "$here/benches/peers/build.sh" --cuda "$programs"

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
printf '%s\n' 'prepare primitive=reduce seed=1 elements=16777216' 'sample 3' release \
    'prepare primitive=reduce seed=1 elements=16777216' | "$programs/cub-reduce"

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
for peer in cub-radix-sort cub-merge-sort; do
    for key in u32 u64; do
        for values in none 4B 8B; do
            for distribution in uniform zipf sorted reversed equal few; do
                by_hand sort $peer primitive=sort keys=16777216 key=$key values=$values distribution=$distribution
            done
        done
    done
done
for counts in best 32 64; do
    by_hand sort-counts cub-radix-sort primitive=sort keys=268435456 values=none counts=$counts
    by_hand sort-counts cub-radix-sort primitive=sort keys=268435456 values=4B counts=$counts
    by_hand sort-bits cub-radix-sort primitive=sort keys=33554432 begin=5 end=13 counts=$counts
    by_hand reduce cub-reduce primitive=reduce elements=268435456 counts=$counts
    by_hand scan cub-exclusive-sum primitive=scan elements=268435456 counts=$counts
    by_hand sum-by-key cub-sum-by-key primitive=segmented-scan elements=268435456 segments=constant \
        segments.constant.length=256 counts=$counts
    for values in none 4B 8B; do
        for peer in cub-radix-sort cub-sort; do
            by_hand multisplit $peer primitive=multisplit keys=33554432 buckets=256 values=$values counts=$counts
        done
        by_hand multisplit cub-partition primitive=multisplit keys=33554432 buckets=2 values=$values counts=$counts
    done
    by_hand histogram cub-histogram primitive=histogram elements=268435456 bins=256 counts=$counts
done
for type in f32 f64; do
    for beta in 0 1; do
        for matrix in "laplace5 matrix.laplace5.side=4096" "laplace7 matrix.laplace7.side=256" "random matrix.random.rows=4194304" \
            "banded matrix.banded.rows=1000003" "rmat matrix.rmat.scale=22" "empty-rows matrix.empty-rows.rows=1000003" \
            "dense-row matrix.dense-row.rows=1000003"; do
            read -ra words <<<"primitive=spmv matrix=$matrix type=$type beta=$beta"
            by_hand spmv-$beta-${words[1]#*=} cusparse "${words[@]}"
            by_hand sell-$beta-${words[1]#*=} cusparse-sell "${words[@]}"
        done
    done
done
for algorithm in default csr-alg1 csr-alg2; do
    for preprocess in no yes; do
        by_hand spmv-ways cusparse primitive=spmv matrix=random matrix.random.rows=4194304 algorithm=$algorithm preprocess=$preprocess
    done
done
for slice in 16 32 64 128; do
    by_hand sell-ways cusparse-sell primitive=spmv matrix=random matrix.random.rows=4194304 slice=$slice
done
for type in f32 f64; do
    for shape in "512 512" "64 1048576" "16777216 1"; do
        read -r rows systems <<<"$shape"
        for layout in strided interleaved; do
            by_hand gtsv2 cusparse-gtsv2 primitive=tridiagonal rows="$rows" systems="$systems" layout=$layout type=$type
        done
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
