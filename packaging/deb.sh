#!/usr/bin/env bash
# Makes scatterlab_VERSION_ARCHITECTURE.deb: a built program, its man pages, completions for bash, zsh and fish, and licences.
#
#   packaging/deb.sh PROGRAM            that of packaging/portable.sh for any Debian since 8
#
# The program is executed for its man pages and completions. DEBFULLNAME and DEBEMAIL name the maintainer.
set -euo pipefail
program=$(realpath "$1")
source "$(dirname "${BASH_SOURCE[0]}")/about.sh"

headers=$(readelf --file-header --dynamic "$program")
case $headers in
*X86-64*) architecture=amd64 target=x86_64-unknown-linux-gnu ;;
*AArch64*) architecture=arm64 target=aarch64-unknown-linux-gnu ;;
*) echo "$program: neither x86-64 nor AArch64" >&2 && exit 1 ;;
esac
depends="libc6 (>= $(objdump -T "$program" | sed -n 's/.*GLIBC_\([0-9.]*\).*/\1/p' | sort -uV | tail -1))"
# Only zig links this statically.
[[ $headers != *libgcc_s.so.1* ]] || depends+=", libgcc-s1"

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
umask 022
share=$root/usr/share doc=$root/usr/share/doc/scatterlab
install -D --mode=755 "$program" "$root/usr/bin/scatterlab"
"$program" man --out "$share/man/man1"
gzip -9n "$share"/man/man1/*
mkdir -p "$root/DEBIAN" "$doc" "$share"/{bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d}
"$program" completions bash >"$share/bash-completion/completions/scatterlab"
"$program" completions zsh >"$share/zsh/vendor-completions/_scatterlab"
"$program" completions fish >"$share/fish/vendor_completions.d/scatterlab.fish"
python3 packaging/dependencies.py sbom "$target" | gzip -9n >"$doc/scatterlab.cdx.json.gz"
python3 packaging/dependencies.py licences "$target" | gzip -9n >"$doc/THIRD-PARTY.gz"
gzip -9n <CHANGELOG.md >"$doc/changelog.gz"
cat >"$doc/copyright" <<EOF
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: scatterlab
Comment: THIRD-PARTY.gz has the licences of the crates that are linked.

Files: *
Copyright: $(sed -n 's/^Copyright (c) //p' LICENSE-MIT)
License: Expat or Apache-2.0

License: Expat
$(sed -n '/^Permission/,$s/^$/./;/^Permission/,$s/^/ /p' LICENSE-MIT)

License: Apache-2.0
 /usr/share/common-licenses/Apache-2.0 has its text.
EOF
cat >"$root/DEBIAN/control" <<EOF
Package: scatterlab
Version: $version
Architecture: $architecture
Maintainer: ${DEBFULLNAME:-scatterlab developers} <${DEBEMAIL:-scatterlab@localhost}>
Installed-Size: $(du -sk --apparent-size --exclude=DEBIAN "$root" | cut -f1)
Depends: $depends
Suggests: libcuda1 (>= 580)
Section: science
Priority: optional
Description: laboratory in a terminal for memory-bound parallel primitives
 Measures gathers, scatters, scans, sorts, sparse matrices and other primitives
 on the processor and on NVIDIA GPUs, certifies each result where it was
 computed, and draws measured bandwidths beside a model's prediction.
 .
 GPUs need the driver of NVIDIA for CUDA 13.0 or newer, which is looked for when
 the program starts.
EOF
dpkg-deb --root-owner-group -Zxz --build "$root" "$out/scatterlab_${version}_$architecture.deb" >&2
(cd "$out" && sha256sum "scatterlab_${version}_$architecture.deb")
