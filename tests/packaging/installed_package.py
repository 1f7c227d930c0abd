"""Whether an installed package works: the module, and the command with all its subcommands. Run by the Python of the environment
that it was installed into, outside of the source tree."""

import os
import re
import subprocess
import sys
import tempfile

import dissent

votes = [("a", "x", 1), ("a", "y", 1), ("b", "x", 0)]
assert dissent.DawidSkene().fit_predict(votes).to_dict() == {"a": 1, "b": 0}
print("dissent", dissent.__version__, "from", dissent.__file__)

tool = os.path.join(os.path.dirname(sys.executable), "dissent")


def run(*words: str) -> str:
    return subprocess.run([tool, *words], check=True, capture_output=True, text=True).stdout


commands = re.findall(r"^  ([a-z]+)  ", run("help"), re.M)
assert len(commands) >= 16, commands
for command in commands:
    assert "Usage: dissent " + command in run(command, "--help")
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    run("synth", "--items", "20", "--gold", "gold.csv", "-o", "votes.csv")
    run("labels", "votes.csv", "-o", "labels.csv")
    assert "accuracy" in run("eval", "labels.csv", "--gold", "gold.csv")
    os.chdir("/")
print(run("--version").strip(), "from", tool, "with", len(commands), "commands")
