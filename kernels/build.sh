#!/usr/bin/env bash
# Builds kernels/ptx/*.ptx from kernels/*/*.cu with a pinned nvcc. See kernels/README.md.
set -euo pipefail
export LC_ALL=C

usage() {
    cat <<'USAGE'
Usage: kernels/build.sh [MODE] [NAME...]

Builds the PTX of every kernels/*/*.cu, or of the named ones (`stream` for stream/stream.cu).

  (no mode)     write kernels/ptx/NAME.ptx and its stamp; delete PTX without a source
  --stamps      compare the stamps, of the peers too; needs no compiler
  --check       build elsewhere and compare; status 1 and the names of stale files
  --resources   registers, spills and shared memory of each kernel on ARCH (writes nothing)
  --sass        machine code for ARCH on standard output (installs a disassembler at first use)

Environment:
  SCATTERLAB_NVCC_HOME  where the compiler is installed at first use, with pip
                        (default: ${XDG_CACHE_HOME:-~/.cache}/scatterlab/nvcc-13.0.88)
  ARCH                  real architecture of --resources and --sass (default: sm_90)
  PYTHON                (default: python3)
USAGE
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=kernels/nvcc.sh
source "$here/nvcc.sh"
# Only for --sass; it does not touch what is committed.
disassembler=(nvidia-cuda-cuobjdump==13.2.51 nvidia-cuda-nvdisasm==13.2.51)
real_arch=${ARCH:-sm_90}
flags=(-std=c++17 -O3)

# The source of a module, whichever folder it lies in; nothing if there is none.
source_of() {
    local found=("$here"/*/"$1.cu")
    [[ ! -e ${found[0]} ]] || echo "${found[0]#"$here/"}"
}

# The architecture asked for, or the oldest one that a source is for.
real_arch_of() {
    local oldest
    oldest=$(virtual_arch_of "$1")
    ((${real_arch//[^0-9]/} < ${oldest//[^0-9]/})) && echo "sm_${oldest//[^0-9]/}" || echo "$real_arch"
}

# What the compiler makes of a kernel may still be more than the assembler can place in registers; then
# the driver refuses the kernel.
build_one() {
    (cd "$here" && "$nvcc" "${flags[@]}" -arch="$(virtual_arch_of "$1")" -ptx "$(source_of "$1")" -o "$out/$1.ptx") &&
        "$toolkit/bin/ptxas" -arch="$(real_arch_of "$1")" -o /dev/null "$out/$1.ptx"
}

resources_one() {
    (cd "$here" && "$nvcc" "${flags[@]}" -arch="$(real_arch_of "$1")" -cubin -Xptxas -v "$(source_of "$1")" \
        -o "$out/$1.cubin") >"$out/$1.log" 2>&1 || { cat "$out/$1.log" >&2; return 1; }
}

build() {
    built
    for name in "${names[@]}"; do
        "$python" "$here/stamps.py" kernel "$name" "$out/$name.ptx" || die "$name has no stamp"
    done
}

# Builds into a folder of its own.
built() {
    out=$(mktemp -d)
    trap 'rm -rf "$out"' EXIT
    in_parallel build_one "${names[@]}" || die "a kernel does not compile"
}

check() {
    built
    local stale=0
    for name in "${names[@]}"; do
        "$python" "$here/stamps.py" text "$out/$name.ptx" | cmp -s - "$here/ptx/$name.ptx" && continue
        echo "build.sh: kernels/ptx/$name.ptx is not what kernels/$(source_of "$name") gives: run kernels/build.sh" >&2
        stale=1
    done
    return $stale
}

resources() {
    out=$(mktemp -d)
    trap 'rm -rf "$out"' EXIT
    in_parallel resources_one "${names[@]}" || die "a kernel does not compile"
    for name in "${names[@]}"; do
        echo "$name.cu on $(real_arch_of "$name"):"
        sed -nE -e "s/^ptxas info *: Compiling entry function '([^']*)'.*/  \1/p" \
            -e 's/^ *([0-9]+ bytes stack frame.*)/    \1/p' \
            -e 's/^ptxas info *: Used (.*)/    \1/p' "$out/$name.log"
    done
}

sass() {
    local tools=$home.disassembler
    [[ -x $tools/nvidia/cu13/bin/nvdisasm ]] || install "$tools" "${disassembler[@]}"
    out=$(mktemp -d)
    trap 'rm -rf "$out"' EXIT
    in_parallel resources_one "${names[@]}" || die "a kernel does not compile"
    for name in "${names[@]}"; do
        PATH=$tools/nvidia/cu13/bin:$PATH cuobjdump -sass "$out/$name.cubin"
    done
}

mode=build
case ${1:-} in
-h | --help) usage; exit ;;
--stamps) "$python" "$here/stamps.py" check; exit ;;
--check | --resources | --sass) mode=${1#--}; shift ;;
-*) usage >&2; exit 2 ;;
esac
names=()
for name in "$@"; do
    name=$(basename "$name" .cu)
    [[ -n $(source_of "$name") ]] || die "there is no kernels/*/$name.cu"
    names+=("$name")
done
if ((${#names[@]} == 0)); then
    for file in "$here"/*/*.cu; do [[ -e $file ]] && names+=("$(basename "$file" .cu)"); done
    ((${#names[@]})) || die "there are no kernels/*/*.cu"
fi
install_nvcc
"$mode"
