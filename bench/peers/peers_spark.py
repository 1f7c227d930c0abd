"""Dawid-Skene by EM on Apache Spark in local mode, as spark-crowd (Rodrigo, Aledo & Gamez 2018) has published it: the
crowd as a table of rows, joined with the matrices of workers for the labels of items, and with these for the matrices;
beside `dissent labels` on the same file in the same run. Written with DataFrames; logarithms where spark-crowd
multiplies probabilities, which underflow.

    python bench/peers/peers_spark.py VOTES.csv [--dissent build/dissent] [--iterations 5] [--cores 2]

Prints JSON: for Spark, seconds and processor seconds of reading and of all iterations; for dissent the same from file
to file; and the largest difference of a label. Names must be those of `dissent synth` (t12, w3, 0): spark-crowd takes
numbers. Needs pyspark and Java; without them it says `skipped: reason`."""
import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def skip(reason):
    print(json.dumps({"skipped": reason}))
    sys.exit(0)


def processor(spark):
    """Seconds of processor time of Spark's Java so far."""
    fields = Path(f"/proc/{spark.sparkContext._gateway.proc.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def read(spark, path, cores):
    """Votes as numbers, those of an item in one partition, in memory."""
    rows = spark.read.csv(str(path), header=True, schema="task STRING, worker STRING, label INT")
    numbers = [f"CAST(substring({name}, 2) AS INT) AS {name}" for name in ("task", "worker")]
    rows = rows.selectExpr(*numbers, "label")
    votes = rows.repartition(2 * cores, "task").cache()
    return votes, votes.count(), votes.agg({"label": "max"}).first()[0] + 1


def first_labels(F, votes, K):
    """Shares of votes."""
    shares = [(F.sum(F.when(F.col("label") == k, 1).otherwise(0)) / F.count("*")).alias(f"p{k}") for k in range(K)]
    return votes.groupBy("task").agg(*shares)


def matrices(F, votes, labels, K, smoothing):
    """The logarithms of each worker's matrix (worker, label, l0 ...), and of the prior of classes."""
    sums = votes.join(labels, "task").groupBy("worker", "label").agg(*[F.sum(f"p{k}").alias(f"c{k}") for k in range(K)])
    sums = sums.cache()
    totals = sums.groupBy("worker").agg(*[F.sum(f"c{k}").alias(f"n{k}") for k in range(K)])
    logs = [F.log((F.col(f"c{k}") + smoothing) / (F.col(f"n{k}") + K * smoothing)).alias(f"l{k}") for k in range(K)]
    prior = labels.agg(*[F.log(F.avg(f"p{k}")).alias(f"p{k}") for k in range(K)]).first()
    return sums.join(totals, "worker").select("worker", "label", *logs), [prior[f"p{k}"] for k in range(K)], sums


def new_labels(F, votes, logs, prior, K):
    joined = votes.join(F.broadcast(logs), ["worker", "label"])
    scores = joined.groupBy("task").agg(*[(F.sum(f"l{k}") + float(prior[k])).alias(f"s{k}") for k in range(K)])
    largest = F.greatest(*[F.col(f"s{k}") for k in range(K)])
    scores = scores.select("task", *[F.exp(F.col(f"s{k}") - largest).alias(f"e{k}") for k in range(K)])
    total = sum((F.col(f"e{k}") for k in range(1, K)), F.col("e0"))
    return scores.select("task", *[(F.col(f"e{k}") / total).alias(f"p{k}") for k in range(K)])


def run_spark(args):
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F

    start = time.perf_counter()
    builder = SparkSession.builder.master(f"local[{args.cores}]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "4g").config("spark.sql.shuffle.partitions", str(2 * args.cores))
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    started, used = time.perf_counter(), processor(spark)
    votes, n, K = read(spark, args.votes, args.cores)
    labels = first_labels(F, votes, K).cache()
    labels.count()
    was_read, used_read = time.perf_counter(), processor(spark)
    for _ in range(args.iterations):
        logs, prior, sums = matrices(F, votes, labels, K, args.smoothing)
        after = new_labels(F, votes, logs, prior, K).localCheckpoint()  # or plans grow with every iteration
        for table in (labels, sums):
            table.unpersist()
        labels = after
    done, used_all = time.perf_counter(), processor(spark)
    rows = {f"t{row['task']}": [row[f"p{k}"] for k in range(K)] for row in labels.collect()}
    spark.stop()
    return rows, {"votes": n, "iterations": args.iterations,
                  "spark": {"start": started - start, "read": was_read - started, "iterate": done - was_read},
                  "spark processor": {"start": used, "read": used_read - used, "iterate": used_all - used_read}}


def run_dissent(args, folder):
    out = Path(folder) / "labels.csv"
    method = f"dawid-skene:iterations={args.iterations},tolerance=0,smoothing={args.smoothing},diagonal=0,prior-count=0"
    start = time.perf_counter()
    subprocess.run([str(args.dissent), "labels", str(args.votes), "--method", method, "--threads", str(args.cores),
                    "-q", "-o", str(out)], check=True)
    seconds = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    rows = {}
    with open(out) as lines:
        next(lines)
        for line in lines:
            cells = line.rstrip("\n").split(",")
            rows[cells[0]] = [float(x) for x in cells[3:]]
    return rows, seconds, used.ru_utime + used.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("votes", type=Path)
    parser.add_argument("--dissent", type=Path, default=Path("build/dissent"))
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--smoothing", type=float, default=0.01)
    args = parser.parse_args()
    if not shutil.which("java"):
        skip("no Java here")
    try:
        import pyspark  # noqa: F401
    except ImportError:
        skip("no pyspark here")
    with tempfile.TemporaryDirectory() as folder:
        ours, seconds, used = run_dissent(args, folder)
    theirs, out = run_spark(args)
    out["dissent"], out["dissent processor"] = seconds, used
    out["difference"] = max(abs(a - b) for task, row in ours.items() for a, b in zip(row, theirs[task]))
    print(json.dumps(out))


if __name__ == "__main__":
    main()
