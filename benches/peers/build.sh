#!/usr/bin/env bash
# Builds the peers' programs. See benches/peers/README.md.
set -euo pipefail
export LC_ALL=C

usage() {
    cat <<'USAGE'
Usage: benches/peers/build.sh [--cpu | --cuda] [--stamp] [DEST]

Builds the peers into DEST (default: ${SCATTERLAB_PEERS:-${XDG_DATA_HOME:-~/.local/share}/scatterlab/peers}),
where scatterlab looks for them: those of the backend cpu with cargo, those of cuda with nvcc, or one kind only.
The peers that call CUB are built twice: with the pinned nvcc's own, and in DEST/newer with CUB 3.5, which needs a newer nvcc.
With --stamp, what was built is written into benches/peers/stamps, which a change of the peers commits.

Environment:
  NVCC                  a compiler of your own, such as NVCC=nvcc; without it the pinned ones are
                        installed at first use, as for the kernels. With it there is one CUB, the compiler's
  ARCH                  -gencode options instead of PTX for compute capability 7.5 and machine
                        code for 9.0
  SCATTERLAB_NVCC_HOME  where the pinned compiler is, or is installed with pip; the newer one is beside it
  PYTHON                (default: python3)
  RUSTFLAGS             (default: -C target-cpu=native, for the processor of this machine)
USAGE
}

kinds=(cpu cuda)
stamp=
while (($#)); do
    case $1 in
    -h | --help) usage; exit ;;
    --cpu | --cuda) kinds=("${1#--}") ;;
    --stamp) stamp=yes ;;
    -*) usage >&2; exit 2 ;;
    *) break ;;
    esac
    shift
done
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=kernels/nvcc.sh
source "$here/../../kernels/nvcc.sh"
data=${XDG_DATA_HOME:-$HOME/.local/share}
(($# <= 1)) || die "one DEST, not $*"
dest=${1:-${SCATTERLAB_PEERS:-$data/scatterlab/peers}}
mkdir -p "$dest"

# One program, under the name of each peer.
build_cpu() {
    local name program target=${CARGO_TARGET_DIR:-$here/../../target}/cpu-peers
    RUSTFLAGS=${RUSTFLAGS--C target-cpu=native} cargo build --quiet --release --locked \
        --manifest-path "$here/cpu/Cargo.toml" --target-dir "$target" || die "the peers of cpu do not compile"
    program=$target/release/scatterlab-cpu-peers
    for name in $("$program" --list); do
        # Move the program into place once it is complete: the old one may be running.
        cp "$program" "$dest/.$name.$$"
        mv -f "$dest/.$name.$$" "$dest/$name"
        echo "$dest/$name"
    done
    stamp cpu "$program"
}

build_cuda() {
    local links=() targets names newer=()
    [[ -z $stamp || -z ${NVCC:-}${ARCH:-} ]] || die "--stamp is about the pinned compiler: unset NVCC and ARCH"
    names=("$here"/*.cu)
    names=("${names[@]##*/}")
    names=("${names[@]%.cu}")
    if [[ -n ${NVCC:-} ]]; then
        nvcc=$(command -v "$NVCC") || die "there is no $NVCC"
    else
        install_nvcc
        links=(-L "$toolkit/lib")
    fi
    read -ra targets <<<"${ARCH:--gencode arch=$virtual_arch,code=$virtual_arch -gencode arch=compute_90,code=sm_90}"
    in_parallel build_one "${names[@]}" || die "a peer does not compile"
    if [[ -z ${NVCC:-} ]]; then
        newer=("$here"/cub-*.cu)
        newer=("${newer[@]##*/}")
        build_newer "${newer[@]%.cu}"
    fi
    stamp cuda "${names[@]/#/$dest/}"
}

# CUB 3.5, which the other nvcc does not compile. A driver of CUDA 13.0 runs machine code of 13.3, and refuses its PTX.
build_newer() {
    local packages=(nvidia-cuda-nvcc==13.3.73 nvidia-cuda-crt==13.3.73 nvidia-nvvm==13.3.73
        nvidia-cuda-runtime==13.3.29 nvidia-cuda-cccl==13.3.5.0.6)
    local home=${home%/*}/nvcc-13.3.73 dest=$dest/newer targets
    local toolkit=$home/nvidia/cu13
    local nvcc=$toolkit/bin/nvcc links=(-L "$toolkit/lib")
    [[ -x $nvcc ]] || { echo "build.sh: installing nvcc 13.3.73 into $home (300 MB, once)" >&2; install "$home" "${packages[@]}"; }
    read -ra targets <<<"${ARCH:--gencode arch=compute_90,code=sm_90}"
    mkdir -p "$dest"
    in_parallel build_one "$@" || die "a peer does not compile with the newer CUB"
}

# In the background, where a command that fails does not end the function.
build_one() {
    # Floats are not fused on the host either: Zipf's table is the same on every machine.
    "$nvcc" -std=c++17 -O3 -Xcompiler -ffp-contract=off --extended-lambda "${targets[@]}" "${links[@]}" \
        -o "$dest/.$1.$$" "$here/$1.cu" || { rm -f "$dest/.$1.$$"; echo "build.sh: $1.cu does not compile" >&2; exit 1; }
    mv -f "$dest/.$1.$$" "$dest/$1" || exit 1
    echo "$dest/$1"
}

stamp() { [[ -z $stamp ]] || "$python" "$here/../../kernels/stamps.py" peers "$@"; }

for kind in "${kinds[@]}"; do
    "build_$kind"
done
