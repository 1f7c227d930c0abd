#!/usr/bin/env python3
"""Files for papers/experiments/lewidi-2025.yaml, from the official files of Le-Wi-Di 2025 and a pretrained encoder.

    papers/tools/prepare_lewidi.py DATA ENCODER OUT [DISSENT]

DATA has SET/orig/SET_train.json, SET_dev.json and SET_test.json for the sets MP, CSC, Paraphrase and VariErrNLI;
training and development files that are there become one. ENCODER is a folder as Hugging Face lays it out. OUT gets, per
set, train and test: texts (.csv), votes (.votes.csv), what is known of the annotators (people.csv), and vectors of the
frozen encoder (.npy with .tasks.txt). VariErrNLI is three questions per item, and has 15 numbers instead: which of the
three it is, the share of the statement's words that the context has, the overlap of both, whether the statement denies,
and these three for each question by itself. (In cross-validation a sentence encoder's vectors made it worse: they say
next to nothing of inference, and 438 items are few.)
"""

import array
import csv
import json
import pathlib
import re
import struct
import subprocess
import sys

PARTS = ("contradiction", "entailment", "neutral")
DENIES = {"not", "no", "never", "nobody", "nothing", "don't", "doesn't", "didn't", "isn't", "wasn't"}


def read(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as f:
        w = csv.DictWriter(f, list(rows[0]), lineterminator="\n")
        w.writeheader()
        w.writerows(rows)


def write_npy(path, rows):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    path.write_bytes(
        b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + b"".join(r.tobytes() for r in rows)
    )


def question(row):
    part = [float(row["part"] == p) for p in PARTS]
    a, b = (set(row[c].lower().split()) for c in ("text", "text_2"))
    words = [len(a & b) / max(1, len(b)), len(a & b) / max(1, len(a | b)), float(bool(b & DENIES))]
    return array.array("f", part + words + [w * p for p in part for w in words])


def people(path):
    """The official file of annotators as a table; it may have a comma too many, and numbers that JSON does not know."""
    found = json.loads(re.sub(r",(\s*})", r"\1", path.read_text(encoding="utf-8")))
    columns = list(dict.fromkeys(c for known in found.values() for c in known))
    rows = []
    for worker, known in found.items():
        cells = {c: str(known.get(c, "")) for c in columns}
        rows.append(
            {
                "worker": worker if worker.startswith("Ann") else f"Ann{worker}",
                **{c: "" if x in ("nan", "DATA_EXPIRED", "CONSENT_REVOKED") else x for c, x in cells.items()},
            }
        )
    return rows


def main(data, encoder, out, tool="dissent"):
    for name in ("MP", "CSC", "Paraphrase", "VariErrNLI"):
        folder = pathlib.Path(out) / name
        folder.mkdir(parents=True, exist_ok=True)
        write(folder / "people.csv", people(pathlib.Path(data) / name / "orig" / f"{name}_annotators_meta.json"))
        for kind, splits in (("train", ("train", "dev")), ("test", ("test",))):
            texts, votes = [], []
            for split in splits:
                official = pathlib.Path(data) / name / "orig" / f"{name}_{split}.json"
                if not official.exists():
                    print(f"{official} is not there: left out", file=sys.stderr)
                    continue
                files = folder / "part.votes.csv", folder / "part.csv"
                subprocess.run(
                    [
                        tool,
                        "eval",
                        "--perspectives",
                        name,
                        "--official",
                        official,
                        "--save-votes",
                        files[0],
                        "--save-texts",
                        files[1],
                    ],
                    check=True,
                )
                rows = read(files[0]), read(files[1])
                for row in rows[0] + rows[1]:  # ids of training and development files may be the same
                    row["task"] = row["task"] if split == "test" else f"{split}_{row['task']}"
                votes += rows[0]
                texts += rows[1]
                for f in files:
                    f.unlink()
            write(folder / f"{kind}.csv", texts)
            write(folder / f"{kind}.votes.csv", votes)
            vectors = folder / f"{kind}.npy"
            if name == "VariErrNLI":
                write_npy(vectors, [question(row) for row in texts])
                (folder / f"{kind}.tasks.txt").write_text("".join(row["task"] + "\n" for row in texts))
                continue
            subprocess.run(
                [
                    tool,
                    "embed",
                    "--encoder",
                    encoder,
                    "--items",
                    folder / f"{kind}.csv",
                    "--text",
                    "text",
                    "--text",
                    "text_2",
                    "--max-length",
                    "128",
                    "-o",
                    vectors,
                ],
                check=True,
            )


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    main(*sys.argv[1:])
