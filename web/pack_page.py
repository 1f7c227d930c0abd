#!/usr/bin/env python3
"""Packs the page: one HTML file with the style sheet, the scripts, the worker and the compiled program.

usage: pack_page.py BUILD_FOLDER OUTPUT

BUILD_FOLDER has dissent.js and dissent.wasm of emcc. A report that the program writes here provides the colours of the
page and the hashes of the report's script and style sheet, which the policy of the page must allow: a frame inherits it.
"""
import base64
import gzip
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCRIPTS = ("dom.js", "table.js", "files.js", "zip.js", "engine.js", "steps.js", "reading.js", "tables.js", "results.js", "page.js")
WORKER = ("run_tool.js", "worker.js")
MAX_BYTES = 3_000_000  # of the page, compressed
COMMENT = re.compile(r"^\s*/\*.*?\*/\n?", re.S | re.M)


def run_program(build, folder, *arguments):
    tool = HERE.parent / "tests" / "web" / "tool.js"
    environment = {**os.environ, "DISSENT_WEB": str(build)}
    return subprocess.run(["node", tool, *arguments], cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout


def write_report(build):
    with tempfile.TemporaryDirectory() as folder:
        run_program(build, folder, "synth", "--items", "30", "-o", "votes.csv", "-q")
        run_program(build, folder, "report", "votes.csv", "--resamples", "0", "-o", "report.html", "-q")
        return Path(folder, "report.html").read_text()


def read_script(name):
    """A script without the comments at line starts; 'use strict' once, at the top of the whole."""
    return COMMENT.sub("", (HERE / name).read_text()).replace("'use strict';\n", "", 1).strip() + "\n"


def csp_hash(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def check_inline(name, text):
    if re.search(r"</script|<!--|<script", text, re.I):
        sys.exit(f"{name} contains a tag that would end its element")
    return text


def style_of(report):
    """The variables and the typeface of the report, then the rules of the page."""
    style = re.search(r"<style>(.*?)</style>", report, re.S).group(1)
    colours = re.match(r":root\{.*?\}\n@media \(prefers-color-scheme:dark\)\{:root\{.*?\}\}\n", style, re.S).group(0)
    font = re.search(r"body\{[^}]*?(font:[^;}]*)", style).group(1)
    own = (":root{--button:#0b63a5;--button-hover:#084e83;--dash:#7f8c9b;--control:#7f8c9b;--good:#00795a;--bad:#b84a00}\n"
           "@media (prefers-color-scheme:dark){:root{--button:#1f6fb0;--button-hover:#2a80c7;--dash:#6d7986;--control:#6d7986;--good:#4cc79e;--bad:#f08a4b}}\n")
    return colours + own + f"body{{{font}}}\n" + COMMENT.sub("", (HERE / "style.css").read_text())


def policy_of(script, style, report):
    scripts, styles = (re.search(rf"{kind}-src ('sha256-[^']*')", report).group(1) for kind in ("script", "style"))
    return (f"default-src 'none'; script-src {csp_hash(script)} {scripts} 'wasm-unsafe-eval'; worker-src blob:; "
            f"style-src {csp_hash(style)} {styles}; img-src data:; base-uri 'none'; form-action 'none'")


def main():
    build, output = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    report = write_report(build)
    tables = run_program(build, HERE, "tables")
    version = re.search(r'"version": "([^"]*)"', tables).group(1)
    script = check_inline("the script", "'use strict';\n(() => {\n" + "".join(map(read_script, SCRIPTS)) + "})();\n")
    worker = check_inline("the worker", "'use strict';\n" + (build / "dissent.js").read_text() + "".join(map(read_script, WORKER)))
    style = style_of(report)
    program = gzip.compress((build / "dissent.wasm").read_bytes(), 9, mtime=0)
    page = (HERE / "index.html").read_text()
    parts = {"POLICY": policy_of(script, style, report), "STYLE": style, "VERSION": version, "WORKER": worker, "SCRIPT": script,
             "TABLES": check_inline("the tables", re.sub(r"\n\s*", "", tables)), "PROGRAM": base64.b64encode(program).decode()}
    page = re.sub(r"@([A-Z]+)@", lambda match: parts[match.group(1)], page)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(page)
    size, packed = len(page.encode()), len(gzip.compress(page.encode(), 9))
    print(f"{output}: {size:,} bytes, {packed:,} compressed")
    if packed > MAX_BYTES:
        sys.exit(f"the page has more than {MAX_BYTES:,} bytes, compressed")


if __name__ == "__main__":
    main()
