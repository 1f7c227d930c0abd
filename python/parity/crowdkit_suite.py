"""crowd-kit's own tests of its classification aggregators, and of what is built on them, run against dissent:
crowdkit_suite.py CHECKOUT FOLDER.

Copies the tests to FOLDER and imports the classes from dissent where dissent has them; helpers still come from crowd-kit. Tests
that are expected to fail are listed here with the reason, and docs/evidence/crowd-kit.md explains them. Fails if another test
fails, or if one of these passes."""

import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import dissent

AGGREGATION = ("binary_relevance_aggregation", "classification_aggregation", "classification_aggregation_edge_cases",
               "ds_aggregation", "glad_aggregation", "kos_aggregation", "mace_aggregation", "majority_vote")  # fmt: skip
FILES = (*(f"aggregation/test_{name}.py" for name in AGGREGATION), "postprocessing/test_entropy_threshold.py")
DIFFERENT = {
    "test_glad_e_step": "calls a private method of crowd-kit's GLAD",
    "test_glad_derivative": "calls a private method of crowd-kit's GLAD",
    "test_aggregate_mace_on_simple[em]": "expects the accuracy of crowd-kit's random start, .9; dissent reaches 1",
    **{
        f"test_fit_predict_classification_aggregations_methods[MMSR predict {what} on toy YSDA]": "expects the values of one "
        "random start; with 5 items the result of crowd-kit depends on its seed"
        for what in ("labels", "scores")
    },
    "test_thetas_on_simple": "expects the values of crowd-kit's random start",
}


def copy_tests(checkout: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    tests = checkout / "tests"
    for path in sorted(tests.rglob("*.py")):
        name = path.relative_to(tests)
        if path.name.startswith("test_") and name.as_posix() not in FILES:
            continue
        text = path.read_text(encoding="utf-8")
        text = re.sub(r"^from crowdkit\.aggregation import (\([^)]*\)|[^\n]*)", swapped, text, flags=re.M)
        (folder / "tests" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "tests" / name).write_text(text, encoding="utf-8")


def swapped(found: re.Match[str]) -> str:
    names = re.findall(r"\w+", found.group(1))
    ours = [n for n in names if n in dissent.aggregation.__all__]
    lines = [f"from dissent import {', '.join(ours)}"] if ours else []
    lines += [f"from crowdkit.aggregation import {n}" for n in names if n not in ours]
    return "\n".join(lines)


def main() -> int:
    checkout, folder = map(Path, sys.argv[1:])
    copy_tests(checkout, folder)
    results = folder / "results.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", f"--junitxml={results}", "tests"]
    done = subprocess.run([*command, "-k", "not segmentation"], cwd=folder, capture_output=True, text=True, check=False)
    if not results.exists():
        print(done.stdout[-4000:], done.stderr[-2000:])
        return 1
    outcome = {}
    for case in ElementTree.parse(results).iter("testcase"):
        outcome[case.attrib["name"]] = "failed" if {"failure", "error"} & {c.tag for c in case} else "passed"
    failed = {name for name, what in outcome.items() if what == "failed"}
    passed = sum(what == "passed" for what in outcome.values())
    for name, reason in DIFFERENT.items():
        print(f"different by design: {name}: {reason}")
    for name in sorted(failed - set(DIFFERENT)):
        print("FAILED:", name)
    for name in sorted(set(DIFFERENT) - failed):
        print("passes, but is listed as different:", name)
    print(f"crowd-kit's own tests: {passed} of {len(outcome)} pass with dissent, {len(DIFFERENT)} are different by design")
    if failed - set(DIFFERENT):
        print(done.stdout[-6000:])
    return int(failed != set(DIFFERENT))


if __name__ == "__main__":
    sys.exit(main())
