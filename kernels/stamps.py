#!/usr/bin/env python3
"""Stamps: what the committed results of compilers were made from, so that a check needs no compiler.

    stamps.py check                          compare the stamps of the kernels and of the peers; 1 and the stale ones
    stamps.py text RAW                       what is committed of nvcc's output
    stamps.py kernel NAME RAW                write ptx/NAME.ptx from nvcc's output, and its stamp; forget deleted kernels
    stamps.py peers KIND PROGRAM...          the stamp of a kind of peers, whose programs have just been built

Only the two build.sh call the last two. A stamp hashes the sources with all that they include, the scripts that compile
them (with the compiler's version and flags), this file, and the result: the PTX, or for peers that there was one.
"""

import hashlib
import pathlib
import re
import sys

TREE = pathlib.Path(__file__).resolve().parents[1]
KERNELS, PEERS = TREE / "kernels", TREE / "benches/peers"
SCRIPTS = [KERNELS / "nvcc.sh", KERNELS / "stamps.py"]
KINDS = {"cpu", "cuda"}
COMPILER = "Cuda compilation tools, release 13.0, V13.0.88"
TESTS = r"(?<!#\[cfg\(test\)\]\n)"
INCLUDED = re.compile(TESTS + r'^#(?:include|\[path =) "([^"]+)"', re.M)
MODULE = re.compile(TESTS + r"^(?:pub(?:\(\w+\))? )?mod (\w+);", re.M)
# Lines that number the compiler's build say nothing about the code, nor does the hash of the source's path that names of
# `__shared__` variables in helpers carry.
BUILD = re.compile(r"^// (?:Compiler Build ID:|Based on NVVM|Cuda compilation tools).*\n", re.M)
PATH = re.compile(r"_INTERNAL_[0-9a-f]{8}_")


def sources(files):
    """These files and all that they include, by their paths in the tree. A Rust file includes its modules but those of tests."""
    found, queue = set(), [pathlib.Path(file).resolve() for file in files]
    while queue:
        file = queue.pop()
        if file not in found:
            found.add(file)
            text = file.read_text()
            queue += [(file.parent / name).resolve() for name in INCLUDED.findall(text)]
            if file.suffix == ".rs":
                # Beside the file, or in the folder of its name.
                places = [folder / name for name in MODULE.findall(text) for folder in (file.parent, file.with_suffix(""))]
                modules = [module for place in places for module in (place.with_suffix(".rs"), place / "mod.rs")]
                queue += [module for module in modules if module.is_file()]
    return sorted(found)


def stamp(files):
    """Hash of the sources and the scripts."""
    state = hashlib.blake2b(digest_size=16, person=b"scatterlab stamp")
    for file in [*sources(files), *SCRIPTS]:
        state.update(f"{file.relative_to(TREE)}\0".encode() + file.read_bytes() + b"\0")
    return state.hexdigest()


def kernels():
    return {path.stem for path in KERNELS.glob("*/*.cu")}


def orphans():
    """The PTX of deleted kernels."""
    return sorted(path for path in (KERNELS / "ptx").glob("*.ptx") if path.stem not in kernels())


def of_kernel(name):
    return stamp([KERNELS / "build.sh", *KERNELS.glob(f"*/{name}.cu"), KERNELS / f"ptx/{name}.ptx"])


def of_peers(kind):
    if kind == "cuda":
        return stamp([PEERS / "build.sh", *PEERS.glob("*.cu")])
    cpu = PEERS / "cpu"
    rust = [file for folder in ("src", "tests") for file in (cpu / folder).rglob("*.rs")]
    return stamp([PEERS / "build.sh", cpu / "Cargo.toml", cpu / "Cargo.lock", *rust])


def read(file):
    lines = file.read_text().split("\n") if file.exists() else []
    return dict(reversed(line.split()) for line in lines if line)


def write(file, name, stamp, names):
    """Replaces one of the stamps of these names; others have no source any more."""
    stamps = {**{name: stamp for name, stamp in read(file).items() if name in names}, name: stamp}
    file.write_text("".join(f"{stamps[name]} {name}\n" for name in sorted(stamps)))


def check():
    stale = []
    for file, names, now, remedy in [
        (KERNELS / "ptx/stamps", kernels(), of_kernel, "kernels/build.sh"),
        (PEERS / "stamps", KINDS, of_peers, "benches/peers/build.sh --stamp"),
    ]:
        stamps = read(file)
        for name in sorted(stamps.keys() | set(names)):
            if name not in names:
                stale.append(f"{file.relative_to(TREE)}: {name} has no source: run {remedy}")
            elif stamps.get(name) != now(name):
                stale.append(f"{file.relative_to(TREE)}: {name} was not built from these sources: run {remedy}")
    stale += [f"{path.relative_to(TREE)} has no source: run kernels/build.sh" for path in orphans()]
    print("\n".join(stale) or "every stamp is right")
    return bool(stale)


def kernel(name, raw):
    text = pathlib.Path(raw).read_text()
    if COMPILER not in text:
        return f"{raw} is not the output of {COMPILER}"
    out = KERNELS / f"ptx/{name}.ptx"
    out.write_text(committed(text))
    for orphan in orphans():
        orphan.unlink()
    write(KERNELS / "ptx/stamps", name, of_kernel(name), kernels())


def committed(text):
    return PATH.sub("_INTERNAL_00000000_", BUILD.sub("", text))


def text(raw):
    sys.stdout.write(committed(pathlib.Path(raw).read_text()))


def peers(kind, *programs):
    missing = [program for program in programs if not pathlib.Path(program).is_file()]
    if missing or not programs:
        return f"not built: {' '.join(missing)}"
    write(PEERS / "stamps", kind, of_peers(kind), KINDS)


if __name__ == "__main__":
    sys.exit({"check": check, "text": text, "kernel": kernel, "peers": peers}[sys.argv[1]](*sys.argv[2:]))
