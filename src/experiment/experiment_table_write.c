/* The table of an experiment as text, Markdown, LaTeX and CSV.
 *
 * The first three share one walk over data sets, cells and measures; what differs is a row of functions. Names come
 * from users: each format makes them harmless in its own way, after control characters were made visible. */
#include "tool/table_writer.h"
#include "tool/value_names.h"
#include "tool/experiments.h"
#include "experiment/experiment_internal.h"
#include "io/output/output_file.h"
#include "report/markup.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DECIMALS = 4, NAME_WIDTH = 30, COLUMN_WIDTH = 24, LONGEST_NAME = 200 };

typedef struct {
    const dis_experiment *e;
    dis_experiment_table_view t;
    dis__markup out;
    bool several_sets, tested, marked;
} writer;

static const char *const stars[] = {"", "*", "**"};
static const char *const daggers[] = {"", "\\dagger", "\\ddagger"}; /* of conditions that are worse */

static const char *metric_name(const writer *w, size_t m)
{
    return dis_evaluation_metric_get(w->e->plan->measure[m].metric)->name;
}

static const char *arrow(const writer *w, size_t m)
{
    return dis__evaluation_metric_arrow(w->e->plan->measure[m].metric);
}

static const dis_experiment_cell *cell_of(const writer *w, size_t row)
{
    return &w->e->plan->cell[w->t.row[row].cell];
}

/* Whether a row begins another data set. */
static bool begins_data(const writer *w, size_t row)
{
    return row == 0 || strcmp(cell_of(w, row)->data, cell_of(w, row - 1)->data) != 0;
}

static bool several_data(const writer *w)
{
    for (size_t r = 1; r < w->t.n_rows; r++)
        if (begins_data(w, r)) return true;
    return false;
}

/* Characters of UTF-8 from byte `from` on. */
static size_t width_since(const dis__markup *m, size_t from)
{
    size_t n = 0;
    for (size_t i = from; i < m->n; i++) n += ((unsigned char)m->bytes[i] & 0xC0) != 0x80;
    return n;
}

static void pad(dis__markup *m, size_t from, size_t width)
{
    for (size_t n = width_since(m, from); n < width; n++) dis__markup_append(m, " ");
    if (width_since(m, from) > width) dis__markup_append(m, "  ");
}

/* ---- text ---- */

static void text_head(writer *w)
{
    dis__markup *m = &w->out;
    for (int line = 0; line < 2; line++) {
        size_t from = m->n;
        pad(m, from, NAME_WIDTH);
        from = m->n;
        dis__markup_append(m, line == 0 ? "runs" : "");
        pad(m, from, 10);
        for (size_t i = 0; i < w->t.n_measures; i++) {
            from = m->n;
            if (line == 0)
                dis__markup_appendf(m, "%s%s%s", metric_name(w, i), *arrow(w, i) ? " " : "", arrow(w, i));
            else
                dis__markup_append_display(m, w->e->plan->measure[i].set, strlen(w->e->plan->measure[i].set),
                                           COLUMN_WIDTH - 2);
            if (i + 1 < w->t.n_measures) pad(m, from, COLUMN_WIDTH);
        }
        dis__markup_append(m, "\n");
    }
}

static void text_data(writer *w, const char *data)
{
    dis__markup_append_display(&w->out, data, strlen(data), LONGEST_NAME);
    dis__markup_append(&w->out, "\n");
}

/* 0: mean and sd; 1: interval; 2: published values. */
static void text_figure(dis__markup *m, const dis_experiment_value *f, int line)
{
    if (line == 0 && f->n == 0) dis__markup_append(m, "-");
    if (line == 0 && f->n) {
        dis__markup_appendf(m, "%s%s", dis__format_fixed(f->mean, DECIMALS).text, f->best ? "^" : "");
        if (f->n > 1) dis__markup_appendf(m, " sd %s", dis__format_fixed(f->sd, DECIMALS).text);
        if (f->has_comparison && f->stars) dis__markup_appendf(m, " %s", stars[f->stars]);
    }
    if (line == 1 && f->n > 1)
        dis__markup_appendf(m, "[%s, %s]", dis__format_fixed(f->ci_low, DECIMALS).text,
                            dis__format_fixed(f->ci_high, DECIMALS).text);
    if (line == 2 && !isnan(f->published)) dis__markup_append(m, dis__format_fixed(f->published, DECIMALS).text);
}

static void text_row(writer *w, size_t row)
{
    dis__markup *m = &w->out;
    const dis_experiment_row *r = &w->t.row[row];
    bool any[3] = {true, false, false};
    for (size_t i = 0; i < w->t.n_measures; i++) {
        any[1] |= r->values[i].n > 1;
        any[2] |= !isnan(r->values[i].published);
    }
    for (int line = 0; line < 3; line++) {
        if (!any[line]) continue;
        size_t from = m->n;
        if (line == 0) {
            dis__markup_append(m, "  ");
            dis__markup_append_display(m, cell_of(w, row)->name, strlen(cell_of(w, row)->name), LONGEST_NAME);
        }
        pad(m, from, NAME_WIDTH);
        from = m->n;
        if (line == 0) dis__markup_appendf(m, "%zu/%zu", r->n_done, r->n_runs);
        if (line == 2) dis__markup_append(m, "paper");
        pad(m, from, 10);
        for (size_t i = 0; i < w->t.n_measures; i++) {
            from = m->n;
            text_figure(m, &r->values[i], line);
            if (i + 1 < w->t.n_measures) pad(m, from, COLUMN_WIDTH);
        }
        while (m->n && m->bytes[m->n - 1] == ' ') m->n--;
        dis__markup_append(m, "\n");
    }
}

/* Sets of few items, once each: seeds say how much training varies, and nothing of which items were drawn. `put`: names
 * made harmless. */
static void few_items(writer *w, const char *before, void (*put)(dis__markup *m, const char *text))
{
    enum { FEW = 100 };
    for (size_t r = 0; r < w->t.n_rows; r++)
        for (size_t i = 0; i < w->t.n_measures && begins_data(w, r); i++) {
            const char *set = w->e->plan->measure[i].set;
            const size_t n = w->t.row[r].values[i].n_items;
            bool is_repeated = false;
            for (size_t k = 0; k < i; k++) is_repeated |= strcmp(w->e->plan->measure[k].set, set) == 0;
            if (is_repeated || n == 0 || n >= FEW) continue;
            dis__markup_append(&w->out, before);
            put(&w->out, cell_of(w, r)->data);
            dis__markup_append(&w->out, ", ");
            put(&w->out, set);
            dis__markup_appendf(
                &w->out, ": only %zu item%s; figures and intervals over seeds do not show what other items would give.",
                n, n == 1 ? "" : "s");
        }
}

static void text_name(dis__markup *m, const char *text)
{
    dis__markup_append_display(m, text, strlen(text), LONGEST_NAME);
}

static void text_end(writer *w)
{
    dis__markup *m = &w->out;
    dis__markup_append(m,
                       "\nMeans over seeds (of each the mean over folds), with standard deviation and 95 % interval. "
                       "\xE2\x86\x91 higher is better, \xE2\x86\x93 lower.");
    if (w->marked) dis__markup_append(m, " ^ best of its data set.");
    if (w->tested) dis__markup_append(m, " * p <= .05, ** p <= .01 against the baseline, paired test.");
    few_items(w, "\n", text_name);
    dis__markup_append(m, "\n");
}

/* ---- Markdown ---- */

/* Characters with a meaning in Markdown or HTML are escaped with a backslash. */
static void markdown_name(dis__markup *m, const char *text)
{
    dis__markup plain = {0};
    dis__markup_append_display(&plain, text, strlen(text), LONGEST_NAME);
    for (size_t i = 0; i < plain.n; i++) {
        if (strchr("\\`*_{}[]<>()#+!|~&$", plain.bytes[i])) dis__markup_append(m, "\\");
        dis__markup_append_n(m, plain.bytes + i, 1);
    }
    if (m->status == DIS_OK) m->status = plain.status;
    dis__markup_free(&plain);
}

static void markdown_head(writer *w)
{
    dis__markup *m = &w->out;
    dis__markup_append(m, w->several_sets ? "| data | cell | runs |" : "| cell | runs |");
    for (size_t i = 0; i < w->t.n_measures; i++) {
        dis__markup_append(m, " ");
        markdown_name(m, metric_name(w, i));
        dis__markup_appendf(m, "%s%s (", *arrow(w, i) ? " " : "", arrow(w, i));
        markdown_name(m, w->e->plan->measure[i].set);
        dis__markup_append(m, ") |");
    }
    dis__markup_append(m, w->several_sets ? "\n|---|---|---|" : "\n|---|---|");
    for (size_t i = 0; i < w->t.n_measures; i++) dis__markup_append(m, "---|");
    dis__markup_append(m, "\n");
}

static void markdown_figure(dis__markup *m, const dis_experiment_value *f)
{
    const char *bold = f->best ? "**" : "";
    if (f->n == 0)
        dis__markup_append(m, "-");
    else
        dis__markup_appendf(m, "%s%s%s", bold, dis__format_fixed(f->mean, DECIMALS).text, bold);
    if (f->n && f->has_comparison)
        for (int s = 0; s < f->stars; s++) dis__markup_append(m, "\\*");
    if (f->n > 1)
        dis__markup_appendf(m, " sd %s [%s, %s]", dis__format_fixed(f->sd, DECIMALS).text,
                            dis__format_fixed(f->ci_low, DECIMALS).text, dis__format_fixed(f->ci_high, DECIMALS).text);
    if (!isnan(f->published)) dis__markup_appendf(m, "; paper %s", dis__format_fixed(f->published, DECIMALS).text);
}

static void markdown_row(writer *w, size_t row)
{
    dis__markup *m = &w->out;
    const dis_experiment_row *r = &w->t.row[row];
    dis__markup_append(m, "| ");
    if (w->several_sets) {
        markdown_name(m, cell_of(w, row)->data);
        dis__markup_append(m, " | ");
    }
    markdown_name(m, cell_of(w, row)->name);
    dis__markup_appendf(m, " | %zu/%zu |", r->n_done, r->n_runs);
    for (size_t i = 0; i < w->t.n_measures; i++) {
        dis__markup_append(m, " ");
        markdown_figure(m, &r->values[i]);
        dis__markup_append(m, " |");
    }
    dis__markup_append(m, "\n");
}

static void markdown_end(writer *w)
{
    dis__markup *m = &w->out;
    dis__markup_append(m,
                       "\nMeans over seeds (of each the mean over folds), with standard deviation and 95 % interval.");
    if (w->marked) dis__markup_append(m, " Bold: best of its data set.");
    if (w->tested) dis__markup_append(m, " \\* p <= .05, \\*\\* p <= .01 against the baseline, paired test.");
    few_items(w, " ", markdown_name);
    dis__markup_append(m, "\n");
}

/* ---- LaTeX ---- */

static void latex_name(dis__markup *m, const char *text)
{
    static const struct {
        char c;
        const char *text;
    } special[] = {{'\\', "\\textbackslash{}"},
                   {'~', "\\textasciitilde{}"},
                   {'^', "\\textasciicircum{}"},
                   {'&', "\\&"},
                   {'%', "\\%"},
                   {'$', "\\$"},
                   {'#', "\\#"},
                   {'_', "\\_"},
                   {'{', "\\{"},
                   {'}', "\\}"},
                   {'<', "\\textless{}"},
                   {'>', "\\textgreater{}"}};
    dis__markup plain = {0};
    dis__markup_append_display(&plain, text, strlen(text), LONGEST_NAME);
    for (size_t i = 0; i < plain.n; i++) {
        size_t s = 0;
        while (s < sizeof special / sizeof *special && special[s].c != plain.bytes[i]) s++;
        if (s < sizeof special / sizeof *special)
            dis__markup_append(m, special[s].text);
        else
            dis__markup_append_n(m, plain.bytes + i, 1);
    }
    if (m->status == DIS_OK) m->status = plain.status;
    dis__markup_free(&plain);
}

static void latex_head(writer *w)
{
    dis__markup *m = &w->out;
    dis__markup_append(m, "% needs \\usepackage{booktabs}\n\\begin{tabular}{ll");
    for (size_t i = 0; i < w->t.n_measures; i++) dis__markup_append(m, "l");
    dis__markup_append(m, "}\n\\toprule\n & runs");
    for (size_t i = 0; i < w->t.n_measures; i++) {
        dis__markup_append(m, " & ");
        latex_name(m, dis_evaluation_metric_get(w->e->plan->measure[i].metric)->title);
        const char *better = dis_evaluation_metric_get(w->e->plan->measure[i].metric)->better;
        if (*arrow(w, i)) dis__markup_append(m, strcmp(better, "lower") == 0 ? " $\\downarrow$" : " $\\uparrow$");
        dis__markup_append(m, " (");
        latex_name(m, w->e->plan->measure[i].set);
        dis__markup_append(m, ")");
    }
    dis__markup_append(m, " \\\\\n\\midrule\n");
}

static void latex_data(writer *w, const char *data)
{
    dis__markup_appendf(&w->out, "\\multicolumn{%zu}{l}{\\textit{", w->t.n_measures + 2);
    latex_name(&w->out, data);
    dis__markup_append(&w->out, "}} \\\\\n");
}

static bool is_worse(const writer *w, size_t m, const dis_experiment_value *f)
{
    const bool lower = strcmp(dis_evaluation_metric_get(w->e->plan->measure[m].metric)->better, "lower") == 0;
    return lower ? f->difference > 0 : f->difference < 0;
}

static void latex_figure(writer *w, size_t measure, const dis_experiment_value *f)
{
    dis__markup *m = &w->out;
    if (f->n == 0)
        dis__markup_append(m, "--");
    else
        dis__markup_appendf(m, f->best ? "\\textbf{%s}" : "%s", dis__format_fixed(f->mean, DECIMALS).text);
    if (f->n && f->has_comparison && f->stars)
        dis__markup_appendf(m, "$^{%s}$", is_worse(w, measure, f) ? daggers[f->stars] : stars[f->stars]);
    if (f->n > 1)
        dis__markup_appendf(m, " {\\footnotesize sd %s [%s, %s]}", dis__format_fixed(f->sd, DECIMALS).text,
                            dis__format_fixed(f->ci_low, DECIMALS).text, dis__format_fixed(f->ci_high, DECIMALS).text);
    if (!isnan(f->published))
        dis__markup_appendf(m, " {\\footnotesize paper %s}", dis__format_fixed(f->published, DECIMALS).text);
}

static void latex_row(writer *w, size_t row)
{
    dis__markup *m = &w->out;
    const dis_experiment_row *r = &w->t.row[row];
    latex_name(m, cell_of(w, row)->name);
    dis__markup_appendf(m, " & %zu/%zu", r->n_done, r->n_runs);
    for (size_t i = 0; i < w->t.n_measures; i++) {
        dis__markup_append(m, " & ");
        latex_figure(w, i, &r->values[i]);
    }
    dis__markup_append(m, " \\\\\n");
}

static void latex_end(writer *w)
{
    dis__markup_append(&w->out,
                       "\\bottomrule\n\\end{tabular}\n% means over seeds (of each the mean over folds), standard "
                       "deviation, 95 % interval; bold: best of its data set;\n% * p <= .05, ** p <= .01: better than "
                       "the baseline; dagger p <= .05, double dagger p <= .01: worse");
    few_items(w, "\n% ", latex_name);
    dis__markup_append(&w->out, "\n");
}

/* ---- CSV ---- */

static void csv_text(dis__table_writer *t, const char *text)
{
    dis__table_writer_text(t, text, strlen(text));
}

static void csv_figure(const writer *w, dis__table_writer *t, size_t row, size_t m)
{
    const dis_experiment_row *r = &w->t.row[row];
    const dis_experiment_value *f = &r->values[m];
    const dis_experiment_cell *cell = cell_of(w, row);
    csv_text(t, cell->data);
    csv_text(t, cell->name);
    csv_text(t, w->e->plan->measure[m].set);
    csv_text(t, metric_name(w, m));
    dis__table_writer_count(t, r->n_runs);
    dis__table_writer_count(t, r->n_done);
    dis__table_writer_count(t, r->n_failed);
    dis__table_writer_count(t, f->n);
    dis__table_writer_real(t, f->mean);
    dis__table_writer_real(t, f->sd);
    dis__table_writer_real(t, f->ci_low);
    dis__table_writer_real(t, f->ci_high);
    dis__table_writer_real(t, f->published);
    csv_text(t, cell->baseline == SIZE_MAX ? "" : w->e->plan->cell[cell->baseline].name);
    dis__table_writer_real(t, f->has_comparison ? f->difference : (double)NAN);
    dis__table_writer_real(t, f->has_comparison ? f->p : (double)NAN);
    if (f->has_comparison)
        dis__table_writer_count(t, (uint64_t)f->stars);
    else
        dis__table_writer_null(t);
    dis__table_writer_count(t, f->best);
}

static dis_status write_csv(const writer *w, const char *path)
{
    static const char *const columns[] = {"data",      "cell",     "set",        "metric", "runs",   "done",
                                          "failed",    "seeds",    "mean",       "sd",     "ci_low", "ci_high",
                                          "published", "baseline", "difference", "p",      "stars",  "best"};
    dis__table_writer *t;
    DIS_TRY(dis__table_writer_create(path, "csv", columns, sizeof columns / sizeof *columns, &t));
    for (size_t r = 0; r < w->t.n_rows; r++)
        for (size_t m = 0; m < w->t.n_measures; m++) csv_figure(w, t, r, m);
    return dis__table_writer_finish(t, DIS_OK);
}

/* ---- all ---- */

static const struct {
    const char *name;
    void (*head)(writer *w);
    void (*data)(writer *w, const char *data); /* NULL: each row contains it */
    void (*row)(writer *w, size_t row);
    void (*end)(writer *w);
} formats[] = {
    {"text", text_head, text_data, text_row, text_end},
    {"markdown", markdown_head, NULL, markdown_row, markdown_end},
    {"latex", latex_head, latex_data, latex_row, latex_end},
};
enum { N_FORMATS = sizeof formats / sizeof *formats };

static writer make_writer(const dis_experiment *e, const dis_experiment_table *table)
{
    writer w = {.e = e, .t = dis_experiment_table_get_view(table)};
    w.several_sets = several_data(&w);
    for (size_t r = 0; r < w.t.n_rows; r++)
        for (size_t m = 0; m < w.t.n_measures; m++) {
            w.tested |= w.t.row[r].values[m].has_comparison;
            w.marked |= w.t.row[r].values[m].best;
        }
    return w;
}

dis_status dis__experiment_table_format_latex(const dis_experiment *e, dis_experiment_table_view part, dis__markup *out)
{
    writer w = {.e = e, .t = part};
    latex_head(&w);
    for (size_t r = 0; r < part.n_rows; r++) latex_row(&w, r);
    latex_end(&w);
    dis__markup_append_markup(out, &w.out);
    const dis_status status = w.out.status;
    dis__markup_free(&w.out);
    return status;
}

dis_status dis_experiment_table_write(const dis_experiment *experiment, const dis_experiment_table *table,
                                      const char *path, const char *format)
{
    DIS_TRY(dis__experiment_check_output(experiment, path));
    writer w = make_writer(experiment, table);
    if (strcmp(format, "csv") == 0) return write_csv(&w, path);
    size_t f = 0;
    while (f < N_FORMATS && strcmp(formats[f].name, format) != 0) f++;
    if (f == N_FORMATS)
        return dis__fail(DIS_EUSAGE, "unknown table format \"%.40s\"; formats: text, markdown, csv and latex", format);
    formats[f].head(&w);
    for (size_t r = 0; r < w.t.n_rows; r++) {
        if (formats[f].data && w.several_sets && begins_data(&w, r)) formats[f].data(&w, cell_of(&w, r)->data);
        formats[f].row(&w, r);
    }
    formats[f].end(&w);
    dis_status status = w.out.status;
    dis__out *out;
    if (status == DIS_OK && (status = dis__out_open(path, &out)) == DIS_OK)
        status = dis__out_finish(out, dis__out_write(out, w.out.bytes, w.out.n));
    dis__markup_free(&w.out);
    return status;
}
