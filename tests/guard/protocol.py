"""The messages between an engine and its client, and the files of a run."""

import json
import subprocess

# A plan that takes a moment: two methods, two rounds.
TINY = """\
title: Tiny
gather: {method: [direct, {multipass: {passes: 3}}], tuples: 33, locations: random}
backend: scalar
chart: {x: method}
measure: {rounds: 2, max-rounds: 2, samples: 2, second-look: never}
"""


# Keys whose values are the same whenever and wherever a plan runs; for all other keys only presence and
# type are compared.
EXACT = {"event", "protocol", "cases", "rounds", "case", "round", "stage", "pass", "backend", "seq", "checked",
         "cancelled", "number", "availability", "schema", "title", "slug", "primitive", "axes", "chart", "measure",
         "experiment", "params", "seed", "id", "recipe_hash"}
# Keys whose number of entries depends on the machine or the moment.
BRIEF = {"facts", "conditions", "affinity", "transparent_huge_pages", "profiles", "flags"}


def bare(value, exact=False):
    """JSON with all keys, but values only where they must be exact; others become their type's name."""
    if isinstance(value, dict):
        kept = sorted((key, inner) for key, inner in value.items() if key not in BRIEF)
        return {key: bare(inner, exact or key in EXACT) for key, inner in kept}
    if isinstance(value, list):
        return [bare(inner, exact) for inner in value]
    return value if exact else type(value).__name__


def transcript(text):
    """Events in order, one per line, without log messages and with consecutive equal events shown once. Of a
    backend's references only the first: how costly a copy was just now decides whether later passes take another."""
    lines, referenced = [], set()
    for line in text.splitlines():
        event = json.loads(line) if line.startswith("{") else {"event": line}
        if event.get("event") == "reference":
            if event["backend"] in referenced:
                continue
            referenced.add(event["backend"])
        shown = json.dumps(bare(event), ensure_ascii=False)
        if event.get("event") != "log" and shown not in lines[-1:]:
            lines.append(shown)
    return "".join(line + "\n" for line in lines)


def protocol(guard):
    folder = guard.folder / "protocol"
    folder.mkdir()
    (folder / "tiny.yaml").write_text(TINY)
    guard.run("run", "tiny.yaml", "--out", "run", folder=folder)
    manifest = json.loads((folder / "run/manifest.json").read_text())
    guard.add("protocol/manifest", json.dumps(bare(manifest), indent=1) + "\n")
    guard.add("protocol/plan", json.dumps(manifest["plan"], indent=1) + "\n")
    guard.add("protocol/files", "".join(f"{path.name}\n" for path in sorted((folder / "run").iterdir())))
    guard.add("protocol/recorded", transcript((folder / "run/events.ndjson").read_text()))
    commands = [{"command": "ping", "number": 7}, {"command": "probe", "backends": ["scalar", "nonsense"]}]
    commands += [{"command": "run", "plan": manifest["plan"]}]
    guard.add("protocol/engine", transcript(conversation(guard, commands)))
    guard.add("protocol/engine without a client", transcript(guard.run("engine")))


def conversation(guard, commands):
    """The output of an engine until its plan is over; results are acknowledged."""
    engine = subprocess.Popen([guard.binary, "engine"], env=guard.environment(cuda=False), text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def send(command):
        engine.stdin.write(json.dumps(command) + "\n")
        engine.stdin.flush()

    said = []
    for command in commands:
        send(command)
    for line in engine.stdout:
        said.append(line)
        event = json.loads(line)
        if "seq" in event:
            send({"command": "ack", "seq": event["seq"]})
        if event["event"] == "finished":
            break
    engine.stdin.close()
    return "".join([*said, *engine.stdout, f"exit status {engine.wait()}\n"])
