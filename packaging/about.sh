# Sourced by the other scripts. Enters the tree, a checkout or an unpacked archive, and sets what they need of it: `version`,
# `revision` (40 digits), SOURCE_DATE_EPOCH (the commit's date), and `out`, the folder of results ($OUT or target/packaging).
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${OUT:-${CARGO_TARGET_DIR:-target}/packaging}
mkdir -p "$out"
out=$(cd "$out" && pwd)
if [[ $(<build/revision.txt) == '$'* ]]; then
    read -r revision SOURCE_DATE_EPOCH < <(git log -1 --format='%H %ct' "${commit:-HEAD}")
else
    read -r revision SOURCE_DATE_EPOCH <build/revision.txt
fi
export SOURCE_DATE_EPOCH

# The version in a Cargo.toml on standard input.
version() { sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p'; }
version=$(version <Cargo.toml)

# tar_xz FOLDER: the folder in $out as FOLDER.tar.xz, the same bytes whoever makes it, and when.
tar_xz() {
    tar --create --directory="$out" --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 \
        --numeric-owner --mode=u+rw,go=rX "$1" | xz -6 --threads=1 >"$out/$1.tar.xz"
    (cd "$out" && sha256sum "$1.tar.xz")
}
