# awk -v tables=TABLES -f mask_tables.awk TABLES OUTPUT
# Replaces what a tool lists from one of its tables, so that a new row changes the golden cases of `dissent list` alone.
# TABLES has the tables, each as "#### NAME" and what `dissent list NAME` prints; OUTPUT is what a command
# printed. In it, "a, b, c" and "a|b|c" with exactly the names of a table become "(dissent list NAME)". So does a
# section of a help text (a line that ends with ":", then indented lines) with exactly the text of a table.
FILENAME == tables && /^#### / {
    table[++n_tables] = substr($0, 6)
    next
}
FILENAME == tables {
    text[n_tables] = text[n_tables] " " $0
    if ($0 !~ /^ /) {
        commas[n_tables] = commas[n_tables] (commas[n_tables] ? ", " : "") $1
        bars[n_tables] = bars[n_tables] (bars[n_tables] ? "|" : "") $1
    }
    next
}

function squeeze(s) {
    gsub(/[ \n]+/, " ", s)
    sub(/^ /, "", s)
    sub(/ $/, "", s)
    return s
}

# line with every occurrence of names replaced; a longer list that contains them stays as it is.
function mask(line, names, with, i, before, after, out) {
    while ((i = index(line, names)) > 0) {
        before = i > 1 ? substr(line, i - 1, 1) : ""
        after = substr(line, i + length(names), 1)
        out = out substr(line, 1, i - 1) (before after ~ /[-a-z0-9|,+]/ && after != "" ? names : with)
        line = substr(line, i + length(names))
    }
    return out line
}

function finish_section(t) {
    if (!in_section) return
    in_section = 0
    for (t = 1; t <= n_tables; t++)
        if (squeeze(section) == squeeze(text[t])) {
            print "  (dissent list " table[t] ")"
            return
        }
    printf "%s", section
}

{
    if (in_section && !/^ /) finish_section()
    for (t = 1; t <= n_tables; t++)
        if (commas[t] ~ /,/) {
            $0 = mask($0, commas[t], "(dissent list " table[t] ")")
            $0 = mask($0, bars[t], "(dissent list " table[t] ")")
        }
    if (in_section) {
        section = section $0 "\n"
        next
    }
    print
    if (/:$/) {
        in_section = 1
        section = ""
    }
}
END { finish_section() }
