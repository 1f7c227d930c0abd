#!/bin/sh
# Every public header compiles by itself, as C11 and as C++17, and so does the example in its opening comment.
set -eu
cd "$DISSENT_SOURCE"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
examples=0
cxx=${CXX:-c++}
command -v "${cxx%% *}" >/dev/null || cxx=
for header in include/dissent/*.h; do
    name=$(basename "$header" .h)
    printf '#include "dissent/%s.h"\nextern int declared;\n' "$name" > "$work/alone.c"
    ${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only "$work/alone.c"
    echo "#include \"dissent/$name.h\"" >> "$work/all.cpp"
    # Lines of the first comment that are indented by five.
    sed -n '1,/\*\/ *$/s/^ \*     //p' "$header" | sed 's/ \*\/ *$//' > "$work/example"
    [ -s "$work/example" ] || continue
    {
        echo '#include <stdio.h>'
        echo '#include "dissent/dissent.h"'
        args='dis_context *ctx, dis_votes *votes, dis_fit *a, dis_fit *b, const char *path, size_t n, size_t k, double *out, const dis_votes *predictions'
        echo "int example($args);"
        echo "int example($args)"
        echo '{ (void)ctx; (void)votes; (void)a; (void)b; (void)path; (void)n; (void)k; (void)out; (void)predictions; {'
        cat "$work/example"
        echo '} return 0; }'
    } > "$work/$name.c"
    ${CC:-cc} -std=c11 -Wall -Wextra -Wno-unused -Iinclude -fsyntax-only "$work/$name.c"
    examples=$((examples + 1))
done
[ -z "$cxx" ] || $cxx -std=c++17 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only "$work/all.cpp"
[ "$examples" -ge 6 ] || { echo "only $examples examples found"; exit 1; }
echo "$examples examples compile"
