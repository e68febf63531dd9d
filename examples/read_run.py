"""Reads a run folder of scatterlab with the standard library alone; docs/data-dictionary.md describes the files.

`python3 read_run.py FOLDER [EXPERIMENT]` prints the numbers of a chart, by default the first, as CSV; `cases(FOLDER)` has
all cases. `scatterlab report FOLDER` also checks whether lines were changed, and adds predictions to results.csv."""
import csv, gzip, io, json, math, sys
from dataclasses import dataclass, field
from pathlib import Path

SCHEMAS = range(1, 5)


@dataclass
class Case:
    id: str
    experiment: dict  # of the plan: title, slug, axes, chart …
    params: dict  # by full key, such as `method.multipass.passes`
    reason: str  # why the times do not count; empty if they do
    rounds: dict = field(default_factory=dict)  # by number, the attempt that counts: samples, resolved, conditions …
    verdict: dict = field(default_factory=dict)  # {"certified": {"checked": N}} or {"wrong": {"mistake": WORDS}}
    wanted: int = 0  # rounds that the user asked for beyond those of the recipe
    row: dict = field(default_factory=dict)  # of results.csv, if `report` has written it: `sector.predicted_s` …

    @property
    def medians(self):  # seconds per execution, by round
        return {number: median(result["samples"]) for number, result in self.rounds.items()}

    @property
    def resolved(self):  # what was chosen for open parameters, and what the executions found
        return {key: value for result in self.rounds.values() for key, value in result.get("resolved", [])}

    def value(self, key):  # on an axis of the chart; an empty text if the case has none
        for axis in self.experiment["axes"]:
            if axis["key"] == key and axis.get("maps"):
                fits = [at for at, values in enumerate(axis["maps"]) if values.items() <= self.params.items()]
                return axis["values"][max(fits, key=lambda at: len(axis["maps"][at]))] if fits else ""
        return self.params.get(key, "")

    def apply(self, event):
        kind, is_wrong = event["event"], "wrong" in self.verdict
        if kind == "round":
            result, first = event["result"], self.rounds.get(event["result"]["round"])
            if not first or (result.get("attempt", 0) > first.get("attempt", 0) and not result.get("flags")):
                self.rounds[result["round"]] = result  # the second attempt counts if nothing speaks against it
            self.verdict = result.get("verdict") or self.verdict
            self.reason = "wrong result" if "wrong" in self.verdict else self.reason
        elif kind in ("failed", "not-applicable"):
            self.reason = event.get("error") or event["reason"]
        elif kind == "skipped" and not self.wanted:
            self.reason = self.reason or "skipped"
        elif kind in ("retried", "skipped") and not is_wrong:
            self.reason, self.wanted = "", event.get("rounds", 0)
        elif kind == "set-aside" and not is_wrong:
            self.rounds, self.verdict = {}, {}


def median(values):  # the quantile of type 7, with the program's arithmetic
    values, at = sorted(values), 0.5 * (len(values) - 1)
    low, high = values[math.floor(at)], values[math.ceil(at)]
    return low + (at - math.floor(at)) * (high - low)


def cases(folder):
    manifest, plain, known = Path(folder, "manifest.json"), Path(folder, "events.ndjson"), {}
    run, results = json.loads(manifest.read_text("utf-8")), Path(folder, "results.csv")
    if run.get("schema") not in SCHEMAS:
        raise ValueError(f"{manifest}: schema {run.get('schema')}; accepted: {SCHEMAS[0]} to {SCHEMAS[-1]}")
    for case in run["plan"]["cases"]:
        experiment = run["plan"]["experiments"][case["experiment"]]
        known[case["id"]] = Case(case["id"], experiment, case["params"], case.get("not_applicable", ""))
    with open(plain, "rb") if plain.exists() else gzip.open(f"{plain}.gz") as lines:
        for event in (json.loads(line) for line in lines if line.endswith(b"\n")):  # the last one may be torn
            if case := known.get(event.get("result", event).get("case")):
                case.apply(event)
    for row in csv.DictReader(io.StringIO(results.read_bytes().decode() if results.exists() else "", newline="")):
        known[row["case"]].row = row
    for case, first in ((known[case], known[first]) for case, first in run["plan"].get("repeats", {}).items()):
        case.rounds, case.verdict, case.reason = first.rounds, first.verdict, first.reason  # measured once
    return list(known.values())


def main(folder, slug=None):
    out, run = csv.writer(sys.stdout, lineterminator="\n"), cases(folder)
    slug = slug or run[0].experiment["slug"]
    if not (run := [case for case in run if case.experiment["slug"] == slug]):
        raise ValueError(f"no experiment {slug}")
    predicted = [column for column in run[0].row if column.endswith(".predicted_s")]
    out.writerow("experiment case x line rounds median_s verification effective_gb_s".split() + predicted)
    for case in (case for case in run if case.rounds and not case.reason):
        chart, seconds = case.experiment["chart"], median(case.medians.values())
        line = " · ".join(str(case.value(key)) for key in chart["panels"] + chart["lines"])
        told = [slug, case.id, case.value(chart["x"]), line, len(case.rounds), seconds]
        rate = int(case.row["effective_bytes"]) / seconds / 1e9 if case.row else ""
        out.writerow([*told, *(case.verdict or [""]), rate, *(case.row[name] for name in predicted)])


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]) if len(sys.argv) in (2, 3) else __doc__)
    except (OSError, ValueError) as error:
        sys.exit(f"read_run: {error}")
