#!/usr/bin/env python3
"""The crates in the program, for whoever passes it on.

    packaging/dependencies.py sbom TARGET        a bill of materials: CycloneDX 1.5, JSON
    packaging/dependencies.py licences TARGET    the licences of all crates that are linked

TARGET is a target triple of Rust. Run it in the tree; it asks `cargo metadata`, and SOURCE_DATE_EPOCH dates the bill.
"""
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = "scatterlab"
# What no crate says: linked by the compiler, and by zig as the linker of the portable binary.
TOOLCHAIN = """The Rust standard library, MIT OR Apache-2.0: https://github.com/rust-lang/rust
libunwind of LLVM, in the portable binary, Apache-2.0 WITH LLVM-exception: https://llvm.org/LICENSE.txt
"""
LICENCE = re.compile(r"(licen[cs]e|copying|copyright|notice|unlicense)", re.IGNORECASE)


def crates(target: str) -> tuple[dict, dict, dict]:
    """Packages by id, what each depends on (ids), and whether it is linked ("required") or only builds ("excluded")."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
    told = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    packages = {package["id"]: package for package in told["packages"]}
    edges, scopes = {}, {}
    nodes = {node["id"]: node for node in told["resolve"]["nodes"]}
    root = next(id for id in told["workspace_members"] if packages[id]["name"] == ROOT)
    ahead = [(root, "required")]
    while ahead:
        id, scope = ahead.pop()
        if scopes.get(id) in ("required", scope):
            continue
        scopes[id], edges[id] = scope, []
        for dependency in nodes[id]["deps"]:
            kinds = {kind["kind"] for kind in dependency["dep_kinds"]} - {"dev"}
            if kinds:
                edges[id].append(dependency["pkg"])
                ahead.append((dependency["pkg"], scope if None in kinds else "excluded"))
    return {id: packages[id] for id in scopes}, edges, scopes


def sbom(target: str) -> str:
    packages, edges, scopes = crates(target)
    locked = tomllib.loads(pathlib.Path("Cargo.lock").read_text())["package"]
    hashes = {(crate["name"], crate["version"]): crate.get("checksum") for crate in locked}
    url = {id: f"pkg:cargo/{package['name']}@{package['version']}" for id, package in packages.items()}

    def component(id: str) -> dict:
        package = packages[id]
        found = {"type": "library", "bom-ref": url[id], "name": package["name"], "version": package["version"]}
        found |= {"scope": scopes[id], "purl": url[id]}
        if package["license"]:
            # The slash is the spelling of old crates.
            found["licenses"] = [{"expression": re.sub(r"\s*/\s*", " OR ", package["license"])}]
        if checksum := hashes[package["name"], package["version"]]:
            found["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        return found

    order = sorted(packages, key=url.get)
    root = next(id for id in order if packages[id]["name"] == ROOT)
    at = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    program = {key: value for key, value in component(root).items() if key != "scope"} | {"type": "application"}
    depends = [{"ref": url[id], "dependsOn": sorted({url[on] for on in edges[id]})} for id in order]
    bill = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1}
    bill["metadata"] = {"timestamp": at.strftime("%Y-%m-%dT%H:%M:%SZ"), "component": program}
    bill |= {"components": [component(id) for id in order if id != root], "dependencies": depends}
    return json.dumps(bill, indent=1) + "\n"


def licences(target: str) -> str:
    packages, _, scopes = crates(target)
    texts, without = {}, []
    # Crates without a source are this tree's own.
    linked = [packages[id] for id, scope in scopes.items() if scope == "required" and packages[id]["source"]]
    for package in sorted(linked, key=lambda package: (package["name"], package["version"])):
        name = f"{package['name']} {package['version']} ({package['license']})"
        folder = pathlib.Path(package["manifest_path"]).parent
        files = sorted(file for file in folder.iterdir() if file.is_file() and LICENCE.match(file.name))
        for file in files:
            text = file.read_text(errors="replace").strip()
            texts.setdefault(" ".join(text.split()), (text, []))[1].append(name)
        if not files:
            without.append(f"{name}: {', '.join(package['authors']) or package['repository']}")
    line = "-" * 80
    pages = [f"{TOOLCHAIN}\nCrates that come without the text of their licence, and their authors:\n" + "\n".join(without)]
    pages += ["\n".join(names) + "\n\n" + text for text, names in texts.values()]
    return f"\n\n{line}\n\n".join(pages) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("sbom", "licences"):
        sys.exit(__doc__)
    print({"sbom": sbom, "licences": licences}[sys.argv[1]](sys.argv[2]), end="")
