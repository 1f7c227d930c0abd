"""Reference pages of the documentation site, generated from the tool's own tables, its help and the C headers."""

import html
import re
import subprocess
import sys
from pathlib import Path

# Tables of `dissent list`: title, introduction.
TABLES = {
    "methods": ("Label methods", "A label method turns votes into soft labels. Select one with `--method NAME[:key=value,...]`."),
    "combiners": ("Combinations", "A combination turns the soft labels of several methods into one set. Select one with `--combine NAME[:key=value,...]`."),
    "recipes": ("Recipes", "A recipe is a named set of methods and a combination. Select one with `--method NAME`."),
    "metrics": ("Metrics", "`dissent eval` and experiments compute these metrics. p is the human label, q the prediction."),
    "models": ("Models", "`dissent train --model NAME[:key=value,...]` trains one of these models."),
    "objectives": ("Objectives", "`dissent train --objective NAME[:key=value,...]` selects the loss of a model."),
    "presets": ("Presets", "`--preset NAME` reads the export of a known tool."),
    "columns": ("Recognized columns", "These column names are recognized without an option. Groups that end with a semicolon take precedence in this order."),
    "scales": ("Scales", "`--scale NAME` declares the kind of labels."),
    "crowds": ("Simulated crowds", "`dissent synth --model NAME[:key=value,...]` simulates annotators with one of these models."),
    "keys": ("Experiment file", "These are all keys of the YAML file of `dissent experiment`."),
}


def output_of(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout


def prose(text):
    """Plain text as Markdown. Options, files of docs/ and names with underscores become code."""
    out = []
    for part in re.split(r"(\(?(?<![\w-])--?[A-Za-z][\w-]*|dissent list [a-z]+|(?<!\w)docs/[\w/.-]*\w|\b\w+_\w+\b)", text):
        if re.match(r"\(?--?[A-Za-z]|dissent list|docs/|\w+_\w+$", part) and part:
            bracket = "(" if part.startswith("(") else ""
            out.append(f"{bracket}`{part.removeprefix('(')}`")
        else:
            out.append(re.sub(r"([*|\\\[\]<>$_#])", r"\\\1", part))
    return "".join(out)


def sentence(text):
    """Text with a capital first letter, if the first word is an ordinary word, and a full stop."""
    first = re.match(r"[a-z]+(?=[\s,:;]|$)", text)
    text = text[0].upper() + text[1:] if first else text
    return text if not text or text[-1] in ".!?" else text + "."


def anchor(*words):
    return re.sub(r"[^a-z0-9]+", "-", "-".join(words).lower()).strip("-")


def rows_of(lines):
    """Rows of a two-column listing: a name, two or more spaces, text that continues on lines with a deep indent."""
    rows = []
    for line in lines:
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        if rows and indent > 8:
            rows[-1][1] = f"{rows[-1][1]} {line.strip()}".strip()
        else:
            name, _, text = line.strip().partition("  ")
            rows.append([name, text.strip()])
    return rows


def table_rows(tool, name):
    return rows_of(output_of(tool, "list", name).split("\n"))


def fact_lines(lines):
    """`key: value` lines of a row, as a list; anything else as it is."""
    out = []
    for line in lines:
        key, colon, value = line.partition(": ")
        if colon and re.fullmatch(r"[a-z][\w ()-]{0,40}", key):
            if value != "none" or key != "options":
                out.append(f"- **{key}**: {prose(value)}")
        elif line.startswith("--") or line.startswith("with "):
            out += ["", "```text", line, "```", ""]
        elif out and line.startswith("  "):
            out[-1] += " " + prose(line.strip())
        else:
            out += ["", prose(line.strip()), ""]
    return out


def table_page(tool, name):
    title, introduction = TABLES[name]
    listing = table_rows(tool, name)
    out = [f"# {title}", "", introduction, f"`dissent list {name}` prints this list.", ""]
    if name == "columns":
        for role, names in listing:
            out += [f"({anchor(name, role)})=", f"## {role}", "", ", ".join(f"`{word.strip()}`" for word in names.replace(";", ",").split(",")), ""]
        return "\n".join(out)
    for row, summary in listing:
        out += [f"({anchor(name, row)})=", f"## {row}", "", prose(sentence(summary)), ""]
        facts, options, current = [], [], None
        for line in output_of(tool, "list", name, row).split("\n")[1:]:
            if re.match(r"^(options|keys):$", line.strip()):
                current = options
            elif re.match(r"^[a-z]+:$", line.strip()) and not line.startswith(" "):
                current = facts
                facts.append(line.rstrip(":") + ": ")
            elif current is options:
                options.append(line)
            elif line.strip():
                facts.append(line)
        out += [*fact_lines(facts), ""]
        for key, text in rows_of(options):
            out += [f"({anchor(name, row, re.split('[=|]', key)[0])})=", f"`{key}`", f": {prose(text) or '(no text)'}", ""]
    return "\n".join(out)


def command_names(tool):
    names = []
    for line in output_of(tool, "help").split("\n"):
        match = re.match(r"^  ([a-z]+) {2,}\S", line)
        if match and match.group(1) not in names:
            names.append(match.group(1))
    return names


HEADING = re.compile(r"^([A-Z][^:]*):$")


def command_page(tool, command):
    """The page of a command, from its complete help: every option is an `option` of Sphinx with an address."""
    out = [f"# dissent {command}", ""]
    section, rows, lines = None, [], []

    def finish():
        nonlocal rows, lines
        if section == "Examples":
            out.extend(["```console", *[f"$ {line.strip()}" for line in lines if line.strip()], "```", ""])
        elif section and not rows:
            lines = [re.sub(r"^ {2}(?=- )|^ {4}(?! )", lambda match: " " * (len(match.group()) - 2), line) for line in lines]  # lists
            if any(line.startswith("   ") for line in lines):
                out.extend(["```text", *lines, "```", ""])
            else:
                out.extend([re.sub(r"^(- |  )?(.*)", lambda match: (match.group(1) or "") + prose(match.group(2)), line) for line in lines] + [""])
        for option, text in rows:
            out.extend([f"````{{option}} {option}", prose(text), "````", ""])
        rows, lines = [], []

    help_text = output_of(tool, command, "--help").rstrip("\n").split("\n")
    out += [f"```{{program}} dissent {command}", "```", ""]
    for line in help_text:
        heading = HEADING.match(line)
        usage = re.match(r"^[Uu]sage: (.*)", line)
        if usage:
            out.extend(["```text", usage.group(1), "```", ""])
        elif heading:
            finish()
            section = heading.group(1)
            out.extend([f"## {section}", ""])
        elif section is None:
            out.append(prose(line))
        elif re.match(r"^ {2}-(?! )", line):
            option, _, text = line.strip().partition("  ")
            rows.append([option, text.strip()])
        elif rows and line.startswith("        "):
            rows[-1][1] = f"{rows[-1][1]} {line.strip()}".strip()
        else:
            lines.append(line)
    finish()
    return "\n".join(out)


def exit_codes_page(root):
    header = (root / "include" / "dissent" / "status.h").read_text()
    rows = re.findall(r'X\((DIS_\w+), (\d+), "([^"]*)"\)', header)
    out = ["# Exit codes and errors", "", "Each command ends with one of these exit codes. Functions of the C library return the status.", ""]
    for name, code, meaning in rows:
        shown = "128 + n" if name == "DIS_ECANCELLED" else code
        text = "stopped by signal n" if name == "DIS_ECANCELLED" else meaning
        out += [f"({anchor('exit', name.removeprefix('DIS_'))})=", f"## {shown}: {prose(text)}", "", f"Status `{name}`.", ""]
    # Not a status of the library: the command worked, and the answer is no.
    out += ["(exit-not-met)=", "## 7: a requirement is not met", "", "`dissent judge`: a requirement is not met, or later votes differ from the certificate.", ""]
    out += [
        "## Error messages",
        "",
        "An error message has the form `file:line:column: what is wrong, with the value; how to fix it`.",
        "A command that fails writes no output file, and files that existed before stay unchanged.",
        "",
    ]
    return "\n".join(out)


PYTHON_MODULES = {
    "dissent": "The top-level package: votes, labels, methods, measures and reports.",
    "dissent.aggregation": "Label methods, under crowd-kit's names.",
    "dissent.combination": "Combinations of several sets of soft labels.",
    "dissent.measure": "Agreement, evaluation, comparison, review and panels.",
    "dissent.training": "Models that train on soft labels.",
    "dissent.experiment": "Experiments from Python.",
    "dissent.plot": "Figures with matplotlib.",
    "dissent.torch": "Losses, a crowd layer and a data set for PyTorch.",
    "dissent.hf": "Soft targets for Hugging Face datasets, and a Trainer.",
}

STANDALONE = ("dissent.experiment", "dissent.plot", "dissent.torch", "dissent.hf")  # not part of `import dissent`


def python_page(name, summary):
    out = [f"# {name}", "", summary, "", "```{eval-rst}", f".. automodule:: {name}", "   :members:"]
    if name == "dissent":
        # its __all__ hides classes and functions from membership tests; docs/development/design-python.md has the reason
        out += ["   :imported-members:", "   :ignore-module-all:"]
    elif name not in STANDALONE:  # the names of the others are described on the page of dissent
        out.append("   :no-index:")
    return "\n".join([*out, "```", ""])


def toctree(title, text, names):
    listing = "\n".join(names)
    return f"# {title}\n\n{text}\n\n```{{toctree}}\n:maxdepth: 1\n\n{listing}\n```\n"


def write_pages(tool, root, folder):
    def write(path, text):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)

    commands = command_names(tool)
    for command in commands:
        write(f"cli/{command}.md", command_page(tool, command))
    write("cli/index.md", toctree("Command line", "Each page lists all options of a command. `dissent COMMAND --help` prints the same.", commands))
    for name in TABLES:
        write(f"tables/{name}.md", table_page(tool, name))
    write("exit-codes.md", exit_codes_page(root))
    for name, summary in PYTHON_MODULES.items():
        write(f"python/{name}.md", python_page(name, summary))
    write("python/index.md", toctree("Python API", "These pages are generated from the docstrings.", PYTHON_MODULES))


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
  "DIS_ENUM_API(type):=const char *type##_name(type value)" \
  "DIS_OPTIONS_API(type):=type type##_default(void)" \
  "DIS_VIEW_API(thing):=thing##_view thing##_get_view(const thing *object)"
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
        include=root / "include" / "dissent",
        xml=xml,
        python=sys.executable,
        filter=Path(__file__).resolve().parent / "doxygen_filter.py",
    )
    done = subprocess.run(["doxygen", "-"], input=settings, text=True, capture_output=True)
    if done.returncode or not (xml / "xml" / "index.xml").exists():
        sys.exit(f"doxygen: {done.stderr}")


def write_c_pages(root, folder):
    folder.mkdir(parents=True)
    names = []
    for header in sorted((root / "include" / "dissent").glob("*.h")):
        first = re.match(r"/\* (\S+): (.*?)(?:\n \*\n|\*/)", header.read_text(), re.S)
        summary = re.sub(r"\s*\n \* ?", " ", first.group(2)).strip() if first else ""
        names.append(header.stem)
        page = [f"# {header.name}", "", html.escape(sentence(summary), quote=False).replace("*", "\\*"), "", "```{eval-rst}"]
        page += [f".. doxygenfile:: {header.name}", "   :sections: func typedef enum define innerclass", "```", ""]
        (folder / f"{header.stem}.md").write_text("\n".join(page))
    text = "One page per header, generated from its comments. Include `dissent/dissent.h` for all of them."
    (folder / "index.md").write_text(toctree("C API", text, names))
