#!/usr/bin/env bash
# Runs the recipes of the papers on a machine with a GPU, for `scatterlab claims --runs OUT`.
# Usage: papers.sh PROGRAM PEERS OUT [gpu|processors]; PEERS is the folder into which benches/peers/build.sh put its programs.
# What is measured on a GPU alone, or what claims compare with processors; both if nothing is said.
set -euo pipefail

program=$1 out=$3 part=${4:-both}
export SCATTERLAB_PEERS=$2
failed=0

# Ends a run that takes too long as Ctrl-C does: it can be resumed.
measure() {
    local recipe=$1 name
    shift
    name=$(dirname "$recipe")-$(basename "$recipe" | cut -d- -f1)
    timeout -s INT "${limit:-150}" "$program" run "$recipe" "$@" --quiet --out "$out/$name" || {
        echo "$recipe: status $?" >&2
        failed=1
    }
}

on_gpu() {
    local figure table recipe
    for figure in fig06-sequential fig07-random fig08-partitions fig09-passes fig10-segments fig11-partitions fig15-radix-sort; do
        measure "he2007/$figure" --backend cuda
    done
    for table in table04-stages table05-speedups table06-distributions table07-identity table08-radix-sort \
        table10-shortest-paths table11-histogram fig08-distributions; do
        measure "ashkiani2017/$table" --backend cuda
    done
    for recipe in lavin2020/fig05-gpu-stride lavin2020/fig09-references sengupta2007/fig05; do
        measure "$recipe" --backend cuda
    done
}

on_processors() {
    local recipe
    for recipe in he2007/fig01 he2007/fig12-tuple-size he2007/fig13-tuples he2007/fig16-sort-comparison he2007/fig18-hash-search \
        he2007/fig19-conjugate-gradients he2007/fig20-spmv sengupta2007/table-sorts sengupta2007/shallow-water sengupta2007/spmv \
        lavin2020/fig03-cpu-stride lavin2020/fig06-simd lavin2020/app-patterns; do
        measure "$recipe"
    done
}

"$program" calibrate --backend cuda --quick
[[ $part == processors ]] || on_gpu
[[ $part == gpu ]] || on_processors
exit "$failed"
