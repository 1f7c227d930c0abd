#!/usr/bin/env python3
"""Copies an encoder folder with the weights of its model.safetensors rounded from float32 to bfloat16, which halves the file.

    papers/tools/round_encoder.py FROM TO

The MULTI-VIEW runs of papers/runs start from all-mpnet-base-v2 after this rounding (to nearest, ties to even). The same input
gives the same bytes, so the keys of the runs can be compared.
"""

import json
import pathlib
import shutil
import struct
import sys


def rounded(weights):
    """bfloat16 bytes of float32 bytes."""
    import numpy

    bits = numpy.frombuffer(weights, "<u4").astype(numpy.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("<u2").tobytes()


def round_weights(source, target):
    with source.open("rb") as f:
        size = struct.unpack("<Q", f.read(8))[0]
        tensors = json.loads(f.read(size))
        header, pieces, at = {}, [], 0
        for name, tensor in tensors.items():
            if name == "__metadata__":
                header[name] = tensor
                continue
            begin, end = tensor["data_offsets"]
            f.seek(8 + size + begin)
            piece, dtype = f.read(end - begin), tensor["dtype"]
            if dtype == "F32":
                piece, dtype = rounded(piece), "BF16"
            header[name] = {"dtype": dtype, "shape": tensor["shape"], "data_offsets": [at, at + len(piece)]}
            pieces.append(piece)
            at += len(piece)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with target.open("wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        f.writelines(pieces)


def main():
    if len(sys.argv) != 3 or sys.argv[1].startswith("-"):
        sys.exit("usage: papers/tools/round_encoder.py FROM TO")
    source, target = map(pathlib.Path, sys.argv[1:])
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("model.safetensors"))
    round_weights(source / "model.safetensors", target / "model.safetensors")


if __name__ == "__main__":
    main()
