"""How steps of PyTorch are timed on a GPU; shared by gpu_encoder.py and gpu_nets.py."""
import contextlib
import fcntl
import os
import statistics
import time

import torch


@contextlib.contextmanager
def alone():
    """While the file that LOCK names is locked, if there is one: other programs may compile meanwhile, not time."""
    with open(os.environ.get("LOCK", os.devnull), "a") as file:
        if "LOCK" in os.environ:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def timed(step, groups, group, before=8):
    """Milliseconds of a step: the median over groups of so many steps with one wait each, some steps before."""
    for _ in range(before):
        step()
    torch.cuda.synchronize()
    step_ms = []
    for _ in range(groups):
        start = time.perf_counter()
        for _ in range(group):
            step()
        torch.cuda.synchronize()
        step_ms.append((time.perf_counter() - start) / group * 1e3)
    return statistics.median(step_ms)


def recorded(step, pool=None):
    """A graph of a step; graphs that are replayed one behind the other may share their memory, a pool."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(5):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=pool):
        step()
    return graph.replay


def give_up(*_):
    raise TimeoutError("it took too long")
