"""Rows of run_bench.py about pretrained encoders: vectors, predictions, fine-tuning, memory and start, against
transformers.

Processor time of the whole tool on one thread, starting, reading and saving weights included; theirs without imports
and reading. Both sides are measured in turn, and the medians compared, so that other programs on the machine disturb
both alike.
"""

import csv
import itertools
import os
import statistics
import subprocess
import time

BOTH = ("--text", "premise", "--text", "hypothesis")


class Encoders:
    def __init__(self, b, tool, root, skipped):
        self.b, self.tool, self.skipped = b, tool, skipped
        self.encoders, self.data = (
            os.environ.get("DISSENT_ENCODERS"),
            os.environ.get("DISSENT_DATA", os.path.join(root, "..", "shared", "data")),
        )
        self.gold = os.path.join(self.data, "rte_snow", "gold.csv")
        self.peaks = None

    def folder(self, encoder):
        if not self.encoders:
            raise self.skipped("DISSENT_ENCODERS does not name the folder that tools/fetch_encoders.sh filled")
        return os.path.join(self.encoders, encoder)

    def items(self, name, n):
        """The first n rows; more than there are: rows again, under other ids."""
        path = os.path.join(self.data, *{"snli": ("snli", "test_items.csv"), "rte": ("rte_snow", "items.csv")}[name])
        items_path = self.b.path(f"encoder_{name}_{n}.csv")
        if not os.path.exists(path):
            raise self.skipped(f"no {path}")
        if not os.path.exists(items_path):
            with open(path, newline="") as source, open(items_path, "w", newline="") as target:
                head, *rows = csv.reader(source)
                many = (
                    rows
                    if len(rows) >= n
                    else [[f"{k}-{r[0]}", *r[1:]] for k in range(n // len(rows) + 1) for r in rows]
                )
                csv.writer(target).writerows([head, *itertools.islice(many, n)])
        return items_path

    def run(self, *command):
        """Processor seconds and peak memory of the tool."""
        child = subprocess.Popen(
            [self.tool, *(str(c) for c in command), "--threads", "1", "-q"], stderr=subprocess.PIPE, text=True
        )
        message = child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise self.skipped((message.strip().splitlines() or ["failed"])[-1])
        return {"processor_seconds": used.ru_utime + used.ru_stime, "memory": used.ru_maxrss * 1024}

    def embed(self, encoder, items, precision="float32"):
        return self.run(
            "embed",
            "--encoder",
            self.folder(encoder),
            "--items",
            items,
            "--text",
            "premise",
            "--precision",
            precision,
            "-o",
            self.b.path(f"{encoder}_{precision}.npy"),
        )

    def train(self, encoder, items, out="again"):
        return self.run(
            "train",
            "--model",
            "encoder",
            "--encoder",
            self.folder(encoder),
            "--items",
            items,
            *BOTH,
            "--gold",
            self.gold,
            "--objective",
            "gold",
            "--epochs",
            1,
            "--batch",
            8,
            "-o",
            self.b.path(f"{encoder}_{out}"),
        )

    def predict(self, encoder, items, precision="float32"):
        model = self.b.path(f"{encoder}_model")
        if not os.path.exists(os.path.join(model, "model.json")):
            self.train(encoder, self.items("rte", 16), "model")
        return self.run(
            "predict", model, "--items", items, *BOTH, "--precision", precision, "-o", self.b.path("predicted.csv")
        )

    def peer(self, what, encoder, items):
        return self.b.peer("peers_encoders.py", what, self.folder(encoder), items)

    def peak(self, precision):
        if not self.peaks:
            self.peaks = self.b.peer("peers_encoders.py", "peak", "-", "-")
        return self.peaks[precision]

    def in_turn(self, sides, repeats):
        """name: function of each side -> name: medians of what they return."""
        found, start = {name: [] for name in sides}, time.perf_counter()
        for _ in range(1 if self.b.quick else repeats):
            for name, measure in sides.items():
                found[name].append(measure())
            if time.perf_counter() - start > 120:  # as long as that, one measurement of each is enough
                break
        return {
            name: {key: statistics.median(x[key] for x in runs) for key in runs[0] if runs[0][key] is not None}
            for name, runs in found.items()
        }

    def add(self, row, unit, peer_name, ours, peer, floor, note="", memory=False):
        entry = {
            "row": row,
            "unit": unit,
            "peer_name": peer_name,
            "ours": ours,
            "peer": peer,
            "floor": floor,
            "note": note,
        }
        if memory:
            entry["format"] = lambda x: "-" if x is None else f"{x / 1e6:.0f} MB"
        self.b.add(entry)


def share(e, ours, operations, precision):
    speed = operations / ours["processor_seconds"]
    return f"{speed / 1e9:.0f} GFLOP/s, {speed / e.peak(precision):.2f} of torch.mm's"


def work_rows(e, what, encoder, n, floor, halves, repeats):
    """One kind of work on one encoder: times, memory, and bfloat16 where it has it. halves: floors of bf16 against the
    peer and ours."""
    peer_name = "sentence-transformers" if what == "embed" else "transformers"
    kind = {
        "embed": "vectors of SNLI's premises",
        "predict": "predictions of SNLI's pairs, batches of 32",
        "train": "fine-tuning on RTE's pairs, batches of 8",
    }[what]
    name = f"encoder: {kind}, {encoder}, {n:,}"
    if e.b.only and e.b.only not in name:
        return
    try:
        items = e.items("rte" if what == "train" else "snli", n)
        ours = {"embed": e.embed, "predict": e.predict, "train": e.train}[what]
        if what == "predict":
            ours(encoder, e.items("snli", 1))  # makes the model
        sides = {"float32": lambda: ours(encoder, items), "peer": lambda: e.peer(what, encoder, items)}
        if halves:
            sides["bf16"] = lambda: ours(encoder, items, "bf16")
        if what != "embed":
            sides["first"] = lambda: ours(encoder, e.items("rte", 8) if what == "train" else e.items("snli", 1))
        found = e.in_turn(sides, repeats)
        fast, peer = found["float32"], found["peer"]
        e.add(
            name,
            "texts",
            peer_name,
            fast["processor_seconds"],
            peer["processor_seconds"],
            floor,
            share(e, fast, peer["operations"], "float32"),
        )
        if what != "embed":  # the work alone: without starting, reading, saving and the memory's first use
            later = fast["processor_seconds"] - found["first"]["processor_seconds"]
            theirs = peer["later_seconds"] if what == "train" else peer["processor_seconds"]
            e.add(name + ", after the first", "texts", peer_name, later, theirs, floor)
        e.add(name + ": memory", "process", peer_name, fast["memory"], peer["memory"], 1 / 0.6, memory=True)
        if halves:
            half = found["bf16"]
            note = share(e, half, peer["operations"], "bf16")
            e.add(
                name + ", bf16",
                "texts",
                peer_name,
                half["processor_seconds"],
                peer["processor_seconds"],
                halves[0],
                note,
            )
            e.add(
                name + ", bf16", "texts", "our float32", half["processor_seconds"], fast["processor_seconds"], halves[1]
            )
    except (e.skipped, OSError) as reason:
        e.add(name, "texts", peer_name, None, None, None, f"skipped: {reason}")


def start_row(e):
    name = "encoder: from the start to the first vector, mpnet, whole process"
    if e.b.only and e.b.only not in name:
        return
    try:
        items, seconds, used = e.items("snli", 1), [], []
        for _ in range(3 if e.b.quick else 15):
            start = time.perf_counter()
            used.append(e.embed("mpnet", items)["processor_seconds"])
            seconds.append(time.perf_counter() - start)
        e.b.add(
            {
                "row": name,
                "unit": "command",
                "peer_name": "limit of .5 s",
                "ours": statistics.median(seconds),
                "peer": 0.5,
                "floor": 1,
                "floor_text": ".5 s",
                "note": f"fastest {min(seconds):.2f} s, processor time {statistics.median(used):.2f} s",
            }
        )
    except (e.skipped, OSError) as reason:
        e.b.add(
            {
                "row": name,
                "unit": "command",
                "peer_name": "limit of .5 s",
                "ours": None,
                "peer": None,
                "floor": None,
                "note": f"skipped: {reason}",
            }
        )


def rows(b, tool, root, skipped):
    e = Encoders(b, tool, root, skipped)
    q = b.quick
    work_rows(e, "embed", "minilm", 200 if q else 10000, 1.25, (2, 1.6), 1)
    work_rows(e, "embed", "mpnet", 20 if q else 200, 1.25, (2, 1.6), 3)
    work_rows(e, "predict", "minilm", 100 if q else 1000, 2, (None, 1.6), 3)
    work_rows(e, "predict", "mpnet", 20 if q else 192, 2, (None, 1.6), 3)
    work_rows(e, "train", "minilm", 40 if q else 160, 1.5, None, 3)
    work_rows(e, "train", "mpnet", 8 if q else 64, 1.5, None, 3)
    start_row(e)
