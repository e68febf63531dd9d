#!/usr/bin/env bash
# Builds the peers' programs. See benches/peers/README.md.
set -euo pipefail
export LC_ALL=C

usage() {
    cat <<'USAGE'
Usage: benches/peers/build.sh [DEST]

Builds the peers into DEST (default: ${SCATTERLAB_PEERS:-${XDG_DATA_HOME:-~/.local/share}/scatterlab/peers}),
where scatterlab looks for them.

Environment:
  NVCC                  a compiler of your own, such as NVCC=nvcc; without it the pinned one is
                        installed at first use, as for the kernels
  ARCH                  -gencode options instead of PTX for compute capability 7.5 and machine
                        code for 9.0
  SCATTERLAB_NVCC_HOME  where the pinned compiler is, or is installed with pip
  PYTHON                (default: python3)
USAGE
}

case ${1:-} in
-h | --help) usage; exit ;;
-*) usage >&2; exit 2 ;;
esac
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=kernels/nvcc.sh
source "$here/../../kernels/nvcc.sh"
data=${XDG_DATA_HOME:-$HOME/.local/share}
dest=${1:-${SCATTERLAB_PEERS:-$data/scatterlab/peers}}
links=()
if [[ -n ${NVCC:-} ]]; then
    nvcc=$(command -v "$NVCC") || die "there is no $NVCC"
else
    install_nvcc
    links=(-L "$toolkit/lib")
fi
read -ra targets <<<"${ARCH:--gencode arch=$virtual_arch,code=$virtual_arch -gencode arch=compute_90,code=sm_90}"
mkdir -p "$dest"
for source in "$here"/*.cu; do
    name=$(basename "$source" .cu)
    # Move the program into place once it is complete: the old one may be running.
    "$nvcc" -std=c++17 -O3 -Xcompiler -ffp-contract=off --extended-lambda "${targets[@]}" "${links[@]}" -o "$dest/.$name.$$" "$source" ||
        { rm -f "$dest/.$name.$$"; die "$name.cu does not compile"; }
    mv -f "$dest/.$name.$$" "$dest/$name"
    echo "$dest/$name"
done
