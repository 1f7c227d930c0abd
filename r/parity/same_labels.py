"""The probabilities of dissent_labels() are those of `dissent labels`, bit by bit.

    R_LIBS=LIBRARY python3 r/parity/same_labels.py TOOL FOLDER"""

import csv
import subprocess
import sys
from pathlib import Path

tool, folder = sys.argv[1], Path(sys.argv[2])
program = """
arguments <- commandArgs(TRUE)
labels <- dissent::dissent_labels(read.csv(arguments[1]), method = if (nzchar(arguments[3])) arguments[3])
write.table(array(sprintf("%.17g", labels$probabilities), dim(labels$probabilities)), arguments[2], row.names = FALSE,
            col.names = FALSE, quote = FALSE)
"""
for seed, method in enumerate(["", "mace", "glad", "dawid-skene", "ibcc", "standard"]):
    votes, ours, theirs = folder / "votes.csv", folder / "labels.csv", folder / "labels.txt"
    subprocess.run([tool, "synth", "-q", "--items", "500", "--classes", "4", "--seed", str(seed), "-o", votes], check=True)
    subprocess.run([tool, "labels", "-q", votes, "-o", ours, *(["--method", method] if method else [])], check=True)
    subprocess.run(["Rscript", "-e", program, votes, theirs, method], check=True)
    with open(ours) as file:
        expected = [[float(x) for x in row[3:]] for row in list(csv.reader(file))[1:]]
    with open(theirs) as file:
        found = [[float(x) for x in line.split()] for line in file]
    assert len(expected) == 500
    if found != expected:
        sys.exit(f"{method or 'default'}: R and {tool} compute different probabilities")
print("probabilities of 6 methods are those of the command line, bit by bit")
