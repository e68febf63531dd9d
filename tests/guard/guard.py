"""The items found so far, the program that they come from, and the inputs to run it on."""

import collections
import concurrent.futures
import hashlib
import os
import pathlib
import re
import subprocess

TREE = pathlib.Path(__file__).resolve().parents[2]
# Number of programs that run at a time.
JOBS = 2


def hashed(text):
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


class Guard:
    """The items found so far, and the program that they come from."""

    def __init__(self, binary, folder, full):
        self.binary, self.folder, self.full = binary, folder, full
        self.items = collections.defaultdict(list)  # name: [(hash, size)]
        self.files = collections.Counter()  # files of --full, counted by sanitized item name
        self.absent = []  # (prefix of item names, why they cannot be made here)
        self.pool = concurrent.futures.ThreadPoolExecutor(JOBS)
        self.version = self.run("--version").split()[1]

    def environment(self, cuda):
        """The program's environment: nothing from the user, and no GPU unless requested."""
        plain = {"LC_ALL": "C", "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
        if cuda:
            return {**os.environ, **plain}
        return {**plain, "HOME": str(self.folder / "home"), "PATH": "", "SCATTERLAB_LIBCUDA": "/nonexistent"}

    def run(self, *words, folder=TREE, cuda=False):
        """Runs the program and returns its output on both streams and its exit status."""
        # The help text contains the name by which the program was called.
        done = subprocess.run(["scatterlab", *map(str, words)], executable=self.binary, cwd=folder,
                              env=self.environment(cuda), stdin=subprocess.DEVNULL, capture_output=True, text=True)
        errors = "".join(f"error: {line}\n" for line in done.stderr.splitlines())
        return f"{done.stdout}{errors}exit status {done.returncode}\n"

    def together(self, things, *before, after=()):
        """The program's output for many things at once. If it fails, each half is run separately, so that a
        failure stands alone."""
        text = self.run(*before, *things, *after)
        if text.endswith("exit status 0\n") or len(things) < 2:
            return [text]
        half = len(things) // 2
        return [told for part in (things[:half], things[half:]) for told in self.together(part, *before, after=after)]

    def neutral(self, text):
        """The text without parts that depend on where, or from which version, the program was built."""
        for path, name in [(self.binary, "scatterlab"), (self.folder, "TMP"), (TREE, "TREE")]:
            text = text.replace(str(path), name)
        return re.sub(rf"(?<![\d.]){re.escape(self.version)}(?![\d.])", "VERSION", text)

    def add(self, name, text, size=None):
        text = self.neutral(text)
        self.items[name].append((hashed(text), size or str(text.count("\n"))))
        if self.full:
            file = re.sub(r"[^\w./=-]+", "_", name)
            self.files[file] += 1
            path = self.full / (f"{file}.{self.files[file]}.txt" if self.files[file] > 1 else f"{file}.txt")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def each(self, work, things):
        """The results of `work` on all things, in order, with several computed at a time."""
        return list(self.pool.map(work, things))


def recipes():
    """Names of the shipped recipes, and the recipe files among the tests' fixtures."""
    shipped = (TREE / "experiments").rglob("*.yaml")
    names = [str(path.relative_to(TREE / "experiments").with_suffix("")) for path in shipped]
    fixtures = [*TREE.glob("tests/fixtures/spatter/*.json"), *TREE.glob("tests/fixtures/**/recipe.yaml")]
    return sorted(name for name in names if not name.startswith("profiles/")) + sorted(
        str(path.relative_to(TREE)) for path in fixtures)


def profiles():
    """Each profile by name: the shipped ones, and one of two processors among the tests' fixtures, which alone predicts
    processors."""
    found = [*TREE.glob("experiments/profiles/*.yaml"), *TREE.glob("tests/fixtures/profiles/*.yaml")]
    return {path.stem: path for path in sorted(found, key=lambda path: path.stem)}


def runs():
    """Folders of stored runs."""
    found = [*TREE.glob("reports/**/manifest.json"), *TREE.glob("tests/fixtures/*/manifest.json")]
    return sorted(str(path.parent.relative_to(TREE)) for path in found)
