#!/usr/bin/env bash
# Runs the recipes of the papers on a machine with a GPU, for `scatterlab claims --runs OUT`.
# Usage: papers.sh PROGRAM PEERS OUT; PEERS is the folder into which benches/peers/build.sh put its programs.
set -euo pipefail

program=$1 out=$3
export SCATTERLAB_PEERS=$2
failed=0

# Ends a run that takes too long as Ctrl-C does: it can be resumed.
measure() {
    local recipe=$1 name
    shift
    name=$(dirname "$recipe")-$(basename "$recipe" | cut -d- -f1)
    timeout -s INT 150 "$program" run "$recipe" "$@" --quiet --out "$out/$name" || {
        echo "$recipe: status $?" >&2
        failed=1
    }
}

"$program" calibrate --backend cuda --quick
for figure in fig06-sequential fig07-random fig08-partitions fig09-passes fig10-segments fig11-partitions fig15-radix-sort; do
    measure "he2007/$figure" --backend cuda
done
for table in table04-stages table05-speedups table06-distributions table07-identity table08-radix-sort table10-shortest-paths \
    table11-histogram fig08-distributions; do
    measure "ashkiani2017/$table" --backend cuda
done
for recipe in lavin2020/app-patterns lavin2020/fig05-gpu-stride lavin2020/fig09-references sengupta2007/fig05; do
    measure "$recipe" --backend cuda
done
# Claims that compare a GPU with processors.
for recipe in he2007/fig01 he2007/fig13-tuples he2007/fig16-sort-comparison he2007/fig18-hash-search sengupta2007/table-sorts \
    sengupta2007/shallow-water sengupta2007/spmv; do
    measure "$recipe"
done
exit "$failed"
