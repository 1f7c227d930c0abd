"""Stores from someone else end in a message: whatever is in them, within seconds, and nothing outside is touched."""
import os
import pathlib
import shutil
import sqlite3

from attack import ERRORS, SOURCE, expect, rounds, run, damage

FIXTURES = pathlib.Path(SOURCE, "tests/cli/fixtures")
SECRET = "secret-of-the-user"


def copy_store(name="hostile"):
    shutil.rmtree(name, ignore_errors=True)
    shutil.copytree("good", name, symlinks=True)
    return pathlib.Path(name)


def change(store, *statements):
    """Changes the database as its sender could have."""
    db = sqlite3.connect(store / "results.sqlite", isolation_level=None)
    db.execute("PRAGMA writable_schema = ON")
    for statement in statements:
        db.executescript(statement)
    db.close()


def replace(path, target=None):
    """A symbolic link, or a FIFO, in place of a file or folder."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
    if target:
        path.symlink_to(target)
    else:
        os.mkfifo(path)


def commands(store):
    """Everything that reads or writes a store."""
    key = KEYS[0]
    yield "merge", ["experiment", "merge", store, "--store", "into"]
    yield "status", ["experiment", "status", "labels.yaml", "--store", store]
    yield "show", ["experiment", "show", "labels.yaml", key, "--store", store]
    yield "table", ["experiment", "table", "labels.yaml", "--store", store]
    yield "report", ["experiment", "report", "labels.yaml", "--store", store, "-o", "page.html"]
    yield "run", ["experiment", "run", "labels.yaml", "--store", store, "-q"]


def check_outside(what):
    """Nothing of the user's was read into the target, changed or removed."""
    if pathlib.Path("outside/secret.txt").read_text() != SECRET or len(os.listdir("outside")) != 2:
        raise SystemExit(f"{what}: files outside of the store were changed: {os.listdir('outside')}")
    for folder, _, files in os.walk("into"):
        for name in files:
            path = pathlib.Path(folder, name)
            if path.is_file() and SECRET.encode() in path.read_bytes():
                raise SystemExit(f"{what}: {path} is a copy of a file outside of the store")


def everywhere(what, store, codes=ERRORS, but=()):
    for name, arguments in commands(store):
        shutil.rmtree("into", ignore_errors=True)
        expect(f"{what}: {name}", (0, *codes) if name in but else codes, *arguments)
        check_outside(f"{what}: {name}")


ENDLESS = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT "
ANY = ("merge", "status", "show", "table", "report", "run")
RUNS = ("key", "experiment", "cell", "data", "settings", "fold", "seed", "state", "owner", "message", "version",
        "finished", "seconds", "best_epoch", "parameters", "examples")


def schemas():
    as_runs = ", ".join(f"'done' AS {c}" if c == "state" else f"printf('%064x', x) AS {c}" if c == "key" else f"x AS {c}"
                        for c in RUNS)
    yield "runs is an endless view", "DROP TABLE runs", f"CREATE VIEW runs AS {ENDLESS}{as_runs} FROM r"
    yield ("measures is an endless view", "DROP TABLE measures",
           f"CREATE VIEW measures AS {ENDLESS}'k' AS key, 's' AS set_name, 'm' AS metric, x AS value FROM r")
    yield "sets is a table without its columns", "DROP TABLE sets", "CREATE TABLE sets(a)"
    yield "a trigger", f"CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM measures; SELECT max(x) FROM ({ENDLESS}x FROM r); END"
    yield ("a generated column", "DROP TABLE measures",
           "CREATE TABLE measures(key TEXT, set_name TEXT, metric TEXT, value REAL AS (length(zeroblob(900000000))),"
           " PRIMARY KEY(key, set_name, metric)) WITHOUT ROWID")
    yield "an index of an expression", "CREATE INDEX i ON runs(length(hex(zeroblob(length(key) * 1000000))))"
    yield "no tables", "DROP TABLE runs", "DROP TABLE measures", "DROP TABLE epochs", "DROP TABLE sets"
    yield "a text in place of the schema", "UPDATE sqlite_master SET sql = 'CREATE TABLE runs(' WHERE name = 'runs'"
    yield "an endless sqlite_stat1", "ANALYZE", (
        "UPDATE sqlite_master SET sql = 'CREATE TABLE sqlite_stat1(tbl,idx,stat AS (zeroblob(1000000000)))'"
        " WHERE name = 'sqlite_stat1'")
    yield "another version", "PRAGMA user_version = 77"


def main():
    shutil.copy(FIXTURES / "experiment.labels.yaml", "labels.yaml")
    shutil.copy(FIXTURES / "experiment.gold.csv", "gold.csv")
    shutil.copy(FIXTURES / "experiment.votes.csv", "votes.csv")
    os.mkdir("outside")
    pathlib.Path("outside/secret.txt").write_text(SECRET)
    pathlib.Path("outside/" + "a" * 32).write_text("")  # looks like the lock file of a dead process
    expect("a store", (0,), "experiment", "run", "labels.yaml", "--store", "good", "-q")
    db = sqlite3.connect("good/results.sqlite")
    KEYS.extend(k for k, in db.execute("SELECT key FROM runs ORDER BY key"))
    truth, = db.execute("SELECT truth FROM sets").fetchone()
    db.close()
    copy_store()
    everywhere("a good store", "hostile", (0,))

    everywhere("a store after ANALYZE", copy_store_with("ANALYZE"), (0,))
    for what, *statements in schemas():
        everywhere(what, copy_store_with(*statements), (3,))

    secret = os.path.abspath("outside/secret.txt")
    for part in [f"truth/{truth}.tasks.txt", f"truth/{truth}.classes.txt", f"truth/{truth}.npy",
                 f"predictions/{KEYS[0]}/test.npy", f"predictions/{KEYS[0]}", "truth", "predictions", "results.sqlite",
                 "cache", "owners"]:
        for target in (secret, os.path.dirname(secret), "/dev/zero", "../nowhere", None):
            store = copy_store()
            if not (store / part).exists():
                raise SystemExit(f"no {part} in a store")
            replace(store / part, target)
            # commands that need not read the part may end well
            everywhere(f"{part} -> {target or 'a FIFO'}", store, but=ANY)

    for what, statement in [
        ("a path outside", f"UPDATE sets SET path = '../outside/secret.txt', truth = '../../outside/secret'"),
        ("an absolute path", f"UPDATE sets SET path = '{secret}'"),
        ("a path with ..", "UPDATE sets SET path = 'predictions/' || key || '/../../../outside/x.npy'"),
        ("a long path", "UPDATE sets SET path = path || hex(zeroblob(100000))"),
        ("an owner outside", "UPDATE runs SET state = 'running', owner = '../../outside/secret.txt'"),
        ("an owner that looks like one", f"UPDATE runs SET state = 'running', owner = '../../outside/{'a' * 32}'"),
        ("settings that are a list", "UPDATE runs SET settings = '[1, 2, 3]'"),
        ("settings that are nested", "UPDATE runs SET settings = '{\"a\": {\"b\": [1]}}'"),
        ("settings that are blobs", "UPDATE runs SET settings = x'ff00ff', message = x'ff00fe', cell = x'00'"),
        ("a curve without end", "UPDATE runs SET best_epoch = -1; INSERT INTO epochs SELECT key, 9e18, 1, 1, 1, 1 FROM runs"),
        ("texts of escapes", "UPDATE runs SET message = char(27) || '[2J', cell = char(27), state = 'failed'"),
    ]:
        everywhere(what, copy_store_with(statement), but=ANY)

    store = copy_store_with(f"UPDATE runs SET state = 'running', owner = '{'a' * 32}'")
    replace(store / "owners", os.path.dirname(secret))
    everywhere("an owner behind a link", store, but=ANY)

    original = pathlib.Path("good/results.sqlite").read_bytes()
    for i, draw in rounds():
        store = copy_store()
        part = draw.choice(["results.sqlite"] * 4 + [f"truth/{truth}.tasks.txt", f"predictions/{KEYS[0]}/test.npy"])
        data = original if part == "results.sqlite" else pathlib.Path("good", part).read_bytes()
        (store / part).write_bytes(damage(data, draw))
        shutil.rmtree("into", ignore_errors=True)
        name, arguments = draw.choice(list(commands(store)))
        code, error = run(*arguments)
        if code not in (0, *ERRORS):
            raise SystemExit(f"round {i}: {part}: {name}: exit {code}\n{error}")
        check_outside(f"round {i}")


def copy_store_with(*statements):
    store = copy_store()
    change(store, *statements)
    return store


KEYS = []
main()
