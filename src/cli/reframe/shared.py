"""Tests of recipes for ReFrame 4, written by `scatterlab reframe`. To run them: reframe -c THIS_FILE -r

The program is found in PATH, or by the absolute path in SCATTERLAB. A launcher such as srun gives it as many CPUs
as the test asks for: -S num_cpus_per_task=N. The folder `run` of a test that passed is below output/, that of one
that failed is below stage/.
"""

import csv
import os
import shlex

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.exceptions import SanityError

# Columns of results.csv.
UNITS = {
    "effective_gb_s": "GB/s",
    "system_gb_s": "GB/s",
    "throughput_elem_s": "elements/s",
    "gflops": "GFLOPS",
    "median_s": "s",
}


class RecipeTest(rfm.RunOnlyRegressionTest):
    """Runs a recipe. Each case is a performance variable, and may have a reference."""

    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    sourcesdir = None
    exclusive_access = True
    executable = os.environ.get("SCATTERLAB", "scatterlab")
    keep_files = ["run"]

    @run_after("init")
    def set_command(self):
        self.executable = shlex.quote(self.executable)
        words = ["run", self.recipe, *self.options, "--quiet", "--out", "run"]
        self.executable_opts = [shlex.quote(word) for word in words]

    def results(self):
        with open(os.path.join(self.stagedir, "run", "results.csv"), encoding="utf-8", newline="") as table:
            return {row["case"]: row for row in csv.DictReader(table)}

    @sanity_function
    def every_case_is_certified(self):
        """The run is complete, and every case that was measured is certified, apart from those of peers."""
        wrong = [f"exit status {self.job.exitcode}"] if self.job.exitcode else []
        try:
            results = self.results()
        except FileNotFoundError:
            raise SanityError("; ".join([*wrong, "there is no run/results.csv"])) from None
        if any(row["recipe"] != self.recipe_hash for row in results.values()):
            raise SanityError(f"{self.recipe} has changed: write this file again with scatterlab reframe")
        for case, (name, _, *reference) in self.cases.items():
            row = results.get(case, {"status": "missing", "reason": ""})
            if row["status"] == "done":
                if row["verification"] not in ("certified", "not certified: peer"):
                    wrong.append(f"{name}: not certified")
                if reference and row["device"] not in self.devices:
                    wrong.append(f"{name}: measured on {row['device']}, but the reference on {self.devices}")
            elif reference or row["status"] != "n/a":
                wrong.append(f"{name}: {row['status']} {row['reason']}".rstrip())
        if all(row["status"] != "done" for row in results.values()):
            wrong.append("no case was measured")
        if wrong:
            raise SanityError("; ".join(wrong))
        return True

    @run_before("performance")
    def set_figures(self):
        results, references = self.results(), {}
        for case, (name, column, *reference) in self.cases.items():
            # A table in which no case has a figure lacks the column.
            if figure := results[case].get(column):
                self.perf_variables[name] = sn.make_performance_function(sn.defer(float(figure)), UNITS[column])
            if reference:
                references[name] = (*reference, UNITS[column])
        self.reference = {"*": references}
