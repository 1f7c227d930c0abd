/* Suggestions as text: see suggestion.h. */
#include "votes/roles/suggestion.h"
#include <stdio.h>

enum { LONGEST_NAME = 120 };

/* Drops the current line, and ignores further additions to it. */
static void cut_line(dis__suggestion *a)
{
    a->full = true;
    a->text[a->n = a->line] = 0;
}

/* Control characters, which a terminal would interpret. */
static bool has_controls(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < 32 || text[i] == 127) return true;
    return false;
}

static void put_plain(dis__suggestion *a, const char *text, size_t n)
{
    if (a->full) return;
    if (a->n + n + 1 > sizeof a->text) {
        cut_line(a);
        return;
    }
    memcpy(a->text + a->n, text, n);
    a->text[a->n += n] = 0;
}

static void put(dis__suggestion *a, const char *text, size_t n)
{
    if (has_controls(text, n))
        cut_line(a);
    else
        put_plain(a, text, n);
}

void dis__suggestion_begin_line(dis__suggestion *a)
{
    a->full = false;
    a->line = a->n;
    put_plain(a, "\n ", 2);
}

void dis__suggestion_add_flag(dis__suggestion *a, const char *field)
{
    put(a, " `", 2);
    put(a, field, strlen(field));
    put(a, "`", 1);
}

void dis__suggestion_add_value(dis__suggestion *a, const char *field, const char *value, size_t n)
{
    dis__suggestion_add_flag(a, field);
    put(a, " \"", 2);
    for (size_t i = 0; i < n; i++) {
        if (value[i] == '"' || value[i] == '\\') put(a, "\\", 1);
        put(a, value + i, 1);
    }
    put(a, "\"", 1);
}

static void add_column(dis__suggestion *a, const char *field, const dis__survey *s, size_t c, bool numbered)
{
    char number[24];
    const dis__survey_column *x = &s->column[c];
    if (numbered)
        dis__suggestion_add_value(a, field, number, (size_t)snprintf(number, sizeof number, "%zu", c));
    else
        dis__suggestion_add_value(a, field, x->name, x->n_name);
    if (x->n_name > LONGEST_NAME) cut_line(a);
}

static void add_missing(dis__suggestion *a, const dis__survey *s, size_t column)
{
    const dis__survey_column *c = &s->column[column];
    for (size_t i = 0; i < c->n_missing; i++) dis__suggestion_add_value(a, "na", c->missing[i], strlen(c->missing[i]));
    if (c->n_empty) dis__suggestion_add_value(a, "na", "", 0);
}

static void add_delimiter(dis__suggestion *a, char c)
{
    if (c == '\t')
        dis__suggestion_add_value(a, "delimiter", "tab", 3);
    else
        dis__suggestion_add_value(a, "delimiter", &c, 1);
}

void dis__suggest_long_table(dis__suggestion *a, const dis__survey *s, const dis__long_guess *g, bool numbered,
                             const size_t known[3])
{
    static const char *const field[] = {"task", "worker", "label"};
    for (size_t i = 0; i < g->n_labels * (g->either ? 2 : 1); i++) {
        const size_t label = g->label[i % g->n_labels];
        const bool swapped = i >= g->n_labels;
        const size_t column[] = {swapped ? g->worker : g->task, swapped ? g->task : g->worker, label};
        dis__suggestion_begin_line(a);
        if (numbered) dis__suggestion_add_flag(a, "no_header");
        if (numbered && s->delimiter) add_delimiter(a, s->delimiter);
        for (int role = 0; role < 3; role++)
            if (known[role] == DIS_NO_COLUMN) add_column(a, field[role], s, column[role], numbered);
        add_missing(a, s, label);
    }
}

/* The columns of workers as one pattern, "a,b,c"; "*" for characters with a meaning in patterns. False: no room. */
static bool list_workers(const dis__survey *s, const dis__wide_guess *g, char *out, size_t room)
{
    size_t used = 0;
    for (size_t c = 0; c < s->n_columns; c++) {
        const dis__survey_column *x = &s->column[c];
        if (!g->worker[c]) continue;
        if (used + x->n_name + 2 > room) return false;
        if (used) out[used++] = ',';
        for (size_t i = 0; i < x->n_name; i++) out[used++] = strchr(",{}\"\\", x->name[i]) ? '*' : x->name[i];
    }
    out[used] = 0;
    return true;
}

/* Words for missing values in the columns of answers, each once. */
static void add_missing_of_all(dis__suggestion *a, const dis__survey *s, const dis__wide_guess *g)
{
    const char *words[8];
    size_t n_words = 0;
    for (size_t c = 0; c < s->n_columns; c++)
        for (size_t i = 0; g->worker[c] && i < s->column[c].n_missing && n_words < 8; i++) {
            const char *word = s->column[c].missing[i];
            size_t k = 0;
            while (k < n_words && strcmp(words[k], word) != 0) k++;
            if (k < n_words) continue;
            words[n_words++] = word;
            dis__suggestion_add_value(a, "na", word, strlen(word));
        }
}

void dis__suggest_wide_table(dis__suggestion *a, const dis__survey *s, const dis__wide_guess *g)
{
    char workers[1000];
    if (!list_workers(s, g, workers, sizeof workers)) return;
    dis__suggestion_begin_line(a);
    dis__suggestion_add_value(a, "input", "wide", 4);
    if (g->task != DIS_NO_COLUMN)
        add_column(a, "task", s, g->task, false);
    else
        dis__suggestion_add_value(a, "task", "#", 1);
    dis__suggestion_add_value(a, "worker", workers, strlen(workers));
    add_missing_of_all(a, s, g);
}

/* A row that repeats the header in other words: its answers occur nowhere else. */
static bool is_header_row(const dis__survey *s, const dis__wide_guess *g, size_t row)
{
    for (size_t c = 0; c < s->n_columns; c++) {
        const uint32_t value = s->column[c].cell[row];
        if (!g->worker[c] || value == DIS_NO_VALUE) continue;
        for (size_t r = 0; r < s->n_rows; r++)
            if (r != row && s->column[c].cell[r] == value) return false;
    }
    return true;
}

void dis__suggest_survey_table(dis__suggestion *a, const dis__survey *s, const dis__wide_guess *g, size_t worker)
{
    enum { HEADER_ROWS = 2 };
    char list[1000], path[1010];
    const dis__survey_column *w = &s->column[worker];
    if (!list_workers(s, g, list, sizeof list)) return;
    dis__suggestion_begin_line(a);
    snprintf(path, sizeof path, "{%s}#", list);
    dis__suggestion_add_value(a, "task", path, strlen(path));
    add_column(a, "worker", s, worker, false);
    snprintf(path, sizeof path, "{%s}", list);
    dis__suggestion_add_value(a, "label", path, strlen(path));
    for (size_t r = 0; r < HEADER_ROWS && r < s->n_rows && is_header_row(s, g, r); r++) {
        char rule[400];
        const dis__key *text = w->cell[r] == DIS_NO_VALUE ? NULL : dis__survey_text(s, worker, w->cell[r]);
        const int n = snprintf(rule, sizeof rule, "%s=%.*s", w->name, text ? (int)(text->n > 200 ? 200 : text->n) : 0,
                               text ? dis__key_text(text) : "");
        dis__suggestion_add_value(a, "drop", rule, (size_t)n);
    }
    add_missing_of_all(a, s, g);
}
