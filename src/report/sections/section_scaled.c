/* Votes of a scale of its own (dissent/scaled.h): its measures with their intervals, then its tables, the first rows of
 * each. */
#include "report/sections/scaled_tables.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ROWS = 100, MAX_MEASURES = 32 };

const dis_scaled_column *dis__scaled_column(const dis_scaled_table *table, const char *name)
{
    for (size_t c = 0; table && c < table->n_columns; c++)
        if (strcmp(table->columns[c].name, name) == 0) return &table->columns[c];
    return NULL;
}

const char *dis__scaled_name(const dis_scaled_column *column, size_t i)
{
    return dis_names_get(column->names, column->index ? column->index[i] : i, NULL);
}

static void figure_measures(dis__report_job *job, const dis_scaled_view *scaled_view)
{
    const char *row[MAX_MEASURES];
    double value[MAX_MEASURES], low[MAX_MEASURES], high[MAX_MEASURES];
    size_t n = 0;
    dis__figure f = {.id = "measures",
                     .title = "Agreement between annotators",
                     .question = "How well do annotators agree?"};
    dis__data_table_add_column(&f.table, "measure", DIS__CELL_LONG_TEXT);
    dis__data_table_add_column(&f.table, "value", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "95 % from", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "to", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "of", DIS__CELL_COUNT);
    for (size_t m = 0; m < scaled_view->n_measures; m++) {
        const dis_scaled_measure *x = &scaled_view->measures[m];
        const bool interval = x->value.has_interval;
        dis__data_table_add_text(&f.table, x->title, strlen(x->title));
        dis__data_table_add_metric(&f.table, &x->value);
        dis__data_table_add_number(&f.table, (double)x->value.n);
        if (!interval || n == MAX_MEASURES) continue;
        row[n] = x->title;
        value[n] = x->value.value;
        low[n] = x->value.ci_low;
        high[n++] = x->value.ci_high;
    }
    dis__markup_appendf(&f.caption, "Votes of scale %s. Intervals are over items (95 %%); 1 is full agreement.",
                        dis_scale_get(scaled_view->scale)->name);
    if (n) {
        const dis__interval_chart c = {.row = row,
                                       .value = value,
                                       .low = low,
                                       .high_end = high,
                                       .n = n,
                                       .high = 1,
                                       .x_title = "value, with 95 % interval"};
        dis__interval_chart_draw(&f.chart, &c, dis__figure_name(&f, "dots with intervals"));
    }
    dis__page_figure_add(&job->page, &f);
}

/* Names of columns in files, and what stands above them on the page; others are shown as they are. */
static const char *head_of(const char *name)
{
    static const char *const heads[][2] = {
        {"worker", "annotator"},
        {"for_a", "votes for a"},
        {"for_b", "votes for b"},
        {"p_a", "expected share for a"},
        {"se", "standard error"},
        {"sd", "standard deviation"},
        {"p", "probability"},
        {"by_scores", "votes that agree with the scores"},
        {"first_preferred", "votes for the first shown"},
        {"kept", "votes kept when swapped"},
        {"swapped", "pairs shown in both orders"},
        {"compared", "comparisons with others"},
        {"plain_mean", "mean of the votes"},
        {"bias_sd", "standard error of the bias"},
        {"f1_spans", "F1 of spans"},
        {"f1_spans_overlap", "F1 of overlapping spans"},
        {"classes_per_vote", "classes per vote"},
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (strcmp(heads[i][0], name) == 0) return heads[i][1];
    return name;
}

static void figure_table(dis__report_job *job, const dis_scaled_table *t)
{
    static const char *const titles[][3] = {{"labels", "Labels", "What are the labels?"},
                                            {"items", "Items to check", "Which items should be checked first?"},
                                            {"workers", "Annotators to check",
                                             "Which annotators should be checked first?"},
                                            {"classes", "Classes", "How well do annotators agree on each class?"},
                                            {"joint", "Sets of classes", "How probable is each set of classes?"},
                                            {"pieces", "Pieces of the texts",
                                             "What is the label of each piece of a text?"}};
    dis__figure f = {.id = t->name, .title = t->name, .wide = true, .open = true};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (strcmp(titles[i][0], t->name) == 0) {
            f.title = titles[i][1];
            f.question = titles[i][2];
        }
    if (t->n_rows > MAX_ROWS) f.note = "The first 100 rows; the complete table can be written to a file.";
    dis__markup_appendf(&f.caption, "%c%s.", t->summary[0] - 'a' + 'A', t->summary + 1);
    const size_t n_columns = t->n_columns < DIS__DATA_TABLE_COLUMNS ? t->n_columns : DIS__DATA_TABLE_COLUMNS;
    for (size_t c = 0; c < n_columns; c++)
        dis__data_table_add_named_column(&f.table, head_of(t->columns[c].name),
                                         t->columns[c].names ? DIS__CELL_TEXT : DIS__CELL_REAL);
    for (size_t i = 0; i < t->n_rows && i < MAX_ROWS; i++)
        for (size_t c = 0; c < n_columns; c++) {
            const dis_scaled_column *x = &t->columns[c];
            size_t n = 0;
            if (!x->names) {
                dis__data_table_add_number(&f.table, x->values[i]);
                continue;
            }
            const char *text = dis_names_get(x->names, x->index ? x->index[i] : i, &n);
            dis__data_table_add_text(&f.table, text, n);
        }
    dis__page_figure_add(&job->page, &f);
}

/* What people did, in the words of the scale; `table`: one row for each thing that was judged. */
typedef struct {
    dis_scale scale;
    const char *did, *vote, *prepared, *thing, *table;
} scale_words;

static const scale_words *scale_words_find(dis_scale scale)
{
    static const scale_words rows[] = {{DIS_SCALE_MULTI_LABEL, "cast", "vote", "on", "item", "labels"},
                                       {DIS_SCALE_NUMERIC, "cast", "vote", "on", "item", "labels"},
                                       {DIS_SCALE_PAIRWISE, "made", "comparison", "of", "thing", "labels"},
                                       {DIS_SCALE_SPANS, "marked", "span", "in", "text", "items"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].scale == scale) return &rows[i];
    return NULL;
}

static void add_count_tile(dis__report_job *job, size_t n, const char *what)
{
    char label[32];
    snprintf(label, sizeof label, "%s%s", what, dis__plural_suffix(n));
    dis__page_tile_add(&job->page, dis__format_abbreviated(n).text, label);
}

static void add_size_finding(dis__report_job *job, const scale_words *w)
{
    const dis_votes_view *v = &job->votes_view;
    const dis_scaled_table *things = dis_scaled_find_table(job->scaled, w->table);
    const size_t n = things ? things->n_rows : 0;
    dis__markup finding = {0};
    add_count_tile(job, n, w->thing);
    add_count_tile(job, v->n_workers, "annotator");
    add_count_tile(job, v->n_votes, w->vote);
    dis__markup_appendf(&finding, "%s %s %s %s %s%s %s %s %s%s.", dis__format_grouped(v->n_workers).text,
                        v->n_workers == 1 ? "person" : "people", w->did, dis__format_grouped(v->n_votes).text, w->vote,
                        dis__plural_suffix(v->n_votes), w->prepared, dis__format_grouped(n).text, w->thing,
                        dis__plural_suffix(n));
    dis__page_finding_add(&job->page, &finding);
    dis__markup_free(&finding);
}

static void add_agreement_finding(dis__report_job *job, const dis_scaled_view *scaled_view)
{
    const dis_metric *alpha = NULL;
    dis__markup finding = {0};
    for (size_t m = 0; m < scaled_view->n_measures && !alpha; m++)
        if (strncmp(scaled_view->measures[m].name, "alpha", 5) == 0 && !scaled_view->measures[m].value.reason)
            alpha = &scaled_view->measures[m].value;
    if (!alpha) return;
    dis__markup_append(&finding, "Votes on the same item: ");
    dis__report_append_chance_agreement(&finding, alpha, NULL);
    dis__markup_append(&finding, ".");
    dis__page_finding_add(&job->page, &finding);
    dis__markup_free(&finding);
}

/* The names at the head of the first row of a table. */
static bool append_first_labels(dis__markup *m, const dis_scaled_table *t)
{
    if (!t || t->n_rows == 0) return false;
    for (size_t c = 0; c < t->n_columns && t->columns[c].names; c++) {
        size_t n;
        const char *text = dis_names_get(t->columns[c].names, t->columns[c].index ? t->columns[c].index[0] : 0, &n);
        if (c == 1 && strcmp(t->columns[c].name, "b") != 0) return true;
        if (c) dis__markup_append(m, " and ");
        dis__markup_append_name(m, text, n, 30);
    }
    return true;
}

static void add_note_findings(dis__report_job *job, const dis_scaled_view *scaled_view)
{
    for (size_t i = 0; i < scaled_view->n_notes; i++) {
        dis__markup finding = {0};
        dis__markup_append_name(&finding, scaled_view->notes[i], strlen(scaled_view->notes[i]), 300);
        dis__page_finding_add(&job->page, &finding);
        dis__markup_free(&finding);
    }
}

/* Krippendorff (2018): 0.8 for firm conclusions, 0.667 for tentative ones. */
#define RELIABLE  .8
#define TENTATIVE .667

static const dis_scaled_measure *first_alpha(const dis_scaled_view *v)
{
    for (size_t m = 0; m < v->n_measures; m++)
        if (strncmp(v->measures[m].name, "alpha", 5) == 0 && !v->measures[m].value.reason) return &v->measures[m];
    return NULL;
}

static void put_alpha(dis__markup *m, const dis_scaled_measure *x)
{
    dis__markup_appendf(m, "%s is %s", x->title, dis__format_fixed(x->value.value, 2).text);
    if (x->value.has_interval)
        dis__markup_appendf(m, " (95\xC2\xA0%% from %s to %s)", dis__format_fixed(x->value.ci_low, 2).text,
                            dis__format_fixed(x->value.ci_high, 2).text);
}

/* Whether labels of numbers, sets or spans can be used, by agreement alone. */
static void add_verdict(dis__report_job *job, const dis_scaled_view *v)
{
    static const struct {
        const char *id, *words, *meaning;
    } answers[] = {
        {"yes", "Yes", "at least 0.80 allows firm conclusions"},
        {"care", "Yes, with care", "from 0.67 to 0.80 allows tentative conclusions only"},
        {"care", "With much care", "below 0.67, labels of single items are uncertain"},
        {"no", "No", "the interval contains 0, which is the agreement of votes at random"},
        {"unknown", "This cannot be told", ""},
    };
    const dis_scaled_measure *x = first_alpha(v);
    dis__markup text = {0}, item = {0}, worker = {0};
    size_t a = 4;
    if (x && !x->value.degenerate && (x->value.has_interval || job->r->resamples == 0)) {
        const dis_metric *m = &x->value;
        a = m->has_interval ? (m->ci_low <= 0          ? 3
                               : m->value >= RELIABLE  ? 0
                               : m->value >= TENTATIVE ? 1
                                                       : 2)
                            : (m->value >= RELIABLE    ? 0
                               : m->value >= TENTATIVE ? 1
                                                       : 2);
    }
    if (a == 4) {
        dis__markup_append(&text, "There are too few votes on the same items to measure agreement. Mistakes cannot be "
                                  "found. Have a second person label at least 50 of the items.");
    } else {
        put_alpha(&text, x);
        dis__markup_appendf(&text, ": %s. ", answers[a].meaning);
        const bool items = append_first_labels(&item, dis_scaled_find_table(job->scaled, "items"));
        const bool workers = append_first_labels(&worker, dis_scaled_find_table(job->scaled, "workers"));
        if (a == 3)
            dis__markup_append(&text, "Check that the ids match the items, read the guidelines, and label 20 items "
                                      "together before you collect more votes.");
        else if (items && workers) {
            dis__markup_append(&text, "Annotators agree least on ");
            dis__markup_append_markup(&text, &item);
            dis__markup_append(&text, ", and ");
            dis__markup_append_markup(&text, &worker);
            dis__markup_append(&text, " agrees least with the others or votes most unevenly. Discuss these first, then "
                                      "check 50 labels by hand.");
        }
    }
    dis__page_verdict_set(&job->page, "Can these labels be used?", answers[a].id, answers[a].words, &text);
    dis__markup_free(&text);
    dis__markup_free(&item);
    dis__markup_free(&worker);
}

static bool is_one_of(const char *name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, list[i]) == 0) return true;
    return false;
}

dis_status dis__section_scaled(dis__report_job *job)
{
    if (!job->scaled) return DIS_OK;
    const dis_scaled_view scaled_view = dis_scaled_get_view(job->scaled);
    const scale_words *w = scale_words_find(scaled_view.scale);
    if (w) add_size_finding(job, w);
    if (scaled_view.n_measures && !scaled_view.measures[0].value.reason)
        dis__page_tile_add(&job->page, dis__format_fixed(scaled_view.measures[0].value.value, 2).text,
                           scaled_view.measures[0].title);
    add_agreement_finding(job, &scaled_view);
    if (scaled_view.scale == DIS_SCALE_PAIRWISE)
        dis__report_add_winner(job);
    else
        add_verdict(job, &scaled_view);
    add_note_findings(job, &scaled_view);
    dis__page_section_begin(&job->page, "votes", "Votes", "Results, agreement, and the items and annotators to check.");
    dis__figure_scaled(job);
    dis__figure_wins(job);
    DIS_TRY(dis__figure_span_texts(job));
    static const char *const first[] = {"items", "workers"}, *const drawn[] = {"ranks"};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        const dis_scaled_table *t = dis_scaled_find_table(job->scaled, first[i]);
        if (t) figure_table(job, t);
    }
    figure_measures(job, &scaled_view);
    for (size_t i = 0; i < scaled_view.n_tables; i++)
        if (!is_one_of(scaled_view.tables[i].name, first, sizeof first / sizeof *first) &&
            !is_one_of(scaled_view.tables[i].name, drawn, sizeof drawn / sizeof *drawn))
            figure_table(job, &scaled_view.tables[i]);
    dis__page_section_end(&job->page);
    return DIS_OK;
}
