"""Parameters to start a fit from, as bytes of the library's state files: safetensors, names of workers and classes with
them."""

from __future__ import annotations

import json
import struct

import numpy as np


def _names(name: str, texts: list[str]) -> list[tuple[str, str, np.ndarray]]:
    encoded = [t.encode() + b"\0" for t in texts]
    start = np.concatenate([[0], np.cumsum([len(e) for e in encoded])]).astype("<u8")
    return [(f"{name}/start", "U64", start), (name, "U8", np.frombuffer(b"".join(encoded), dtype=np.uint8))]


def state_bytes(
    method: str, parameters: dict[str, tuple[str, np.ndarray]], workers: list[str], classes: list[str]
) -> bytes:
    """parameters: {name: (axes, numbers)}; w stands for workers, v for the class voted, t for the true class."""
    tensors: list[tuple[str, str, np.ndarray]] = []
    metadata = {"format": "dissent-state", "version": "2"}
    for name, (axes, values) in parameters.items():
        tensors.append((f"{method}/{name}", "F64", np.ascontiguousarray(values, dtype="<f8")))
        metadata[f"{method}/{name}"] = axes
    (worker_start, worker_bytes), (class_start, class_bytes) = (
        _names("names/workers", workers),
        _names("names/classes", classes),
    )
    header: dict[str, object] = {"__metadata__": metadata}
    body, at = [], 0
    for name, dtype, values in [*tensors, worker_start, class_start, worker_bytes, class_bytes]:
        data = values.tobytes()
        header[name] = {"dtype": dtype, "shape": list(values.shape), "data_offsets": [at, at + len(data)]}
        body.append(data)
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(body)
