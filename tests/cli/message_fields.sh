#!/bin/sh
# Messages of the library are for C callers, the tool and Python: they name no option of the tool. They name fields of public structs,
# functions or structs between backquotes, which the tool and Python show as options and arguments (cli/core/messages.c,
# python/core/py_call.c). Here: no text of the library contains an option; each name between backquotes is public; and each is,
# under its own name or by the table in messages.c, an option of a command or a key of an experiment's file.
set -eu
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
cd "$DISSENT_SOURCE"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
commands=$("$DISSENT" completion bash | sed -n "s/.*compgen -W '\(report [a-z ]*\) --help.*/\1/p" | head -n 1)
[ "$commands" ] || { echo "the completion script lists no commands"; exit 1; }
for name in $commands; do "$DISSENT" "$name" --help; done >"$scratch/help"
"$DISSENT" list keys | sed 's/  .*//' >"$scratch/parts"
while read -r part; do "$DISSENT" list keys "$part"; done <"$scratch/parts" >"$scratch/keys"
python3 - "$scratch" <<'END'
import glob, re, sys

public = set()
for header in glob.glob("include/dissent/*.h"):
    text = re.sub(r"/\*.*?\*/", " ", open(header).read(), flags=re.S)
    public |= set(re.findall(r"\b([a-z_][a-z0-9_]*)\s*(?:\[[^\]]*\])?\s*[;,)(]", text))
table = open("cli/core/messages.c").read()
table = table[table.index("other_names[] = {"):]
shown_as = dict(re.findall(r'\{"([a-z_]+)", "([^" ]+)[^"]*"\}', table[:table.index("};")]))
options = set(re.findall(r"--([a-z][a-z-]*)", open(sys.argv[1] + "/help").read()))
options |= set(re.findall(r"^ *([a-z_]+)  ", open(sys.argv[1] + "/keys").read(), flags=re.M))

literal = re.compile(r'"((?:[^"\\]|\\.)*)"')
failed = seen = 0
for path in sorted(glob.glob("src/**/*.[ch]", recursive=True)):
    if path.startswith("src/report/") or path.endswith("/dataset_folder.h"):  # a style sheet, a README that is written
        continue
    source = open(path).read()
    source = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), source, flags=re.S)
    for number, line in enumerate(source.split("\n"), 1):
        if line.lstrip().startswith("#include"):
            continue
        for text in literal.findall(line):
            option = re.search(r"(?:^|[ (])--(?:[a-z][a-z-]+|%)", text)
            if option and "local-dir" not in text:  # an option of another program
                print(f"{path}:{number}: {option.group().strip()} is an option of the tool; name the field as `field`")
                failed += 1
            for name in re.findall(r"`([a-z_]+)`", text):
                seen += 1
                if name not in public:
                    print(f"{path}:{number}: `{name}` is no field, function or struct of include/dissent")
                    failed += 1
                if shown_as.get(name, name).replace("_", "-") not in options and name not in options:
                    print(f"{path}:{number}: `{name}` is no option; add a row to other_names in cli/core/messages.c")
                    failed += 1
if seen < 50:
    print(f"only {seen} names were found")
    failed += 1
sys.exit(failed > 0)
END
