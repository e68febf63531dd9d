#!/usr/bin/env bash
# Makes scatterlab-VERSION-TARGET.tar.xz from this tree: the program, which needs Linux and glibc 2.17 or newer, with the list of
# its crates (inside for cargo-audit and others, and beside it as CycloneDX) and their licences. Trees of one commit give the
# same bytes, whatever their folders are.
#
#   packaging/portable.sh [TARGET]      by default x86_64-unknown-linux-gnu; others, such as
#                                       aarch64-unknown-linux-gnu, need `rustup target add TARGET` first
#
# Fetches the linker (zig, with the hashes of zig.txt) and cargo-auditable, once, into the cache folder.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/about.sh"
target=${1:-x86_64-unknown-linux-gnu}
glibc=2.17
auditable=0.7.7

cache=${XDG_CACHE_HOME:-$HOME/.cache}/scatterlab/packaging
if ! cmp --quiet packaging/zig.txt "$cache/venv/zig.txt"; then
    python3 -m venv --clear "$cache/venv"
    "$cache/venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes --requirement packaging/zig.txt
    cp packaging/zig.txt "$cache/venv"
fi
tools=$cache/auditable-$auditable
[[ -x $tools/bin/cargo-auditable ]] ||
    (cd / && cargo install --quiet --locked --root "$tools" --target-dir "$cache/target" "cargo-auditable@$auditable")

# Messages of panics name sources, here by paths that are the same on every machine. The last prefix that fits counts.
cargo fetch --quiet --locked --target "$target"
built=$(realpath --canonicalize-missing "${CARGO_TARGET_DIR:-target}")
flags=("--remap-path-prefix=$PWD=/scatterlab" "--remap-path-prefix=$built=/target")
for crates in "$PWD/vendor" "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*; do
    flags+=("--remap-path-prefix=$crates=/crates")
done
CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f' && echo "${flags[*]}")
export CARGO_ENCODED_RUSTFLAGS CARGO_PROFILE_RELEASE_STRIP=symbols CARGO_INCREMENTAL=0
PATH=$cache/venv/bin:$tools/bin:$PATH cargo auditable zigbuild --locked --release --bin scatterlab --target "$target.$glibc"

name=scatterlab-$version-$target
rm -rf "${out:?}/$name"
mkdir "$out/$name"
cp "$built/$target/release/scatterlab" LICENSE-APACHE LICENSE-MIT README.md CHANGELOG.md "$out/$name"
python3 packaging/dependencies.py sbom "$target" >"$out/$name/scatterlab.cdx.json"
python3 packaging/dependencies.py licences "$target" >"$out/$name/THIRD-PARTY"
newest=$(objdump -T "$out/$name/scatterlab" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1)
[[ $(printf '%s\n' "GLIBC_$glibc" "$newest" | sort -V | tail -1) == "GLIBC_$glibc" ]] || {
    echo "$out/$name/scatterlab needs $newest, newer than GLIBC_$glibc" >&2
    exit 1
}
sha256sum "$out/$name/scatterlab"
tar_xz "$name"
