# The pinned nvcc, for scripts to source: they set `here` first, call install_nvcc, and compile
# several files at once by in_parallel.
#
#   SCATTERLAB_NVCC_HOME  where the compiler is installed at first use, with pip
#                         (default: ${XDG_CACHE_HOME:-~/.cache}/scatterlab/nvcc-13.0.88)
#   PYTHON                (default: python3)

packages=(nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88
    nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85)
home=${SCATTERLAB_NVCC_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/scatterlab/nvcc-13.0.88}
toolkit=$home/nvidia/cu13
nvcc=$toolkit/bin/nvcc
python=${PYTHON:-python3}
# The oldest architecture that this nvcc compiles for; the driver makes machine code
# for the device that is there.
virtual_arch=compute_75

# What a source is compiled for: those with bulk copies need the architecture that brought them.
virtual_arch_of() {
    case $1 in
    *_bulk) echo compute_90 ;;
    *) echo "$virtual_arch" ;;
    esac
}

die() {
    echo "build.sh: $*" >&2
    exit 1
}

# Runs `$1 NAME` for all names that follow, as many at once as there are processors.
in_parallel() {
    local task=$1 failed=0 pids=() limit
    shift
    limit=$(nproc 2>/dev/null || echo 2)
    for name in "$@"; do
        if ((${#pids[@]} >= limit)); then
            wait "${pids[0]}" || failed=1
            pids=("${pids[@]:1}")
        fi
        "$task" "$name" &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
    return $failed
}

# install FOLDER PACKAGE...: with pip, into a folder of its own that gets its name when
# it is whole, so that an interrupted installation, or two at a time, leave no ruins.
install() {
    local folder=$1 fresh
    shift
    mkdir -p "$(dirname "$folder")"
    fresh=$(mktemp -d "$folder.XXXXXX")
    "$python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$fresh" "$@" >&2 ||
        { rm -rf "$fresh"; die "pip could not install $*"; }
    chmod -R a+rX "$fresh"
    [[ ! -e $folder ]] || mv -T "$folder" "$fresh.old"
    mv -T "$fresh" "$folder" || die "could not put the installation at $folder"
    rm -rf "$fresh.old"
}

install_nvcc() {
    [[ -x $nvcc && -x $toolkit/nvvm/bin/cicc && -x $toolkit/bin/ptxas ]] && return
    echo "build.sh: installing nvcc 13.0.88 into $home (300 MB, once)" >&2
    install "$home" "${packages[@]}"
    "$nvcc" --version >/dev/null || die "$nvcc does not run"
}
