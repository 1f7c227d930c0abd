"""A file that another process truncates while it is read gives an exception; the interpreter lives on."""

import os
import threading
import time

import pytest

import dissent


def test_truncated_while_read(tmp_path):
    path = tmp_path / "votes.csv"
    rows = "".join(f"t{i // 5},w{i % 5},{i % 3}\n" for i in range(400_000))
    noticed = 0
    for attempt in range(12):
        path.write_text("task,worker,label\n" + rows, encoding="utf-8")
        size = path.stat().st_size
        begin = threading.Event()

        def truncate(wait=attempt * 0.002):
            begin.wait()
            time.sleep(wait)
            os.truncate(path, size // 3)

        thread = threading.Thread(target=truncate)
        thread.start()
        begin.set()
        try:
            dissent.read_votes(path)
        except dissent.FileError as error:
            assert "votes.csv changed while it was being read" in str(error)
            noticed += 1
        except dissent.DataError:
            pass  # it was truncated before it was opened, within a row
        finally:
            thread.join()
    if not noticed:
        pytest.skip("no truncation fell into the time of reading")
