"""The program's output about recipes, stored runs, itself and mistakes."""

import collections
import csv
import io
import re
import shutil

from guard import TREE, hashed, profiles, recipes, runs

# Figures of papers, with the stored runs that hold their data.
FIGURES = {
    "sengupta2007/fig05": ["h200-fig05"],
    "ashkiani2017/fig05": [],
    "ashkiani2017/fig06": ["h200-table05"],
    "ashkiani2017/fig07": ["h200-table05"],
    "lavin2020/fig03": ["h200-figures/fig03-cpu-stride"],
    "lavin2020/fig04": ["h200-figures/fig03-cpu-stride", "h200-figures/fig03-cpu-stride"],
    "lavin2020/fig05": ["h200-figures/fig05-gpu-stride"],
    "lavin2020/fig06": ["h200-figures/fig06-simd"],
    "lavin2020/fig07": ["h200-figures/app-patterns", "h200-figures/fig09-references"],
    "lavin2020/fig08": ["h200-figures/app-patterns", "h200-figures/fig09-references"],
    "lavin2020/fig09": ["h200-figures/app-patterns", "h200-figures/fig09-references"],
    "lavin2020/table04": ["h200-figures/app-patterns", "h200-figures/fig09-references"],
}
COMPARED = [("h200-replay/gather-a", "h200-replay/gather-b"), ("h200-app-patterns", "h200-app-families")]

# A user-interface configuration as users may have it.
CONFIGURATION = "theme: light\nsymbols: ascii\nmouse: false\nkeys:\n  cancel: C\n  next-panel: [Tab, ctrl-n]\n  follow: []\n"


def plans(guard):
    # For each recipe a line "title (file): N cases", then a line per case: "  identity  label  memory  ~time", or
    # "  identity  label  n/a: reason".
    head = re.compile(r"^.* \(([^()]+)\): \d+ cases(?: \(\d+ with repeats\))?$")
    case = re.compile(r"^  (\S+)  (.*?)(?:  ([\d.]+ [KMGT]?i?B)  ~.*|  n/a: (.*))?$")
    identities, memory, reasons = (collections.defaultdict(list) for _ in range(3))
    for text in guard.together(recipes(), "run", after=["--dry-run"]):
        recipe = "failed"
        for line in text.splitlines():
            if found := head.match(line):
                recipe = found[1].removesuffix(".yaml")
                identities[recipe].append(line)
            elif found := case.match(line):
                identities[recipe].append(f"{found[1]} {found[2]}")
                memory[recipe] += [f"{found[1]} {found[3]}"] if found[3] else []
                # Without a driver, nothing else is printed about the GPU's cases.
                reasons[recipe] += [found[4]] if found[4] not in (None, "no CUDA driver") else []
            elif line.startswith("error: "):
                identities[recipe].append(line)
    for recipe, lines in identities.items():
        guard.add(f"plans/{recipe}", "".join(line + "\n" for line in lines))
        held = memory[recipe] + [reason for reason in reasons[recipe] if not reason.endswith(" free")]
        if len(held) < len(memory[recipe] + reasons[recipe]):
            guard.absent.append((f"memory/{recipe}", f"a case {reasons[recipe][0]}"))
        elif held:
            guard.add(f"memory/{recipe}", "".join(line + "\n" for line in held))


def predictions(guard):
    known = profiles()
    pairs = [(recipe, name) for recipe in recipes() for name in known]
    # A profile that comes with a run.
    pairs.append(("model/cpu-families", "reports/h200-host-families/profile.yaml"))

    def one(pair):
        return guard.run("predict", pair[0], "--profile", known.get(pair[1], pair[1]), "--format", "csv")

    for (recipe, profile), text in zip(pairs, guard.each(one, pairs)):
        guard.add(f"predictions/{recipe} {profile}", text)


def written(folder, known=()):
    """Names and texts of a folder's files, except the known ones."""
    files = sorted(path for path in folder.iterdir() if path.name not in known)
    return [(path.name, path.read_text()) for path in files]


def reports(guard):
    stored = ["manifest.json", "events.ndjson", "events.ndjson.gz", "recipe.yaml"]

    def report(run):
        folder = guard.folder / "reports" / run
        folder.mkdir(parents=True)
        for name in stored:
            if (TREE / run / name).is_file():
                shutil.copy(TREE / run / name, folder)
        said = guard.run("report", folder)
        again = guard.run("report", run, "--format", "csv")
        accuracy = guard.run("accuracy", run, "--format", "csv")
        everywhere = guard.run("accuracy", run, "--format", "csv", "--profile", ",".join(map(str, profiles().values())))
        watched = guard.run("watch", run, "--headless", "--speed", "max")
        # How long playing takes is no finding: `[3/48 rounds, under 1 s left]`, `48 certified in 0m03s`.
        watched = re.sub(r"^(\[\d+/\d+[^,\]]*), [^\]]* left\]", r"\1]", watched, flags=re.M)
        watched = re.sub(r" in \d+m\d\ds → ", " in … → ", watched)
        return [("said", said), ("stdout.csv", again), ("accuracy", accuracy), ("accuracy by all", everywhere),
                ("watched", watched), *written(folder, stored)]

    for run, texts in zip(runs(), guard.each(report, runs())):
        for name, text in texts:
            guard.add(f"reports/{run}/{name}", text)

    def figure(item):
        name, folders = item
        out = guard.folder / "figures" / name.replace("/", "-")
        out.mkdir(parents=True)
        extension = "md" if "table" in name else "svg"
        said = guard.run("figure", name, *[f"reports/{run}" for run in folders], "--out", out / f"figure.{extension}")
        return [("said", said), *written(out)]

    for name, texts in zip(FIGURES, guard.each(figure, FIGURES.items())):
        for file, text in texts:
            guard.add(f"figures/{name}/{file}", text)
    for a, b in COMPARED:
        out = guard.folder / "compared" / hashed(a + b)
        said = guard.run("compare", f"reports/{a}", f"reports/{b}", "--out", out)
        for name, text in [("said", said), *written(out)]:
            guard.add(f"compared/{b}/{name}", text)


def counters(guard):
    def one(recipe):
        """All cases in one call; for a case without counters, the reason. Peers are other programs."""
        table = guard.run("predict", recipe, "--profile", "h200", "--format", "csv")
        rows = csv.DictReader(io.StringIO(table))
        ids = [row["case"] for row in rows if not (row.get("backend") or "peer:").startswith("peer:")]
        return "".join(guard.together(ids, "counters", after=[recipe]))

    for recipe, text in zip(recipes(), guard.each(one, recipes())):
        guard.add(f"counters/{recipe}", text)


def help(guard):
    top = guard.run("--help")
    commands = re.findall(r"^  (\w+)", re.search(r"^Commands:\n(.*?)\n\n", top, re.M | re.S)[1], re.M)
    guard.add("help/scatterlab", top)
    pages = guard.folder / "man"
    guard.run("man", "--out", pages)
    for name, text in written(pages):
        guard.add(f"man/{name}", text)
    (guard.folder / "config.yaml").write_text(CONFIGURATION)
    shells = ["bash", "zsh", "fish", "elvish", "powershell"]
    lines = {
        **{f"help/{command}": [command, "--help"] for command in commands if command != "help"},
        **{f"completions/{shell}": ["completions", shell] for shell in shells},
        "says/schema": ["schema"],
        "says/configuration": ["config"],
        "says/configuration of a person": ["config", "--config", guard.folder / "config.yaml"],
        "says/figures": ["figure"],
        # There is no such recipe, so the answer lists the existing ones.
        "says/recipes": ["run", "?"],
        "says/profiles compared": ["profiles", "h200", profiles()["amd-epyc-2cpus"]],
        "says/locality of a table": ["locality", "tests/fixtures/edges.csv", "--column", "far", "--format", "csv"],
        "says/locality of an array": ["locality", "tests/fixtures/neighbours.npy", "--format", "json"],
        "says/locality of a suite": ["locality", "tests/fixtures/spatter/lulesh.json", "--format", "csv"],
    }
    for name, text in zip(lines, guard.each(lambda words: guard.run(*words), lines.values())):
        guard.add(name, text)


def table(path, name):
    """The tuples of a table in a Rust test, each as a list of texts and numbers."""
    source = (TREE / path).read_text()
    body = re.search(rf"const {name}: &\[\(.*?\)\] = &\[\n(.*?)\n\];", source, re.S)[1]
    body = re.sub(r"^\s*//.*", "", body, flags=re.M)
    words = re.findall(r'"((?:[^"\\]|\\.)*)"|\b(\d+)\b', body)
    texts = [re.sub(r'\\(.)', lambda m: {"n": "\n"}.get(m[1], m[1]), text) or number for text, number in words]
    return [texts[at:at + 3] for at in range(0, len(texts), 3)]


def errors(guard):
    """The inputs in the tests' tables, with the program's output for each. An item is named after its row, or
    after the beginning of the message in the table."""
    base = re.search(r'const BASE: &str = "\\\n(.*?)";', (TREE / "tests/lab/recipes_malformed.rs").read_text(), re.S)[1]
    todo = []  # (name of the item, file, its text, command line)
    for block in (TREE / "tests/lab/malformed.txt").read_text().rstrip().split("\n====\n"):
        text, message = block.rsplit("\n--> r.yaml:", 1)
        todo.append((f"recipe {message}", "r.yaml", text, ["run", "r.yaml", "--dry-run"]))
    for key, value, _ in table("tests/lab/recipes_malformed.rs", "OVERRIDES"):
        line = ["run", "r.yaml", "--dry-run", "--set", f"{key}={value}"]
        todo.append((f"--set {key}={value}", "r.yaml", base, line))
    for words, _, _ in table("tests/program/spatter/malformed.rs", "LINES"):
        line = ["spatter", *([] if "-b " in words else ["-b", "serial"]), *words.split()]
        todo.append((f"spatter {words}", "suite.json", '[{"pattern": [0]}]', line))
    for text, _, message in table("tests/program/spatter/malformed.rs", "SUITES"):
        todo.append((f"suite {message}", "suite.json", text, ["spatter", "-b", "serial", "-f", "suite.json"]))

    def say(number):
        _, file, text, line = todo[number]
        folder = guard.folder / "errors" / str(number)
        folder.mkdir(parents=True)
        (folder / file).write_text(text)
        return guard.run(*line, folder=folder)

    for (name, *_), answer in zip(todo, guard.each(say, range(len(todo)))):
        guard.add(f"errors/{name[:80].rstrip()}", answer)
