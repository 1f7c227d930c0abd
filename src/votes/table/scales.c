/* The table of scales, in the order of dis_scale, and their rules for reading. A new scale is a row here, with its
 * label type (src/votes/table/scales.h) and the names of a label method and of measures of agreement. */
#include "votes/table/scales.h"
#include "core/error.h"
#include "core/numbers/decimal.h"
#include "core/os/os.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool is_number(const char *text, size_t n)
{
    double x;
    return dis__parse_real(text, n, &x);
}

static bool is_text(const char *text, size_t n, const char *other)
{
    return strlen(other) == n && memcmp(text, other, n) == 0;
}

/* The last two parts of a task; false: it has none. */
static bool last_parts(const char *task, size_t n, const char *part[2], size_t length[2])
{
    const char *last = dis__os_find_last(task, DIS_PART_SEPARATOR, n);
    const char *middle = last ? dis__os_find_last(task, DIS_PART_SEPARATOR, (size_t)(last - task)) : NULL;
    if (!last) return false;
    part[0] = middle ? middle + 1 : task;
    length[0] = (size_t)(last - part[0]);
    part[1] = last + 1;
    length[1] = (size_t)(task + n - part[1]);
    return true;
}

static int shown(size_t n)
{
    return n > 60 ? 60 : (int)n;
}

/* ---- comparisons ---- */

/* Words for a winner that is not named: Chatbot Arena and MT-bench (model_a, tie (bothbad)), Arena-Hard and the
 * verdicts of LLM judges ([[A>>B]], [[C]]), annotation tools (left, first). Compared ignoring case. Strengths of
 * preference ("A>>B") are not kept. */
static const char *const winners[][2] = {
    {"a", "a"},
    {"b", "b"},
    {"model_a", "a"},
    {"model_b", "b"},
    {"model_1", "a"},
    {"model_2", "b"},
    {"assistant_a", "a"},
    {"assistant_b", "b"},
    {"response_a", "a"},
    {"response_b", "b"},
    {"left", "a"},
    {"right", "b"},
    {"first", "a"},
    {"second", "b"},
    {"[[a]]", "a"},
    {"[[b]]", "b"},
    {"[[c]]", "tie"},
    {"tie", "tie"},
    {"tie (bothbad)", "tie"},
    {"tie (both bad)", "tie"},
    {"both_bad", "tie"},
    {"bothbad", "tie"},
    {"both bad", "tie"},
    {"both_good", "tie"},
    {"both good", "tie"},
    {"both", "tie"},
    {"neither", "tie"},
    {"draw", "tie"},
    {"equal", "tie"},
    {"same", "tie"},
};

static bool is_word(const char *text, size_t n, const char *word)
{
    return strlen(word) == n && strncasecmp(text, word, n) == 0;
}

static const char *find_winner(const char *text, size_t n)
{
    for (size_t i = 0; i < sizeof winners / sizeof *winners; i++)
        if (is_word(text, n, winners[i][0])) return winners[i][1];
    return NULL;
}

/* Which of the two options a text names: "a" or "b", NULL: neither. */
static const char *find_named(const char *text, size_t n, const char *const part[2], const size_t length[2])
{
    for (int i = 0; i < 2; i++)
        if (length[i] == n && memcmp(part[i], text, n) == 0) return i ? "b" : "a";
    return NULL;
}

static const char *find_side(const char *text, size_t n, const char *const part[2], const size_t length[2])
{
    const char *named = find_named(text, n, part, length);
    return named ? named : is_word(text, n, "a") ? "a" : is_word(text, n, "b") ? "b" : NULL;
}

/* "A>B", "B>>A", "A=B", with names or letters, also in [[ ]]. NULL: not such a verdict. */
static const char *find_verdict(const char *text, size_t n, const char *const part[2], const size_t length[2])
{
    if (n > 4 && memcmp(text, "[[", 2) == 0 && memcmp(text + n - 2, "]]", 2) == 0) {
        text += 2;
        n -= 4;
    }
    size_t at = 0, to;
    while (at < n && !strchr("<>=", text[at])) at++;
    for (to = at; to < n && text[to] == text[at]; to++) {}
    if (at == 0 || to == n || to - at > 2) return NULL;
    const char *x = find_side(text, at, part, length), *y = find_side(text + to, n - to, part, length);
    if (!x || !y || x[0] == y[0]) return NULL;
    return text[at] == '=' ? "tie" : text[at] == '>' ? x : y;
}

/* The winner as a, b or tie. If an option is named like another outcome, "tie" or "left" is ambiguous; a and b are
 * usual names of options, and then mean these. */
static bool is_comparison(const char *task, size_t n_task, const char **label, size_t *n_label, char *why, size_t size)
{
    const char *part[2];
    size_t n[2];
    if (!last_parts(task, n_task, part, n) || n[0] == 0 || n[1] == 0) {
        snprintf(why, size, "a comparison is of two things, in columns a and b, and one of them is empty");
        return false;
    }
    if (n[0] == n[1] && memcmp(part[0], part[1], n[0]) == 0) {
        snprintf(why, size, "\"%.*s\" is compared with itself; leave the row out", shown(n[0]), part[0]);
        return false;
    }
    if (*n_label == 0) return true; /* an NA value, or an ordinary empty label */
    const char *named = find_named(*label, *n_label, part, n), *word = find_winner(*label, *n_label);
    if (named && word && *n_label > 1 && named[0] != word[0]) {
        snprintf(why, size,
                 "the winner \"%.*s\" is the name of one of the two and also means \"%s\"; rename it, or write a, b or "
                 "tie",
                 shown(*n_label), *label, word);
        return false;
    }
    const char *found = named ? named : word ? word : find_verdict(*label, *n_label, part, n);
    if (!found) {
        snprintf(
            why, size,
            "the winner \"%.*s\" is neither \"%.*s\" nor \"%.*s\", nor a, b or tie; write one of these, or leave such "
            "votes out with `na`",
            shown(*n_label), *label, shown(n[0]), part[0], shown(n[1]), part[1]);
        return false;
    }
    *label = found;
    *n_label = strlen(found);
    return true;
}

/* ---- spans ---- */

static bool is_place(const char *text, size_t n)
{
    if (n == 0 || n > 15) return false;
    for (size_t i = 0; i < n; i++)
        if (text[i] < '0' || text[i] > '9') return false;
    return true;
}

/* Two positions, the first below the second; or neither, and no label: the worker found no span in this task. */
static bool is_span(const char *task, size_t n_task, const char **label, size_t *n_label, char *why, size_t size)
{
    const char *part[2];
    size_t n[2];
    double from = 0, to = 0;
    if (!last_parts(task, n_task, part, n)) {
        snprintf(why, size, "a span has two places, in columns start and end");
        return false;
    }
    if (n[0] == 0 && n[1] == 0 && (*n_label == 0 || is_text(*label, *n_label, "O"))) {
        *label = "O";
        *n_label = 1;
        return true;
    }
    for (int i = 0; i < 2; i++)
        if (!is_place(part[i], n[i])) {
            snprintf(why, size, "the %s of a span is an integer from 0, not \"%.*s\"", i ? "end" : "start", shown(n[i]),
                     part[i]);
            return false;
        }
    if (!dis__parse_real(part[0], n[0], &from) || !dis__parse_real(part[1], n[1], &to) || !(from < to)) {
        snprintf(why, size, "a span from %.*s to %.*s; the end is exclusive and must be greater than the start",
                 (int)n[0], part[0], (int)n[1], part[1]);
        return false;
    }
    if (is_text(*label, *n_label, "O")) {
        snprintf(why, size, "a span of class O; O is what lies outside of all spans");
        return false;
    }
    return true;
}

static const dis__scale scales[] = {
    {.info = {.name = "nominal",
              .summary = "unordered classes",
              .label = "the name of a class",
              .columns = "task,label,entropy,p:CLASS,..."}},
    {.info = {.name = "ordinal",
              .summary = "ordered classes: numbers, or in the order of `classes`",
              .label = "the name of a class",
              .method = "ordinal",
              .headline = "alpha_ordinal cohen_quadratic gwet_ac2_ordinal",
              .columns = "task,label,entropy,p:CLASS,...",
              .ordered = true}},
    {.info = {.name = "multi-label",
              .summary = "any number of classes per item",
              .label = "a list of classes",
              .headline = "alpha_masi",
              .columns = "task,label,entropy,p:CLASS,... (an independent probability per class)",
              .has_own_labels = true},
     .is_set = true,
     .repeatable = true},
    {.info = {.name = "numeric",
              .summary = "numeric ratings",
              .label = "a number",
              .method = "random-effects",
              .headline = "alpha_interval",
              .columns = "task,mean,sd,votes,plain_mean,spread",
              .ordered = true,
              .has_own_labels = true},
     .accepts = is_number},
    {.info = {.name = "pairwise",
              .summary = "preferences between two candidates: columns a, b and winner",
              .label = "a, b, tie, or the name of one candidate",
              .method = "bradley-terry",
              .headline = "agreement",
              .columns = "thing,score,se,rank,won,lost,tied",
              .has_own_labels = true},
     .repeatable = true,
     .part = {"a|model_a|model_1|left|first|response_a", "b|model_b|model_2|right|second|response_b"},
     .worker = "worker|performer|judge|annotator|rater",
     .part_option = {"a", "b"},
     .label_path = "winner|label|preferred",
     .row = is_comparison},
    {.info = {.name = "spans",
              .summary = "classes of text spans: columns start, end and label",
              .label = "the class of a span",
              .headline = "kappa_tokens",
              .columns = "task,start,end,label,p,workers",
              .has_own_labels = true},
     .repeatable = true,
     .part = {"start|begin", "end|stop"},
     .part_option = {"start", "end"},
     .task = "task|document|doc",
     .row = is_span},
};

const dis__scale *dis__scale_of(dis_scale scale)
{
    return (size_t)scale < sizeof scales / sizeof *scales ? &scales[scale] : NULL;
}

const dis_scale_row *dis_scale_get(size_t i)
{
    return i < sizeof scales / sizeof *scales ? &scales[i].info : NULL;
}

/* For classes found in the data: all must be numbers, which defines their order. Declared ones have the declared
 * order. */
dis_status dis__scale_check_classes(const dis__scale *scale, const dis_names *classes, bool declared)
{
    double before = 0;
    for (size_t k = 0; scale->info.ordered && !declared && k < dis_names_count(classes); k++) {
        size_t n;
        double x;
        const char *text = dis_names_get(classes, k, &n);
        if (!dis__parse_real(text, n, &x))
            return dis__fail(DIS_EUSAGE,
                             "scale %s: the class \"%.200s\" is not a number; give the classes in their order with "
                             "`classes`",
                             scale->info.name, text);
        if (k && x < before)
            return dis__fail(DIS_EUSAGE,
                             "scale %s: the class \"%.200s\" is out of order; give the classes in their order "
                             "with `classes`",
                             scale->info.name, text);
        before = x;
    }
    return DIS_OK;
}
