"""Speed against the peers, in one run on one machine: the table that docs/evidence/benchmarks.md explains.

    python3 bench/speed/run_bench.py [--quick] [--large] [--only TEXT] [--python PATH] [--work FOLDER] [--json FILE]

--quick     small sizes, one run each, floors not judged: does everything still work?
--large     also 1e8 votes from file to file (about 3 GB in the work folder)
--only      rows whose name contains TEXT
--python    an interpreter that has the peers; default: a virtual environment under build/, made on the first run
--work      where the data go (removed at the end); default: a new folder under build/

One thread each unless a row says otherwise. Medians of three, except where one run of a peer takes longer than a
minute. Fits on one thread are timed by the processor's clock, ours and the peers', so that other programs on the
machine disturb them less. The time of one iteration is the difference between a long and a short fit, on both sides.
Exit status 1 when a floor is missed.
"""

import argparse
import csv
import itertools
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import encoder_rows as encoder_rows_of

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PEERS = os.path.join(ROOT, "bench", "peers")
BUILD = os.path.join(ROOT, "build")
CALLS = os.path.join(BUILD, "bench", "bench_calls")
TOOL = os.path.join(BUILD, "dissent")
PEERS = {  # package: module
    "numpy": "numpy",
    "scipy": "scipy",
    "pandas": "pandas",
    "pyarrow": "pyarrow",
    "crowd-kit": "crowdkit",
    "krippendorff": "krippendorff",
    "scikit-learn": "sklearn",
    "torch": "torch",
    "tokenizers": "tokenizers",
    "transformers": "transformers",
    "sentence-transformers": "sentence_transformers",
}
PACKAGE = os.path.join(BUILD, "python")
ENV = dict(os.environ, PYTHONPATH=PACKAGE, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")


class Skipped(Exception):
    """The reason why a row has no figure."""


def print_progress(text):
    print(text, file=sys.stderr, flush=True)


def call(*command):
    """Runs a command, returns the lines of JSON that it prints."""
    done = subprocess.run([str(c) for c in command], env=ENV, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise Skipped(f"{os.path.basename(str(command[0]))} {command[1]}: {last}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def find_peers(wanted):
    """An interpreter with the peers in it, or the reason why there is none."""
    if wanted:
        return wanted
    venv = os.path.join(BUILD, "peers")
    python = os.path.join(venv, "bin", "python")
    try:
        if not os.path.exists(python):
            print_progress("making a virtual environment for the peers in build/peers")
            subprocess.run([sys.executable, "-m", "venv", venv], check=True, capture_output=True, text=True)
        code = "import importlib.util, sys; print(*[m for m in sys.argv[1:] if not importlib.util.find_spec(m)])"
        found = subprocess.run([python, "-c", code, *PEERS.values()], check=True, capture_output=True, text=True)
        missing = [p for p, module in PEERS.items() if module in found.stdout.split()]
        if missing:
            print_progress("installing " + ", ".join(missing))
        for package in missing:  # one by one: what can be had is had
            subprocess.run([python, "-m", "pip", "install", "-q", package], capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print_progress(f"no peers: {error}")
    return python


class Bench:
    def __init__(self, args):
        self.quick, self.only, self.work = args.quick, args.only, args.work
        self.python = find_peers(args.python)
        self.rows, self.cache = [], {}
        self.roof = None

    # ---- measuring ----

    def peer(self, script, *arguments):
        if not os.path.exists(self.python):
            raise Skipped("no Python environment for the peers")
        return call(self.python, os.path.join(PEERS, script), *arguments)[0]

    def median(self, measure):
        """Median of three measurements; fewer when they take longer than a minute."""
        values, start = [], time.perf_counter()
        while len(values) < (1 if self.quick else 3):
            values.append(measure())
            if time.perf_counter() - start > 60:
                break
        return statistics.median(values)

    def path(self, name):
        return os.path.join(self.work, name)

    def votes(self, n_votes, n_workers, per_item=5, shuffle=False):
        """A file of votes, made once."""
        name = self.path(f"votes_{n_votes}_{n_workers}_{per_item}{'_shuffled' if shuffle else ''}.csv")
        if name not in self.cache:
            call(
                CALLS, "synth", name, n_votes // per_item, n_workers, 4, per_item, 1, *(["shuffle"] if shuffle else [])
            )
            self.cache[name] = True
        return name

    def mixed_tasks(self, csv, per_item=5):
        """The same votes, still task by task, but tasks in no order: what is sorted need not be looked up."""
        name = csv[:-4] + "_mixed.csv"
        if name not in self.cache:
            with open(csv, "rb") as source, open(name, "wb") as target:
                target.write(source.readline())
                tasks = [b"".join(rows) for rows in zip(*[source] * per_item)]
                random.Random(1).shuffle(tasks)
                target.writelines(tasks)
            self.cache[name] = True
        return name

    def arrays(self, csv):
        name = csv[:-4] + ".npz"
        if name not in self.cache:
            done = (
                subprocess.run(
                    [self.python, os.path.join(PEERS, "peers_data.py"), csv, name],
                    env=ENV,
                    capture_output=True,
                    text=True,
                )
                if os.path.exists(self.python)
                else None
            )
            if not done or done.returncode:
                raise Skipped("pandas or numpy is not installed")
            self.cache[name] = True
        return name

    def per_iteration(self, csv, spec, threads, few, many, clock=None):
        """Seconds of one iteration of ours: the difference of two medians. Of the processor, if there is one thread."""
        repeats = 1 if self.quick else 3
        out = call(CALLS, "fit", csv, threads, repeats, spec % few, spec % many)
        clock = clock or ("processor_seconds" if threads == 1 else "seconds")
        a, b = (statistics.median(o[clock]) for o in out)
        if b <= a:
            raise Skipped("too short to measure")
        return (b - a) / (many - few)

    # ---- reporting ----

    def row(self, name, unit, ours, peer_name, peer, floor, note=""):
        """`ours` and `peer` are functions that measure seconds; `floor` is the ratio peer / ours that is asked for."""
        if self.only and self.only not in name + " " + peer_name:
            return
        print_progress(f"... {name} against {peer_name}")
        entry = {
            "row": name,
            "unit": unit,
            "peer_name": peer_name,
            "floor": floor,
            "note": "",
            "ours": None,
            "peer": None,
        }
        for key, measure in (("ours", ours), ("peer", peer), ("note", lambda: note(entry) if callable(note) else note)):
            try:
                if not entry["note"]:
                    entry[key] = measure()
            except Skipped as reason:
                entry["note"] = f"skipped: {reason}"
        self.add(entry)

    def add(self, entry):
        ours, peer, floor = entry["ours"], entry["peer"], entry["floor"]
        entry["ratio"] = peer / ours if ours and peer else None
        entry["met"] = None if self.quick or entry["ratio"] is None or floor is None else entry["ratio"] >= floor
        self.rows.append(entry)
        print_progress("    " + self.line(entry))

    @staticmethod
    def line(e):
        def seconds(x):
            if x is None:
                return "-"
            return f"{x:.3g} s" if x >= 1 else f"{x * 1e3:.3g} ms" if x >= 1e-3 else f"{x * 1e6:.3g} us"

        number = e.get("format", seconds)
        ratio = "-" if e["ratio"] is None else f"{e['ratio']:.1f}x"
        floor = "-" if e["floor"] is None else e.get("floor_text", f"{e['floor']:g}x")
        met = {None: "-", True: "met", False: "MISSED"}[e["met"]]
        return " | ".join(
            [e["row"], e["peer_name"], number(e["ours"]), number(e["peer"]), ratio, floor, met, e["note"]]
        )

    def table(self):
        head = ["row", "against", "ours", "peer", "ratio", "floor", "", "note"]
        lines = [head] + [self.line(e).split(" | ") for e in self.rows]
        widths = [max(len(line[c]) for line in lines) for c in range(len(head))]
        for i, line in enumerate(lines):
            print("  ".join(text.ljust(w) for text, w in zip(line, widths)).rstrip())
            if i == 0:
                print("  ".join("-" * w for w in widths))


def once(function):
    """The result of the first call, kept: one side of several rows."""
    results = []

    def measure():
        if not results:
            results.append(function())
        return results[0]

    return measure


def em_rows(b):
    memory = once(lambda: call(CALLS, "memory")[0]["bytes_per_second"])
    spec = "dawid-skene:smoothing=0,iterations=%d,tolerance=0"
    sizes = [20000] if b.quick else [1000000, 10000000]
    for n in sizes:
        for workers in (1000, 10000):
            few, many = (2, 42) if n <= 1000000 else (2, 10)
            ours = once(lambda n=n, w=workers, few=few, many=many: b.per_iteration(b.votes(n, w), spec, 1, few, many))

            def roof(entry, n=n):
                # what must be read: 4 bytes of worker and 1 of label per vote, 8 bytes of offset per item of 5 votes
                least = (5 + 8 / 5) / memory() * 1e9
                return (
                    f"{entry['ours'] / n * 1e9:.2f} ns per vote; the votes alone take {least:.2f} ns to read "
                    f"at {memory() / 1e9:.1f} GB/s"
                )

            def ibcc(kind, n=n, w=workers):
                def measure():
                    seconds = b.peer("peers_ibcc.py", kind, b.arrays(b.votes(n, w)), 6)["seconds"]
                    return statistics.median(seconds[1:])

                return lambda: b.median(measure)

            name = f"dawid-skene iteration, {n:.0e} votes, {workers} workers".replace("e+0", "e")
            floor = {1000: 20, 10000: 8}[workers]
            b.row(name, "iteration", ours, "sparse iBCC, published layout", ibcc("plain"), floor, roof)
            b.row(name, "iteration", ours, "sparse iBCC, our best", ibcc("sparse"), floor)
            if workers == 1000:
                steps = (1, 4) if n <= 1000000 else (1, 2)
                crowdkit_rows(b, name, ours, "dawid-skene", "crowd-kit DS", lambda n=n, w=workers: b.votes(n, w), steps)
            b.row(
                name,
                "iteration",
                lambda n=n, w=workers, few=few, many=many: b.per_iteration(b.votes(n, w), spec, 2, few, many),
                "ours: 2 threads against 1",
                lambda n=n, w=workers, few=few, many=many: b.per_iteration(
                    b.votes(n, w), spec, 1, few, many, "seconds"
                ),
                1.8,
            )


def crowdkit_rows(b, name, ours, method, peer_name, votes, steps):
    """Against crowd-kit with the ids of the file, as text, which is what its users give it; and, without a floor, with
    integers."""

    def measure(path):
        return lambda: b.median(lambda: b.peer("peers_crowdkit.py", method, path(), *steps)["seconds"])

    b.row(name, "iteration", ours, peer_name + ", text ids", measure(votes), 200)
    b.row(name, "iteration", ours, peer_name + ", integer ids", measure(lambda: b.arrays(votes())), None)


def mace_rows(b):
    n = 20000 if b.quick else 1000000
    spec = "mace:method=vb,restarts=1,start=uniform,iterations=%d,tolerance=0"
    ours = once(lambda: b.per_iteration(b.votes(n, 1000), spec, 1, 2, 42))
    crowdkit_rows(
        b,
        f"mace iteration, {n:.0e} votes".replace("e+0", "e"),
        ours,
        "mace",
        "crowd-kit MACE",
        lambda: b.votes(n, 1000),
        (1, 4),
    )


def rte(b):
    """The RTE votes of Snow et al. (2008), or a crowd of the same shape."""
    for folder in (os.environ.get("DISSENT_DATA"), os.path.join(ROOT, "..", "shared", "data")):
        path = folder and os.path.join(folder, "rte_snow", "annotations.csv")
        if path and os.path.exists(path):
            return path, "RTE"
    return b.votes(8000, 164, 10), "a crowd of RTE's shape"


def glad_rows(b):
    path, name = (b.votes(400, 20, 10), "a small crowd") if b.quick else rte(b)
    objectives = {}

    def ours():
        out = call(CALLS, "fit", path, 1, 1 if b.quick else 3, "glad")[0]
        objectives["ours"] = out["objective"]
        return statistics.median(out["processor_seconds"])

    def peer():
        out = b.peer("peers_crowdkit.py", "glad", path)
        objectives["peer"] = out["objective"]
        return out["seconds"]

    before = len(b.rows)
    b.row(f"glad on {name}, whole fit", "fit", ours, "crowd-kit GLAD", lambda: b.median(peer), 300)
    if len(b.rows) > before and len(objectives) == 2:
        b.rows[-1]["note"] = f"objective: ours {objectives['ours']:.3f}, theirs {objectives['peer']:.3f}"
        if not b.quick and objectives["ours"] < objectives["peer"] - 1e-6:
            b.rows[-1]["met"] = False


def reading_rows(b):
    n = 50000 if b.quick else 10000000
    shapes = (
        ("grouped", lambda: b.votes(n, 10000), (6, 10)),
        ("grouped, tasks in no order", lambda: b.mixed_tasks(b.votes(n, 10000)), (None, None)),
        ("shuffled", lambda: b.votes(n, 10000, shuffle=True), (6, 10)),
    )
    for shape, make, floors in shapes:
        path = once(make)
        pandas = once(lambda path=path: b.median(lambda: b.peer("peers_pandas.py", path())["seconds"]))
        for threads, floor in zip((1, 2), floors):
            b.row(
                f"read {n:.0e} rows, {shape}, {threads} thread{'s' * (threads > 1)}".replace("e+0", "e"),
                "file",
                lambda path=path, t=threads: statistics.median(
                    call(CALLS, "read", path(), t, 1 if b.quick else 3)[0]["seconds"]
                ),
                "pandas read_csv + factorize",
                pandas,
                floor,
            )


def export_row(b):
    size = 2000000 if b.quick else 200000000
    path, votes = b.path("export.json"), b.path("export.csv")
    make = once(lambda: b.peer("peers_json.py", "make", size, path))

    def ours():
        make()
        before = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        call_plain(
            TOOL, "convert", path, "--preset", "label-studio", "--label", "sentiment", "--threads", 1, "-q", "-o", votes
        )
        return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - before

    b.row(
        f"read a Label Studio export of {size // 1000000} MB, processor time, ours with writing the votes",
        "file",
        lambda: b.median(ours),
        "json.load + pandas factorize",
        lambda: b.peer("peers_json.py", "read", path)["seconds"],
        5,
    )


def centroid_rows(b):
    n = 20000 if b.quick else 1000000
    views, mine, theirs = b.path("views.f64"), b.path("centroid.f64"), b.path("cccp.f64")
    difference = {}

    def make():
        if not os.path.exists(b.python):
            raise Skipped("no Python environment for the peers")
        if views not in b.cache:
            subprocess.run(
                [b.python, os.path.join(PEERS, "peers_cccp.py"), "make", views, "4", str(n), "4", "1"],
                env=ENV,
                check=True,
                capture_output=True,
            )
            b.cache[views] = True

    def ours():
        make()
        return statistics.median(
            call(CALLS, "combine", views, 4, n, 4, 1, 1 if b.quick else 3, "centroid", mine)[0]["seconds"]
        )

    def peer():
        make()
        return b.median(lambda: b.peer("peers_cccp.py", "run", views, theirs, 4, n, 4)["seconds"])

    before = len(b.rows)
    b.row(
        f"centroid of 4 views, {n:.0e} items, K = 4".replace("e+0", "e"), "call", ours, "NumPy CCCP to 1e-13", peer, 30
    )
    if len(b.rows) > before and b.rows[-1]["ratio"]:
        code = f"import numpy as np; print(float(abs(np.fromfile({mine!r}) - np.fromfile({theirs!r})).max()))"
        difference = subprocess.run([b.python, "-c", code], env=ENV, capture_output=True, text=True).stdout.strip()
        b.rows[-1]["note"] = f"largest difference of the two results {float(difference):.1e}"


def agreement_rows(b):
    items, classes, per_item = (20000, 4, 5) if b.quick else (2000000, 4, 5)
    binary, counts = os.path.join(BUILD, "bench", "bench_agreement"), b.path("counts.i64")
    alphas = {}
    cache = once(lambda: call(binary, items, classes, per_item, 3 if b.quick else 15, counts)[0])

    def ours(key):
        def measure():
            alphas["ours"] = cache()["alpha"]
            return statistics.median(cache()[key])

        return measure

    def peer():
        cache()
        out = b.peer("peers_krippendorff.py", counts, items, classes, 1 if b.quick else 3)
        alphas["peer"] = out["alpha"]
        return statistics.median(out["seconds"])

    peer = once(peer)
    size = f"{items * per_item:.0e}".replace("e+0", "e")
    for name, key in (("votes in memory", "seconds"), ("counts in memory", "seconds_counts")):
        before = len(b.rows)
        b.row(f"alpha, {size} votes, {name}", "call", ours(key), "krippendorff, alpha from value counts", peer, 100)
        if len(b.rows) > before and len(alphas) == 2:
            b.rows[-1]["note"] = f"alphas differ by {abs(alphas['ours'] - alphas['peer']):.1e}"


def metric_rows(b):
    """Predictions against gold and people, arrays in memory, one thread."""
    big, middle = (20000, 10000) if b.quick else (1000000, 100000)
    kinds = (
        ("metrics", "all metrics without intervals", "scikit-learn, scipy, NumPy", big, 15),
        ("calibrated", "calibrated log-likelihood", "scipy minimize_scalar", big, 50),
        ("bootstrap_cross_entropy", "1,000 resamples of cross-entropy", "NumPy, vectorised", middle, 6),
        ("bootstrap_accuracy", "1,000 resamples of accuracy", "NumPy, vectorised", middle, 200),
        ("bootstrap_f1", "1,000 resamples of macro-F1", "NumPy, vectorised", middle, 200),
    )

    def arrays(n):
        name = b.path(f"eval_{n}.f64")
        if name not in b.cache:
            if not os.path.exists(b.python):
                raise Skipped("no Python environment for the peers")
            subprocess.run(
                [b.python, os.path.join(PEERS, "peers_metrics.py"), "make", name, str(n), "10", "1"],
                env=ENV,
                check=True,
                capture_output=True,
            )
            b.cache[name] = True
        return name

    for what, title, peer, n, floor in kinds:
        b.row(
            f"eval: {title}, {n:.0e} items, K = 10".replace("e+0", "e"),
            "call",
            lambda: statistics.median(
                call(
                    os.path.join(BUILD, "bench", "bench_eval"),
                    what,
                    arrays(n),
                    n,
                    10,
                    1,
                    1 if b.quick else 5 if n == big else 15,
                )[0]["seconds"]
            ),
            peer,
            lambda: b.median(lambda: b.peer("peers_metrics.py", "run", what, arrays(n), n, 10)["seconds"]),
            floor,
        )


def training_rows(b):
    """Epochs of training, prediction, several seeds, start and memory; one thread and processor time unless a row says
    otherwise."""
    cache = {}

    def files():
        if cache:
            return cache
        rng = random.Random(1)
        n = 2000 if b.quick else 20000
        cache["features"] = b.path("features.npy")
        call_plain(
            TOOL,
            "synth",
            "--items",
            n,
            "--classes",
            8,
            "--features",
            cache["features"],
            "--n-features",
            512,
            "--gold",
            b.path("numbered.csv"),
            "-o",
            b.path("feature_votes.csv"),
            "-q",
        )
        cache["ids"], cache["gold"] = b.path("features.tasks.txt"), b.path("numbered.csv")
        with open(cache["ids"], "w") as f:
            f.writelines(f"t{i}\n" for i in range(n))
        words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(1, 12))) for _ in range(4000)]
        cache["tokens"], cache["token_gold"] = b.path("tokens.conll"), b.path("token_gold.csv")
        count = 0
        with open(cache["tokens"], "w") as f, open(cache["token_gold"], "w") as g:
            g.write("task,label\n")
            while count < (512 if b.quick else 4096):
                for _ in range(rng.randint(4, 28)):
                    f.write(words[int(len(words) * rng.random() ** 3)] + "\n")
                    g.write(f"{count},{rng.randrange(12)}\n")
                    count += 1
                f.write("\n")
        cache["pairs"], cache["pair_gold"] = b.path("pairs.csv"), b.path("pair_gold.csv")
        with open(cache["pairs"], "w") as f, open(cache["pair_gold"], "w") as g:
            f.write("task,word,stem\n")
            g.write("task,label\n")
            for i in range(256 if b.quick else 3072):
                word = rng.choice(words) + rng.choice(words)
                f.write(f"{i},{word},{word[: rng.randint(1, len(word))]}\n")
                g.write(f"{i},{rng.randrange(2)}\n")
        return cache

    peer_times = {}

    def torch(kind, file, classes, batch, n, *more):
        """What the peer says of a kind, measured once."""
        key = (kind, n, more)
        if key not in peer_times:
            peer_times[key] = b.peer("peers_torch.py", kind, files()[file], classes, batch, n, *more)
        return peer_times[key]

    def library(kind, items, gold, spec, batch, n):
        """What bench_train says of a model, measured once."""
        key = (kind, n)
        if key not in peer_times:
            peer_times[key] = call(
                os.path.join(BUILD, "bench", "bench_train"), kind, files()[items], files()[gold], spec, batch, n
            )[0]
        return peer_times[key]

    few = b.quick
    models = {  # what the peer needs, what the library needs
        "mlp": (
            ("mlp", "features", 8, 64, 2 if few else 8),
            ("features", "features", "gold", "mlp:hidden=128", 64, 2 if few else 8),
        ),
        "tagger": (
            ("tagger", "tokens", 12, 1024, 2 if few else 3),
            ("tokens", "tokens", "token_gold", "tagger:seen=1", 1024, 2 if few else 3),
        ),
        "stem-cnn": (
            ("stem-cnn", "pairs", 2, 1024, 2 if few else 4),
            ("texts", "pairs", "pair_gold", "stem-cnn", 1024, 2 if few else 4),
        ),
    }
    titles = {
        "mlp": "mlp 512-128-8, batch 64",
        "tagger": "tagger, paper's sizes, batches of 1,024 tokens",
        "stem-cnn": "stem-cnn, paper's sizes, batch 1,024",
    }

    for name, floor in (("mlp", 2.5), ("tagger", 1.5), ("stem-cnn", 2)):
        theirs, ours = models[name]
        b.row(
            f"train {titles[name]}, an epoch",
            "epoch",
            lambda o=ours: statistics.median(library(*o)["epoch"]),
            "PyTorch, a sentence once" if name == "tagger" else "PyTorch",
            lambda t=theirs: statistics.median(torch(*t)["seconds"]),
            floor,
        )
        b.row(
            f"predict {titles[name]}, all items",
            "pass",
            lambda o=ours: statistics.median(library(*o)["predict"]),
            "PyTorch",
            lambda t=theirs: statistics.median(torch(*t)["predict"]),
            2,
        )
    b.row(
        "train tagger, paper's sizes, an epoch",
        "epoch",
        lambda: statistics.median(library(*models["tagger"][1])["epoch"]),
        "PyTorch, a sentence for each of its words",
        lambda: torch(*models["tagger"][0][:4], 1, "anew")["seconds"][0],
        None,
    )
    seeds_row(b, files)
    for name, limit in (("mlp", 0.2), ("stem-cnn", 0.2), ("tagger", 1)):
        b.row(
            f"start of {name} to its first step, reading included",
            "start",
            lambda n=name: library(*models[n][1])["start"],
            f"limit of {limit:g} s",
            lambda x=limit: x,
            1,
            lambda e, n=name: "PyTorch %.2g s" % torch(*models[n][0])["start"] if os.path.exists(b.python) else "",
        )
    for name in models:
        memory_row(
            b,
            f"memory of training {name}, less 16 bytes per parameter",
            lambda n=name: library(*models[n][1]),
            lambda n=name: torch(*models[n][0]),
        )


def seeds_row(b, files):
    """N seeds two at a time, by the clock: two processes of PyTorch with half of them each, or one with two threads."""
    n = 2 if b.quick else 8
    epochs = 2 if b.quick else 5

    def ours():
        f = files()
        command = [
            "train",
            "--model",
            "mlp:hidden=128",
            "--batch",
            64,
            "--items",
            f["features"],
            "--ids",
            f["ids"],
            "--gold",
            f["gold"],
            "--objective",
            "gold",
            "--epochs",
            epochs,
            "--runs",
            n,
            "--jobs",
            2,
            "--threads",
            2,
            "-q",
            "-o",
            b.path("seeds"),
        ]
        begun = time.perf_counter()
        call_plain(TOOL, *command)
        return (time.perf_counter() - begun) / n

    def peer():
        if not os.path.exists(b.python):
            raise Skipped("no Python environment for the peers")
        command = [b.python, os.path.join(PEERS, "peers_torch.py"), "mlp", files()["features"], 8, 64, epochs, n // 2]
        both = [
            subprocess.Popen([str(c) for c in command], env=ENV, stdout=subprocess.PIPE, text=True) for _ in range(2)
        ]
        outputs = [p.communicate()[0] for p in both]
        if any(p.returncode for p in both):
            raise Skipped("PyTorch failed")
        return max(json.loads(text.splitlines()[-1])["wall"] for text in outputs) / n

    b.row(
        f"mlp, {epochs} epochs of {n} seeds, two side by side, a seed",
        "seed",
        lambda: b.median(ours),
        "PyTorch, two processes",
        lambda: b.median(peer),
        2,
        "ours with reading and saving, PyTorch without starting Python",
    )


def memory_row(b, name, ours, peer):
    def less(found):
        return found["peak"] - 16 * found["parameters"]

    if b.only and b.only not in name:
        return
    entry = {
        "row": name,
        "unit": "process",
        "peer_name": "PyTorch",
        "floor": 2,
        "note": "",
        "ours": None,
        "peer": None,
        "format": lambda x: "-" if x is None else f"{x / 1e6:.0f} MB",
    }
    try:
        entry["ours"] = less(ours())
        entry["peer"] = less(peer())
    except Skipped as reason:
        entry["note"] = f"skipped: {reason}"
    b.add(entry)


def call_plain(*command):
    done = subprocess.run([str(c) for c in command], env=ENV, capture_output=True, text=True)
    if done.returncode:
        raise Skipped((done.stderr.strip().splitlines() or ["failed"])[-1])


def watch(command):
    """Runs a command; wall seconds and the peak of its memory that is not a mapped file, sampled 50 times per
    second."""
    start, peak, peak_all = time.perf_counter(), 0, 0
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while process.poll() is None:
        try:
            with open(f"/proc/{process.pid}/status") as f:
                fields = dict(line.split(":", 1) for line in f if line.startswith(("RssAnon", "RssShmem", "VmHWM")))
            peak = max(peak, sum(int(fields[k].split()[0]) for k in ("RssAnon", "RssShmem") if k in fields) * 1024)
            peak_all = max(peak_all, int(fields.get("VmHWM", "0 kB").split()[0]) * 1024)
        except OSError:
            pass
        time.sleep(0.02)
    seconds = time.perf_counter() - start
    if process.returncode:
        raise Skipped(process.stderr.read().strip().splitlines()[-1])
    return seconds, peak, peak_all


def shuffled_row(b, n, name, source, target):
    """Rows in no order, names of more than 8 bytes: numbered from files when there is little memory."""
    short = b.path("short.csv")
    try:
        call(CALLS, "synth", short, n // 10, 10000, 4, 10, 1, "shuffle")
        with open(source, "wb") as f:
            subprocess.run(["sed", "2,$s/^/item-/", short], stdout=f, check=True, env=dict(ENV, LC_ALL="C"))
        os.remove(short)
        command = [TOOL, "labels", source, "-o", target, "--threads", "2", "--quiet"]
        seconds, peak, _ = watch(command)
        within, least, _ = watch(command + ["--memory", "500M"])
        b.add(
            {
                "row": name + ", shuffled, long names, --memory 500M",
                "unit": "command",
                "peer_name": "ours with all memory",
                "ours": within,
                "peer": seconds,
                "floor": 1 / 1.3,
                "floor_text": "1.3 times as long",
                "note": f"peaks less mapped files {least / 1e9:.2f} and {peak / 1e9:.2f} GB",
            }
        )
    finally:
        if os.path.exists(short):
            os.remove(short)


def large_row(b):
    n = 100000 if b.quick else 100000000
    name = f"labels (default), {n:.0e} votes, file to file, 2 threads".replace("e+0", "e")
    if b.only and b.only not in name:
        return
    print_progress("... " + name)
    source, target = b.path("large.csv"), b.path("large_labels.csv")
    try:
        call(CALLS, "synth", source, n // 10, 10000, 4, 10, 1)
        size = os.path.getsize(source)
        seconds, peak, peak_all = watch([TOOL, "labels", source, "-o", target, "--threads", "2", "--quiet"])
        note = f"input {size / 1e9:.2f} GB, labels {os.path.getsize(target) / 1e9:.2f} GB"
        note += f"; peak with the mapped input {peak_all / 1e9:.2f} GB"
        b.add(
            {
                "row": name,
                "unit": "command",
                "peer_name": "limit of 5 minutes",
                "ours": seconds,
                "peer": 300.0,
                "floor": 1,
                "floor_text": "300 s",
                "note": note,
            }
        )
        b.add(
            {
                "row": name + ", peak memory",
                "unit": "bytes",
                "peer_name": "limit of 3 GB",
                "ours": peak,
                "peer": 3e9,
                "floor": 1,
                "floor_text": "3 GB",
                "note": "less the mapped input",
                "format": lambda x: f"{x / 1e9:.2f} GB",
            }
        )
        within, least, _ = watch(
            [TOOL, "labels", source, "-o", target, "--threads", "2", "--memory", "500M", "--quiet"]
        )
        b.add(
            {
                "row": name + ", --memory 500M",
                "unit": "command",
                "peer_name": "ours with all memory",
                "ours": within,
                "peer": seconds,
                "floor": 1 / 1.3,
                "floor_text": "1.3 times as long",
                "note": f"peak less the mapped input {least / 1e9:.2f} GB",
            }
        )
        shuffled_row(b, n, name, source, target)
    except Skipped as reason:
        b.add(
            {
                "row": name,
                "unit": "command",
                "peer_name": "limit of 5 minutes",
                "ours": None,
                "peer": None,
                "floor": None,
                "note": f"skipped: {reason}",
            }
        )
    finally:
        for path in (source, target):
            if os.path.exists(path):
                os.remove(path)


def append_row(b):
    """New votes beside a saved state against a fit of all votes, processor time on one thread."""
    n, n_new = (100000, 100) if b.quick else (10000000, 10000)
    old, new, state, target = (b.path(x) for x in ("old.csv", "new.csv", "growing.safetensors", "changed.csv"))
    common = [TOOL, "labels", "--method", "dawid-skene", "--threads", "1", "--quiet", "-o", target]

    @once
    def files():
        with open(b.votes(n, 10000, 10), "rb") as f:
            head, *rows = f.readlines()
        chosen = sorted(random.Random(1).sample(range(len(rows)), n_new))
        with open(new, "wb") as f:
            f.writelines([head] + [rows[i] for i in chosen])
        for i in chosen:
            rows[i] = b""
        with open(old, "wb") as f:
            f.writelines([head] + rows)
        call(*common, old, "--save-growing", state)

    def processor(*arguments):
        files()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        call(*common, *arguments)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    b.row(
        f"labels --append, {n_new:.0e} votes on {n:.0e}, file to file".replace("e+0", "e"),
        "command",
        lambda: b.median(lambda: processor(new, "--append", state)),
        "ours, a fit of all votes",
        lambda: b.median(lambda: processor(old, new)),
        50,
    )


def package_rows(b):
    """The Python package, a DataFrame in and a DataFrame out, ids as text."""

    def ours(name, votes, n, columns):
        def measure():
            if not os.path.exists(os.path.join(PACKAGE, "dissent", "_core.abi3.so")):
                raise Skipped("the Python module was not built")
            return statistics.median(
                b.peer("peers_package.py", "ours", name, votes(), n, columns, 1 if b.quick else 5)["seconds"]
            )

        return measure

    n = 20000 if b.quick else 1000000
    for name, size, iterations, floor in (("DawidSkene", n, 10, 60), ("MACE", n, 10, 100), ("GLAD", n // 10, 2, 100)):
        votes = lambda size=size: b.votes(size, 1000, shuffle=True)
        row = f"Python: {name}, {size:.0e} votes, {iterations} iterations, DataFrame to DataFrame".replace("e+0", "e")
        peer = once(
            lambda name=name, votes=votes, k=iterations: b.median(
                lambda: b.peer("peers_package.py", "peer", name, votes(), k, "str")["seconds"][0]
            )
        )
        b.row(row, "fit", ours(name, votes, iterations, "str"), f"crowd-kit {name}", peer, floor)
        if name == "DawidSkene":
            b.row(
                row + ", object columns",
                "fit",
                ours(name, votes, iterations, "object"),
                f"crowd-kit {name}",
                lambda votes=votes, k=iterations: b.median(
                    lambda: b.peer("peers_package.py", "peer", "DawidSkene", votes(), k, "object")["seconds"][0]
                ),
                None,
            )
    times = once(
        lambda: b.peer("peers_package.py", "overhead", b.votes(n, 1000, shuffle=True), 10, 1 if b.quick else 9)
    )
    before = len(b.rows)
    b.row(
        "Python: DawidSkene, the same, what the package adds",
        "fit",
        lambda: statistics.median(times()["python"]),
        "the library's calls on the same Arrow buffers",
        lambda: statistics.median(times()["c"]),
        1 / 1.2,
    )
    if len(b.rows) > before:
        b.rows[-1]["floor_text"] = "at most 20 % more"


def start_row(b):
    path, what = rte(b)
    name = f"labels (default) on {what}, whole process, median of 20"
    if b.only and b.only not in name:
        return
    seconds = []
    try:
        for _ in range(5 if b.quick else 20):
            start = time.perf_counter()
            done = subprocess.run(
                [TOOL, "labels", path, "-o", b.path("rte.csv"), "--quiet"], capture_output=True, text=True
            )
            seconds.append(time.perf_counter() - start)
            if done.returncode:
                raise Skipped((done.stderr.strip().splitlines() or ["failed"])[-1])
        b.add(
            {
                "row": name,
                "unit": "command",
                "peer_name": "limit of 50 ms",
                "ours": statistics.median(seconds),
                "peer": 0.05,
                "floor": 1,
                "floor_text": "50 ms",
                "note": f"slowest {max(seconds) * 1e3:.0f} ms",
            }
        )
    except (Skipped, OSError) as reason:
        b.add(
            {
                "row": name,
                "unit": "command",
                "peer_name": "limit of 50 ms",
                "ours": None,
                "peer": None,
                "floor": None,
                "note": f"skipped: {reason}",
            }
        )


def real_texts(b):
    """The texts of RTE, SNLI and POPQUORN, one per line, and the folder of the data; Skipped where they are not."""
    import csv

    for data in (os.environ.get("DISSENT_DATA"), os.path.join(ROOT, "..", "shared", "data")):
        files = (
            [
                os.path.join(data, *f)
                for f in (
                    ("rte_snow", "items.csv"),
                    ("snli", "test_items.csv"),
                    ("snli", "dev_items.csv"),
                    ("popquorn", "items.csv"),
                    ("toxicity_pipa", "items.csv"),
                )
            ]
            if data
            else []
        )
        files = [f for f in files if os.path.exists(f)]
        if not files:
            continue
        path = b.path("texts.txt")
        if path not in b.cache:
            with open(path, "w", encoding="utf-8", newline="\n") as out:
                for name in files[:1] if b.quick else files:
                    with open(name, encoding="utf-8", newline="") as f:
                        for row in csv.DictReader(f):
                            for field in row.values():
                                if field and " " in field:
                                    out.write(" ".join(field.split()) + "\n")
            b.cache[path] = True
        return path, data
    raise Skipped("no real texts: neither DISSENT_DATA nor ../shared/data")


def token_rows(b):
    """encode_batch of real texts, tokenizers on one thread: real vocabularies where they are, others trained on the
    texts."""

    def folder_of(kind, model):
        texts, data = real_texts(b)
        real = {"WordPiece, BERT's vocabulary": "bert-base-uncased", "BPE, RoBERTa's vocabulary": "roberta"}.get(model)
        if real:
            folder = os.path.join(data, "tokenizers", real)
            if not os.path.isdir(folder):
                raise Skipped(f"no {folder}")
            return folder, texts
        folder = b.path("tokenizer_" + kind)
        if folder not in b.cache:
            b.peer("peers_tokenizers.py", "train", kind, texts, folder)
            b.cache[folder] = True
        return folder, texts

    repeats = 1 if b.quick else 5
    for kind, model in (
        ("wordpiece", "WordPiece, BERT's vocabulary"),
        ("bpe", "BPE, RoBERTa's vocabulary"),
        ("unigram", "Unigram, trained on the texts"),
    ):
        counts = {}

        def ours():
            out = call(os.path.join(BUILD, "bench", "bench_tokens"), *folder_of(kind, model), 1, repeats)[0]
            counts["ours"] = out["tokens"]
            return statistics.median(out["processor_seconds"])

        def peer():
            out = b.peer("peers_tokenizers.py", "encode", *folder_of(kind, model), repeats)
            counts["peer"] = out["tokens"]
            return statistics.median(out["processor_seconds"])

        def note(entry):
            if counts["ours"] != counts["peer"]:
                raise Skipped(f"{counts['ours']} tokens, theirs {counts['peer']}")
            return f"{counts['ours'] / entry['ours'] / 1e6:.1f} million tokens a second"

        b.row(f"tokens of real texts, {model}", "texts", ours, "tokenizers encode_batch", peer, 3, note)


def encoder_rows(b):
    encoder_rows_of.rows(b, TOOL, ROOT, Skipped)


def machine():
    model = "unknown processor"
    try:
        with open("/proc/cpuinfo") as f:
            model = next(line.split(":", 1)[1].strip() for line in f if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{model}, {len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--python")
    parser.add_argument("--work")
    parser.add_argument("--json")
    args = parser.parse_args()
    if not os.path.exists(CALLS):
        sys.exit("build first: ./run build")
    args.work = tempfile.mkdtemp(prefix="bench-", dir=args.work or BUILD)
    try:
        b = Bench(args)
        print(machine())
        for rows in (
            em_rows,
            mace_rows,
            glad_rows,
            reading_rows,
            export_row,
            centroid_rows,
            agreement_rows,
            metric_rows,
            training_rows,
            token_rows,
            encoder_rows,
            package_rows,
            append_row,
            start_row,
        ) + ((large_row,) if args.large else ()):
            rows(b)
        b.table()
        if args.json:
            keep = [{k: v for k, v in e.items() if k != "format"} for e in b.rows]
            with open(args.json, "w") as f:
                json.dump({"machine": machine(), "quick": args.quick, "rows": keep}, f, indent=1)
    finally:
        shutil.rmtree(args.work, ignore_errors=True)
    missed = sum(e["met"] is False for e in b.rows)
    print(f"\n{len(b.rows)} rows, {missed} below their floor, {sum(e['ratio'] is None for e in b.rows)} skipped")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
