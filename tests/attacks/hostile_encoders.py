"""Encoder and model folders from someone else give vectors or an error within seconds."""
import json
import os
import pathlib
import shutil
import struct

from attack import ERRORS, SOURCE, damage, expect, rounds, run

GOOD = pathlib.Path(SOURCE, "tests/parity/fixtures/encoders/bert_vocabulary")
FIXTURES = pathlib.Path(SOURCE, "tests/cli/fixtures")
FILES = ("config.json", "tokenizer.json", "model.safetensors", "tokenizer_config.json", "special_tokens_map.json",
         "vocab.txt", "added_tokens.json", "model.safetensors.index.json", "adapter_config.json")
EMBED = ("embed", "--encoder", "e", "--items", "items.csv", "-o", "x.npy")
TRAIN = ("train", "--gold", "gold.csv", "--objective", "gold", "--model", "encoder", "--encoder", "e", "--epochs", "1",
         "--items", "items.csv", "-o", "trained", "-q")
MLP = ("train", "--gold", "gold.csv", "--objective", "gold", "--model", "mlp", "--items", "features.csv", "-q", "--epochs", "3")


def copy_encoder(name="e"):
    shutil.rmtree(name, ignore_errors=True)
    shutil.copytree(GOOD, name)
    pathlib.Path(name, "expected.safetensors").unlink()
    return pathlib.Path(name)


def put(path, kind):
    """A FIFO, a device or a large file of holes in place of a file."""
    path.unlink(missing_ok=True)
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "holes":
        with open(path, "wb") as f:
            f.truncate(1 << 37)
    else:
        path.symlink_to(kind)


def tensors(path):
    data = path.read_bytes()
    n, = struct.unpack("<Q", data[:8])
    return json.loads(data[8:8 + n]), bytearray(data[8 + n:])


def write_tensors(path, header, body):
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(body))


def scale(path, factor, names):
    """Multiplies weights, all of which stay finite."""
    header, body = tensors(path)
    for name, t in header.items():
        if name == "__metadata__" or t["dtype"] != "F32" or not any(n in name for n in names):
            continue
        a, b = t["data_offsets"]
        x = [min(max(v * factor, -3e38), 3e38) for v in struct.unpack(f"<{(b - a) // 4}f", body[a:b])]
        body[a:b] = struct.pack(f"<{len(x)}f", *x)
    write_tensors(path, header, body)


def headers(good):
    """Headers of safetensors that promise what the file does not have."""
    header, _ = tensors(good)
    name = next(n for n in header if n != "__metadata__")
    for change in ({"shape": [1 << 40, 1 << 40]}, {"shape": [-1]}, {"shape": [1] * 100}, {"data_offsets": [0, 1 << 62]},
                   {"data_offsets": [1 << 63, 0]}, {"dtype": "F99"}, {"shape": []}):
        yield json.dumps({**header, name: {**header[name], **change}}).encode()
    yield b"{" * 100_000
    yield b'{"a":' * 1000
    yield json.dumps({**header, **{f"x{i}": header[name] for i in range(100_000)}}).encode()


def folders():
    for name in FILES:
        for kind in ("fifo", "/dev/zero", "/dev/urandom", "holes", "folder", "e"):
            e = copy_encoder()
            if name == "vocab.txt" or name == "model.safetensors.index.json":
                (e / ("tokenizer.json" if name == "vocab.txt" else "model.safetensors")).unlink()
            put(e / name, "../e" if kind == "e" else kind)
            expect(f"{name} is {kind}", ERRORS if name in FILES[:3] else (0, *ERRORS), *EMBED)
            run(*TRAIN)
    e = copy_encoder()
    shutil.move(e / "model.safetensors", "weights")
    (e / "model.safetensors").symlink_to("../weights")
    expect("weights behind a link, as caches have them", (0,), *EMBED)

    for what, names in [("outside", ["../weights"]), ("absolute", ["/etc/passwd"]), ("a FIFO", ["f.safetensors"]),
                        ("a device", ["z.safetensors"]), ("no file", ["none.safetensors"]), ("long", ["x" * 180 + ".safetensors"]),
                        ("short, then long", ["a.safetensors", "x" * 150 + ".safetensors"]), ("..", ["..", "..safetensors"]),
                        ("300 files", [f"w{i}.safetensors" for i in range(300)])]:
        e = copy_encoder()
        shutil.move(e / "model.safetensors", e / "a.safetensors")
        put(e / "f.safetensors", "fifo")
        put(e / "z.safetensors", "/dev/zero")
        (e / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {f"t{i}": n for i, n in enumerate(names)}}))
        expect(f"an index that names {what}", ERRORS, *EMBED)

    for i, text in enumerate(headers(GOOD / "model.safetensors")):
        e = copy_encoder()
        body = (GOOD / "model.safetensors").read_bytes()
        (e / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + body[-1000:])
        expect(f"header {i}", ERRORS, *EMBED)
    config = json.loads((GOOD / "config.json").read_text())
    for key, values in {k: (0, -1, 1e9, 1e18, "x", None, [1], 0.5) for k in config if isinstance(config[k], int)}.items():
        for value in values:
            e = copy_encoder()
            (e / "config.json").write_text(json.dumps({**config, key: value}))
            expect(f"{key} = {value!r}", (0, *ERRORS), *EMBED)


def overflow():
    """Finite weights whose products overflow: no NaN in any output."""
    for factor, names in ((1e30, ("query", "key", "value")), (3e38, ("LayerNorm.weight",)), (1e25, ("dense",)), (1e38, ("",))):
        e = copy_encoder()
        scale(e / "model.safetensors", factor, names)
        code, error = run(*EMBED)
        if code not in (0, 3) or (code == 0 and not finite("x.npy")):
            raise SystemExit(f"weights times {factor} of {names}: exit {code}, and the vectors have NaN\n{error}")
        print(f"weights times {factor} of {names}: exit {code} {error.strip()[:140]}")
    e = copy_encoder()
    scale(e / "model.safetensors", 3e38, ("LayerNorm.weight",))
    expect("vectors of weights that overflow", (3,), *EMBED, names="not finite")
    expect("training on weights that overflow", (3,), *TRAIN)
    expect("training at a rate that overflows", (0, 3), *MLP, "--rate", "1000", "--optimizer", "sgd", "-o", "m2")
    expect("the same with a development set", (0, 3), *MLP, "--rate", "1000", "--optimizer", "sgd", "--dev", ".3", "-o", "m3")
    shutil.rmtree("m", ignore_errors=True)
    expect("a model", (0,), *MLP, "-o", "m")
    pathlib.Path("huge.csv").write_text("task,x,y\nt1,3e38,-3e38\nt2,-3e38,3e38\n")
    code, error = run("predict", "m", "--items", "huge.csv", "-o", "p.csv")
    if code not in (0, 3) or (code == 0 and "nan" in pathlib.Path("p.csv").read_text()):
        raise SystemExit(f"predictions of huge features: exit {code}\n{error}")
    print(f"predictions of huge features: exit {code} {error.strip()[:140]}")


def finite(path):
    data = pathlib.Path(path).read_bytes()
    n, = struct.unpack("<H", data[8:10])
    body = data[10 + n:]
    return all(v == v and abs(v) != float("inf") for v in struct.unpack(f"<{len(body) // 4}f", body))


def models():
    """Folders of dissent's own models."""
    for name in os.listdir("m"):
        for kind in ("fifo", "/dev/zero", "holes"):
            shutil.rmtree("h", ignore_errors=True)
            shutil.copytree("m", "h")
            put(pathlib.Path("h", name), kind)
            expect(f"{name} of a model is {kind}", (0, *ERRORS), "predict", "h", "--items", "features.csv", "-o", "p.csv")
    text = pathlib.Path("m/model.json").read_text()
    weights = json.loads(text)["weights"]
    for name in ("../m/" + weights, "/etc/passwd", "..", "fifo"):
        shutil.rmtree("h", ignore_errors=True)
        shutil.copytree("m", "h")
        os.mkfifo("h/fifo")
        pathlib.Path("h/model.json").write_text(text.replace(weights, name))
        expect(f"a model with weights {name}", ERRORS, "predict", "h", "--items", "features.csv", "-o", "p.csv")


def damage_model(i, draw, part):
    """A file of a model with damaged bytes."""
    shutil.rmtree("h", ignore_errors=True)
    shutil.copytree("m", "h")
    path = pathlib.Path("h", part)
    path.write_bytes(damage(path.read_bytes(), draw))
    code, error = run("predict", "h", "--items", "features.csv", "-o", "p.csv")
    if code not in (0, *ERRORS) or (code == 0 and "nan" in pathlib.Path("p.csv").read_text()):
        raise SystemExit(f"round {i}: {part} of a model: exit {code}\n{error}")


def main():
    items = [f"t{i}" for i in range(12)]
    pathlib.Path("items.csv").write_text("task,text\n" + "".join(f"{t},the cat {i} sat\n" for i, t in enumerate(items)))
    pathlib.Path("features.csv").write_text("task,x,y\n" + "".join(f"{t},{i % 3}e30,{i}e30\n" for i, t in enumerate(items)))
    pathlib.Path("gold.csv").write_text("task,label\n" + "".join(f"{t},{'ab'[i % 2]}\n" for i, t in enumerate(items)))
    copy_encoder()
    expect("a good encoder", (0,), *EMBED)
    overflow()
    models()
    folders()
    parts = ["config.json", "tokenizer.json", "model.safetensors"]
    own = [f for f in os.listdir("m") if f.startswith("weights") or f == "model.json"]
    for i, draw in rounds():
        if i % 3 == 2:
            damage_model(i, draw, draw.choice(own))
            continue
        e = copy_encoder()
        part = draw.choice(parts)
        data = (GOOD / part).read_bytes()
        head = 5000 if part == "model.safetensors" else len(data)
        (e / part).write_bytes(damage(data[:head], draw) + data[head:])
        code, error = run(*EMBED)
        if code not in (0, *ERRORS) or (code == 0 and not finite("x.npy")):
            raise SystemExit(f"round {i}: {part}: exit {code}\n{error}")


main()
