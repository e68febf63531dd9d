#!/usr/bin/env bash
# Makes scatterlab-VERSION.tar.xz from a commit: its files, the crates of Cargo.lock, and a configuration by which Cargo takes
# these. From it, `cargo build --release --offline --locked` needs Rust and a C compiler, and neither network, git nor CUDA.
#
#   packaging/archive.sh [COMMIT]       of a checkout; Cargo fetches the crates that it does not have yet
set -euo pipefail
commit=${1:-HEAD}
source "$(dirname "${BASH_SOURCE[0]}")/about.sh"

name=scatterlab-$(git show "$revision:Cargo.toml" | version)
rm -rf "${out:?}/$name"
git archive --prefix="$name/" "$revision" | tar --extract --directory="$out"
cd "$out/$name"
mkdir .cargo
cargo vendor --quiet --locked --versioned-dirs vendor
cat >.cargo/config.toml <<EOF
[source.crates-io]
replace-with = "vendored"

[source.vendored]
directory = "vendor"
EOF
# Import libraries for linking on Windows: a third of all bytes, and binaries that nobody can read.
python3 - vendor/winapi-*-pc-windows-gnu-* <<'PYTHON'
import json, pathlib, sys

for folder in map(pathlib.Path, sys.argv[1:]):
    listed = folder / ".cargo-checksum.json"
    checksums = json.loads(listed.read_text())
    for name in [name for name in checksums["files"] if name.endswith(".a")]:
        (folder / name).unlink()
        del checksums["files"][name]
    listed.write_text(json.dumps(checksums))
PYTHON
tar_xz "$name"
rm -rf "${out:?}/$name"
