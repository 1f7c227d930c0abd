"""Headers as they were before each struct of options and each view got its last field, and a program that uses them.

    older_headers.py INCLUDE FOLDER

writes FOLDER/include and FOLDER/older.c. The program fills each struct of options before a guard of bytes, looks at votes
in the same way, and fits a method with options of the shorter size."""

import re
import shutil
import sys
from pathlib import Path

PROGRAM = """#include "dissent/dissent.h"
#include <stdio.h>
#include <string.h>

static int failures;

static void check(int right, const char *what)
{
    if (right) return;
    printf("wrong: %%s (%%s)\\n", what, dis_last_error());
    failures++;
}

static int untouched(const unsigned char *guard)
{
    for (int i = 0; i < 64; i++)
        if (guard[i] != 0xa5) return 0;
    return 1;
}

#define OPTIONS(type)                                                       \\
    do {                                                                    \\
        struct {                                                            \\
            type o;                                                         \\
            unsigned char guard[64];                                        \\
        } it;                                                               \\
        memset(&it, 0xa5, sizeof it);                                       \\
        dis_options_init(#type, &it.o, sizeof it.o);                                   \\
        check(untouched(it.guard), #type ": bytes behind it");              \\
        check(it.o.size == sizeof it.o, #type ": size");                    \\
        const type whole = type##_default();                                \\
        check(whole.size == sizeof it.o, #type "_default(): size");         \\
    } while (0)

int main(int argc, char **argv)
{
    (void)argc;
%s
    dis_votes *votes = NULL;
    const char *path = argv[1];
    check(dis_votes_read(NULL, &path, 1, NULL, &votes) == DIS_OK, "reading votes");
    struct {
        dis_votes_view v;
        unsigned char guard[64];
    } view;
    memset(&view, 0xa5, sizeof view);
    dis_view_init("dis_votes_view", &view.v, sizeof view.v, votes);
    check(untouched(view.guard), "dis_votes_view: bytes behind it");
    check(view.v.n_items == 3 && dis_votes_get_view(votes).n_workers == 2, "dis_votes_view: fields");
    const dis_fit_options o = dis_fit_options_default();
    dis_fit *fit = NULL;
    check(dis_fit_run(NULL, votes, "mace", &o, &fit) == DIS_OK, "a fit with shorter options");
    check(dis_fit_get_view(fit).iterations > 0, "dis_fit_view: fields");
    dis_fit_destroy(fit);
    dis_votes_destroy(votes);
    printf("%%d structs of options, %%d failures\\n", %d, failures);
    return failures != 0;
}
"""


def shorten(text):
    """Text whose structs of options and views have lost their last declaration, and the names of the options."""
    names = []

    def cut(match):
        body, name = match.group(1), match.group(2)
        plain = re.sub(r"/\*.*?\*/", lambda m: " " * len(m.group(0)), body, flags=re.S)
        ends = [i for i, c in enumerate(plain) if c == ";" and plain[:i].count("{") == plain[:i].count("}")]
        if name.endswith("_options"):
            names.append(name)
        if len(ends) > 2:
            body = body[: ends[-2] + 1] + "\n"
        return f"typedef struct {{{body}}} {name};"

    pattern = r"^typedef struct \{((?:(?!^typedef struct).)*?)^\} (dis_\w+_(?:options|view));"
    return re.sub(pattern, cut, text, flags=re.M | re.S), names


def main():
    include, folder = Path(sys.argv[1]), Path(sys.argv[2])
    shutil.copytree(include, folder / "include")
    names, changed = [], 0
    for header in sorted((folder / "include/dissent").glob("*.h")):
        text = header.read_text()
        shorter, found = shorten(text)
        changed += shorter != text
        names += found
        header.write_text(shorter)
    if len(names) < 15 or changed < 10:
        sys.exit(f"only {len(names)} structs of options were found in {changed} headers")
    calls = "\n".join(f"    OPTIONS({name});" for name in names)
    (folder / "older.c").write_text(PROGRAM % (calls, len(names)))


if __name__ == "__main__":
    main()
