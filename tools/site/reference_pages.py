"""Reference pages of the documentation site, generated from the tool's own tables and from the C headers."""

import html
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

# Tables of `dissent list`: file name, title, introduction.
TABLES = {
    "methods": ("Label methods", "Each method turns votes into soft labels. Select one with `--method NAME[:key=value,...]`."),
    "combiners": ("Combinations", "Each combination turns the soft labels of several methods into one set. Select one with `--combine`."),
    "recipes": ("Recipes", "A recipe is a named set of methods and a combination. Select one with `--method NAME`."),
    "metrics": ("Metrics", "`dissent eval` and `dissent compare` compute these metrics."),
    "models": ("Models", "`dissent train --model NAME[:key=value,...]` trains one of these models."),
    "objectives": ("Objectives", "`dissent train --objective NAME` selects what a model is trained on."),
    "presets": ("Presets", "`--preset NAME` reads the export of a known tool."),
    "columns": ("Recognized columns", "Column names that are recognized without an option."),
    "scales": ("Scales", "`--scale NAME` declares what the labels are."),
    "crowds": ("Simulated crowds", "`dissent synth --model NAME` draws votes from one of these models."),
    "keys": ("Experiment file", "Every key that an experiment file can contain."),
}


def output_of(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout


def cell(text):
    """Text for a cell of a Markdown table."""
    text = html.escape(text, quote=False).replace("|", "\\|").replace("*", "\\*").replace("_", "\\_")
    return re.sub(r"(?<!\S)((?:--?|docs/)[A-Za-z][^\s,;:()]*)", r"`\1`", text).replace("\\_`", "_`")


def rows_of(text, first=r"\S"):
    """Rows of a two-column listing: the first column, two or more spaces, text that continues on indented lines."""
    rows = []
    for line in text.split("\n"):
        if not line.strip():
            continue
        match = re.match(rf"( *)({first}.*?)(?:\s{{2,}}(.*))?$", line)
        indent = len(line) - len(line.lstrip())
        if rows and indent > 8:
            rows[-1][1] = (rows[-1][1] + " " + line.strip()).strip()
        elif match:
            rows.append([match.group(2), match.group(3) or ""])
    return rows


def table_page(tool, name):
    title, introduction = TABLES[name]
    listing = rows_of(output_of(tool, "list", name))
    out = [f"# {title}", "", introduction, ""]
    if name == "columns":
        out += ["| role | names |", "|---|---|"] + [f"| `{a}` | {cell(b)} |" for a, b in listing] + [""]
        return "\n".join(out)
    out += ["| name | description |", "|---|---|"]
    anchors = {a: re.sub(r"[^a-z0-9-]+", "-", a.lower()).strip("-") for a, _ in listing}
    out += [f"| [{a}](#{name}-{anchors[a]}) | {cell(b)} |" for a, b in listing] + [""]
    for row, summary in listing:
        out += [f"({name}-{anchors[row]})=", f"## {row}", ""]
        body = output_of(tool, "list", name, row).split("\n")
        facts, options, current = [], [], None
        for line in body[1:]:
            if re.match(r"^(options|keys|methods|combination|views):$", line.strip()):
                current = options
            elif current is not None:
                current.append(line)
            elif line.strip():
                facts.append(line)
        out += [f"{cell(summary or body[0].split(': ', 1)[-1])}", ""]
        if facts:
            out += ["```text", *facts, "```", ""]
        if options:
            out += ["| key | description |", "|---|---|"]
            out += [f"| `{a}` | {cell(b)} |" for a, b in rows_of("\n".join(options))] + [""]
    return "\n".join(out)


def command_names(tool):
    listing = output_of(tool, "help")
    names = []
    for line in listing.split("\n"):
        match = re.match(r"^  ([a-z]+) {2,}\S", line)
        if match and match.group(1) not in names:
            names.append(match.group(1))
    return names


def command_page(tool, command):
    text = output_of(tool, command, "--help")
    out = [f"# dissent {command}", ""]
    section, rows, block = None, [], []

    def finish():
        nonlocal rows, block
        if rows:
            out.extend(["| option | description |", "|---|---|"])
            out.extend(f"| `{a}` | {cell(b)} |" for a, b in rows)
            out.append("")
        if block:
            out.extend(["```console", *block, "```", ""])
        rows, block = [], []

    for line in text.split("\n"):
        heading = re.match(r"^([A-Z][^:]*)(?: \(.*\))?:$", line)
        if line.startswith("usage:") or line.startswith("Usage:"):
            out.extend(["```console", line.split(":", 1)[1].strip(), "```", ""])
        elif heading:
            finish()
            section = heading.group(1)
            out.extend([f"## {section}", ""])
        elif section is None:
            out.append(html.escape(line, quote=False).replace("*", "\\*"))
        elif re.match(r"^ {2}\S", line) and section == "Examples":
            block.append("$ " + line.strip())
        elif re.match(r"^ {2,6}\S", line):
            rows.append(list(re.match(r"^\s+(\S.*?)(?:\s{2,}(.*))?$", line).groups(default="")))
        elif line.strip() and rows:
            rows[-1][1] = (rows[-1][1] + " " + line.strip()).strip()
        elif line.strip():
            out.append(html.escape(line, quote=False))
    finish()
    return "\n".join(out)


def exit_codes_page(root):
    header = (root / "include" / "dissent" / "status.h").read_text()
    rows = re.findall(r'X\((DIS_\w+), (\d+), "([^"]*)"\)', header)
    out = ["# Exit codes and errors", "", "Every command ends with one of these exit codes. C functions return the status.", ""]
    out += ["| exit code | status | meaning |", "|---|---|---|"]
    out += [f"| {code} | `{name}` | {meaning} |" for name, code, meaning in rows if name != "DIS_ECANCELLED"]
    out += ["| 128 + n | `DIS_ECANCELLED` | stopped by signal n |", ""]
    out += ["An error message has the form `file:line:column: what is wrong, with the value; how to fix it`.", "Output files are complete or absent: a command that fails writes none.", ""]
    return "\n".join(out)


PYTHON_MODULES = {
    "dissent": "The top-level package: votes, labels, methods, measures and reports.",
    "dissent.aggregation": "Label methods, under crowd-kit's names.",
    "dissent.combination": "Combinations of several soft labels.",
    "dissent.measure": "Agreement, evaluation, comparison, review and panels.",
    "dissent.training": "Models that train on soft labels.",
    "dissent.experiment": "Experiments from Python.",
}


def python_page(name, summary):
    out = [f"# {name}", "", summary, "", "```{eval-rst}", f".. automodule:: {name}", "   :members:"]
    out += ["   :imported-members:"] if name == "dissent" else ["   :no-index:"]
    return "\n".join([*out, "```", ""])


def write_pages(tool, root, folder):
    def write(path, text):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)

    commands = command_names(tool)
    for command in commands:
        write(f"cli/{command}.md", command_page(tool, command))
    listing = "\n".join(commands)
    write("cli/index.md", f"# Command line\n\nEach page lists all options of a command.\n\n```{{toctree}}\n:maxdepth: 1\n\n{listing}\n```\n")
    for name in TABLES:
        write(f"tables/{name}.md", table_page(tool, name))
    write("exit-codes.md", exit_codes_page(root))
    for name, summary in PYTHON_MODULES.items():
        write(f"python/{name}.md", python_page(name, summary))
    listing = "\n".join(PYTHON_MODULES)
    write("python/index.md", f"# Python API\n\nGenerated from the docstrings.\n\n```{{toctree}}\n:maxdepth: 1\n\n{listing}\n```\n")


DOXYGEN = r"""
INPUT = {include}
RECURSIVE = YES
FILE_PATTERNS = *.h
OUTPUT_DIRECTORY = {xml}
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
OPTIMIZE_OUTPUT_FOR_C = YES
EXTRACT_ALL = YES
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = NO
PREDEFINED = DOXYGEN DIS_API= __GNUC__=12 \
  "DIS_OPTIONS_API(type):=type type##_default(void)" \
  "DIS_VIEW_API(thing):=thing##_view thing##_look(const thing *object)"
STRIP_FROM_PATH = {include}
INPUT_FILTER = "{python} {filter}"
QUIET = YES
WARNINGS = NO
AUTOLINK_SUPPORT = NO
"""


def run_doxygen(root, xml):
    """Doxygen's XML of the public headers; their ordinary comments are read as documentation (doxygen_filter.py)."""
    xml.mkdir(parents=True)
    settings = DOXYGEN.format(
        include=root / "include", xml=xml, python=sys.executable, filter=Path(__file__).resolve().parent / "doxygen_filter.py"
    )
    done = subprocess.run(["doxygen", "-"], input=settings, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"doxygen: {done.stderr}")


def write_c_pages(xml, root, folder):
    folder.mkdir(parents=True)
    names = []
    for header in sorted((root / "include" / "dissent").glob("*.h")):
        first = re.match(r"/\* (\S+): (.*?)(?:\n \*\n|\*/)", header.read_text(), re.S)
        summary = re.sub(r"\s*\n \* ?", " ", first.group(2)).strip() if first else ""
        names.append(header.stem)
        page = [f"# {header.name}", "", summary, "", "```{eval-rst}", f".. doxygenfile:: {header.name}", "   :sections: func typedef enum define innerclass", "```", ""]
        (folder / f"{header.stem}.md").write_text("\n".join(page))
    listing = "\n".join(names)
    (folder / "index.md").write_text(
        "# C API\n\nOne page per header, generated from its comments. Include `dissent/dissent.h` for all of them.\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n\n{listing}\n```\n"
    )
    ElementTree.parse(xml / "xml" / "index.xml")  # fails if Doxygen wrote nothing useful
