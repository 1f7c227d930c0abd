"""The model of time in docs/development/distributed.md beside what ranks took: processor time of each, without what it spent in calls of
MPI (rank_mpi_time.c), so that other work on the machine and waiting ranks disturb it little.

    python bench/speed/rank_time_model.py [--dissent build/dissent] [--votes 1e6,1e7] [--ranks 1,2,4] [--repeat 3] [--shuffle]
                                [--fit]

Parts are told apart by differences between runs: reading and writing by labels of `majority` without those of a few
votes, an iteration by dawid-skene with more of them. Each figure is that of the rank that took most, of the run that
took least. --fit also prints what single votes and items took, writing told apart by writing labels once more
(--save-views).

Needs mpirun and mpicc; without them it says `skipped: reason`."""
import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# ns, docs/development/distributed.md: a vote read, a vote of ascending names or an item in no order shared out, a worker's name of each
# rank, a vote in a pass, a number of a worker's table, an item written
READ, SHARE, SHARE_ITEM, NAME, PASS, UPDATE, WRITE = 24.0, 15.0, 340.0, 200.0, 2.8, 12.0, 75.0
READ_UNORDERED = 48.0
ITEMS_PER_VOTE, WORKERS, CLASSES = 0.1, 10000, 4
FEW, MANY = 2, 12  # iterations


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(0)


def at_work(args, tool, ranks, command, folder):
    """Seconds of processor time outside MPI of the rank that took most, in the run that took least."""
    best = None
    for _ in range(args.repeat):
        times = folder / "times"
        times.unlink(missing_ok=True)
        env = dict(os.environ, RANKS_TIME=str(times), OMPI_MCA_mpi_yield_when_idle="1", OMPI_ALLOW_RUN_AS_ROOT="1",
                   OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        full = [str(args.dissent), *command, "--threads", "1", "-q"]
        if ranks == 1:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(full, check=True, env=env)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            most = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        else:
            env["LD_PRELOAD"] = ""
            subprocess.run(["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), "env",
                            f"LD_PRELOAD={tool}", *full], check=True, env=env)
            rows = [line.split() for line in times.read_text().splitlines()]
            most = max(float(total) - float(inside) for _, total, inside in rows)
        best = most if best is None else min(best, most)
    return best


def measure(args, tool, ranks, votes, folder):
    data = folder / f"votes-{votes:.0f}.csv"
    out = str(folder / "labels.csv")
    labels = ["labels", str(data), "-o", out]
    plain = at_work(args, tool, ranks, [*labels, "--method", "majority"], folder)
    twice = at_work(args, tool, ranks, [*labels, "--method", "majority", "--save-views", str(folder / "views")], folder)
    few, many = (at_work(args, tool, ranks, [*labels, "--method", f"dawid-skene:iterations={n},tolerance=0"], folder)
                 for n in (FEW, MANY))
    write = twice - plain
    few_votes = [*labels, "--method", "majority"]
    few_votes[1] = str(folder / "start.csv")
    start = at_work(args, tool, ranks, few_votes, folder)
    return plain - write - start, (many - few) / (MANY - FEW), write


def reading(ranks, votes, shuffled):
    ns = (READ_UNORDERED if shuffled else READ) * votes / ranks
    if ranks == 1:
        return ns
    items = votes * ITEMS_PER_VOTE
    met = items * (1 - (1 - 1 / ranks) ** (1 / ITEMS_PER_VOTE))  # of those in no order, by each rank
    return ns + NAME * WORKERS * ranks + (SHARE_ITEM * met if shuffled else SHARE * votes / ranks)


def model(ranks, votes, shuffled):
    items, owners = votes * ITEMS_PER_VOTE, 1 << (ranks.bit_length() - 1)  # a power of 2 of ranks own items
    formatted = 1 if ranks == 1 else 2  # several count the bytes of their rows first
    return (reading(ranks, votes, shuffled) * 1e-9, (PASS * votes / owners + UPDATE * WORKERS * CLASSES**2) * 1e-9,
            formatted * WRITE * items / owners * 1e-9)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dissent", type=Path, default=Path("build/dissent"))
    parser.add_argument("--votes", default="1e6,1e7")
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--shuffle", action="store_true", help="rows in no order")
    args = parser.parse_args()
    for program in ("mpirun", "mpicc"):
        if not shutil.which(program):
            skip(f"no {program} here")
    args.dissent = args.dissent.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tool = folder / "ranks_time.so"
        subprocess.run(["mpicc", "-O2", "-shared", "-fPIC", "-o", str(tool),
                        str(Path(__file__).with_name("rank_mpi_time.c"))], check=True)
        subprocess.run([str(args.dissent), "synth", "--items", "30", "-o", str(folder / "start.csv"), "-q"], check=True)
        print("| votes | ranks | reading and labels, s | by the model | an iteration, ms | by the model |")
        print("|---|---|---|---|---|---|")
        for votes in (float(x) for x in args.votes.split(",")):
            order = ["--shuffle"] if args.shuffle else []
            subprocess.run([str(args.dissent), "synth", "--items", f"{votes * ITEMS_PER_VOTE:.0f}", "--workers",
                            str(WORKERS), "--classes", str(CLASSES), "--votes-per-item", f"{1 / ITEMS_PER_VOTE:.0f}",
                            "-o", str(folder / f"votes-{votes:.0f}.csv"), "-q", *order], check=True)
            for ranks in (int(x) for x in args.ranks.split(",")):
                read, iteration, write = measure(args, tool, ranks, votes, folder)
                by = model(ranks, votes, args.shuffle)
                print(f"| {votes:.0e} | {ranks} | {read + write:.3f} | {by[0] + by[2]:.3f} | {1e3 * iteration:.2f} | "
                      f"{1e3 * by[1]:.2f} |", flush=True)
                if args.fit:
                    items = votes * ITEMS_PER_VOTE
                    print(f"    per rank: {1e9 * read * ranks / votes:.1f} ns per vote read, "
                          f"{1e9 * iteration * ranks / votes:.2f} per vote and iteration, "
                          f"{1e9 * write * ranks / items:.0f} per item written")


if __name__ == "__main__":
    main()
