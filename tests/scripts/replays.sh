#!/usr/bin/env bash
# Ten runs of one recipe on this machine, nine of them judged against the first, and two with a planted
# slowdown: a busy neighbour on the worker's CPU, and transparent huge pages switched off (as root, if the
# kernel has them). Prints the table.
#
#   bash tests/scripts/replays.sh [SCATTERLAB] [OUT]
#
# Exit status 0: none of the ten runs differs, and each planted slowdown is reported. Needs a quiet machine;
# elsewhere, set RUNS, BACKENDS or MARGIN in the environment.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

scatterlab=${1:-target/release/scatterlab}
out=${2:-$(mktemp -d)}
runs=${RUNS:-10} backends=${BACKENDS:-scalar,cpu} margin=${MARGIN:-5%}
pages=/sys/kernel/mm/transparent_hugepage/enabled
neighbour=0 before=

[[ -x $scatterlab ]] || { echo "no $scatterlab; build it: cargo build --locked --release" >&2; exit 2; }
mkdir -p "$out"

restore() {
    ((neighbour == 0)) || kill "$neighbour" 2>/dev/null
    neighbour=0
    [[ -z $before ]] || echo "$before" >"$pages"
    before=
}
trap restore EXIT
trap 'exit 130' INT TERM

# Arrays from 640 KiB (a second-level cache) to 480 MiB.
cat >"$out/recipe.yaml" <<'RECIPE'
title: Gathers to replay
gather: {locations: [sequential, random], tuples: [32Ki, 512Ki, 4Mi, 24Mi], tuple: 8B}
backend: [scalar, cpu]
chart: {x: tuples, y: bandwidth, lines: [backend, locations]}
measure: {rounds: 5, max-rounds: 20, samples: 3, ci: 3%, budget: 8s}
RECIPE

# number WORD FILE: the number of cases that the summary in FILE counts under WORD.
number() { grep -E '^[0-9]+ agree, ' "$2" | grep -oE "[0-9]+ $1" | grep -oE '^[0-9]+' || echo '?'; }

# copies FILE: the machine's own copies, first and now.
copies() { sed -nE "s/^The machine's own copy on ([a-z]+): ([0-9.]+) GB\/s [^→]*→ ([0-9.]+) GB\/s.*/\1 \2→\3/p" "$1" | paste -sd' '; }

slowest() { sed -nE 's/.* (×[0-9.]+) \[.*differ.*/\1/p' "$1" | paste -sd' '; }

# replay NAME: replays the first run and prints its summary as a row of the table.
replay() {
    local log=$out/$1.log status
    "$scatterlab" replay "$out/01" --margin "$margin" --out "$out/$1" >"$log" 2>&1
    status=$?
    printf '%-10s %6s %6s %12s %7s  %-28s %s\n' "$1" "$(number agree "$log")" "$(number differ "$log")" \
        "$(number 'cannot tell' "$log")" "$status" "$(copies "$log")" "$(slowest "$log")"
    return "$status"
}

echo "results in $out · $(uptime | sed 's/.*load/load/')"
"$scatterlab" run "$out/recipe.yaml" --backend "$backends" --out "$out/01" >"$out/01.log" 2>&1 ||
    { tail -3 "$out/01.log" >&2; exit 2; }
printf '%-10s %6s %6s %12s %7s  %-28s %s\n' run agree differ 'cannot tell' status 'own copy, GB/s' 'changes that differ'
wrong=0
for ((run = 2; run <= runs; run++)); do
    replay "$(printf %02d "$run")"
    (($? == 0 || $? == 5)) || ((wrong++))
done

cpu=$(taskset -cp $$ | sed -E 's/.*: ([0-9]+).*/\1/')
taskset -c "$cpu" sh -c 'while :; do :; done' &
neighbour=$!
replay neighbour
(($? == 4)) && noticed=1 || noticed=0
restore

planted=1
before=$(sed -E 's/.*\[(.*)\].*/\1/' "$pages" 2>/dev/null) || before=
if [[ -n $before && $before != never && -w $pages ]] && echo never >"$pages" 2>/dev/null; then
    planted=2
    replay small-pages
    (($? == 4)) && ((noticed++))
    restore
else
    before=
    echo "small-pages: transparent huge pages cannot be switched off here"
fi

echo "$wrong of $((runs - 1)) replays of the same thing differ; $noticed of $planted planted slowdowns are noticed"
((wrong == 0 && noticed == planted))
