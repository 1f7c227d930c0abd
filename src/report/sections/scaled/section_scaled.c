/* Votes of a scale of its own (dissent/scaled.h): the answer, the next step, results, agreement, and the tables, the
 * first rows of each. */
#include "report/sections/scaled/scaled_tables.h"
#include "votes/table/scales.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ROWS = 100, MAX_MEASURES = 32, FEW_COMPARISONS = 10 };

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
    dis__markup_append(&f.caption,
                       "Lines are 95 % intervals over items. 1 is full agreement; for alpha and kappa, 0 is "
                       "chance.");
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

/* Columns of files as the page shows them; columns that are not listed are shown as they are. */
typedef struct {
    const char *name, *head;
    dis__data_table_kind kind;
} column_head;

static const column_head *find_head(const char *name)
{
    static const column_head rows[] = {
        {"task", "item", DIS__CELL_TEXT},
        {"worker", "annotator", DIS__CELL_TEXT},
        {"a", "first", DIS__CELL_TEXT},
        {"b", "second", DIS__CELL_TEXT},
        {"for_a", "votes for the first", DIS__CELL_COUNT},
        {"for_b", "votes for the second", DIS__CELL_COUNT},
        {"ties", "ties", DIS__CELL_COUNT},
        {"p_a", "expected share of the first", DIS__CELL_PERCENT},
        {"rank", "rank", DIS__CELL_COUNT},
        {"won", "won", DIS__CELL_COUNT},
        {"lost", "lost", DIS__CELL_COUNT},
        {"tied", "tied", DIS__CELL_COUNT},
        {"votes", "votes", DIS__CELL_COUNT},
        {"spans", "spans", DIS__CELL_COUNT},
        {"tasks", "texts", DIS__CELL_COUNT},
        {"workers", "annotators", DIS__CELL_COUNT},
        {"places", "positions", DIS__CELL_COUNT},
        {"start", "start", DIS__CELL_COUNT},
        {"end", "end", DIS__CELL_COUNT},
        {"se", "standard error", DIS__CELL_REAL},
        {"mean", "value", DIS__CELL_REAL},
        {"sd", "standard error of the value", DIS__CELL_REAL},
        {"spread", "spread of the votes", DIS__CELL_REAL},
        {"plain_mean", "mean of the votes", DIS__CELL_REAL},
        {"bias_sd", "standard error of the bias", DIS__CELL_REAL},
        {"entropy", "uncertainty", DIS__CELL_REAL},
        {"p", "probability", DIS__CELL_PERCENT},
        {"agreement", "agreement", DIS__CELL_PERCENT},
        {"by_scores", "votes that agree with the scores", DIS__CELL_PERCENT},
        {"first_preferred", "votes for the first shown", DIS__CELL_PERCENT},
        {"kept", "votes kept when swapped", DIS__CELL_PERCENT},
        {"swapped", "pairs shown in both orders", DIS__CELL_COUNT},
        {"compared", "comparisons with others", DIS__CELL_COUNT},
        {"distance", "distance from the others", DIS__CELL_REAL},
        {"alpha_ci_low", "95 % from", DIS__CELL_REAL},
        {"alpha_ci_high", "to", DIS__CELL_REAL},
        {"f1_spans", "F1 of spans", DIS__CELL_PERCENT},
        {"f1_spans_overlap", "F1 of overlapping spans", DIS__CELL_PERCENT},
        {"classes_per_vote", "classes per vote", DIS__CELL_REAL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0) return &rows[i];
    return NULL;
}

/* What a table is for: its question, and what its first rows are. `scale` ANY: of every scale. */
typedef struct {
    const char *table;
    int scale;
    const char *title, *question, *caption;
} table_words;

static const table_words *find_words(const char *table, dis_scale scale)
{
    enum { ANY = -1 };
    static const table_words rows[] = {
        {"items", DIS_SCALE_MULTI_LABEL, "Items to check", "Which items should be checked first?",
         "The items whose classes are least certain come first. Uncertainty: entropy, summed over classes (nats)."},
        {"items", DIS_SCALE_NUMERIC, "Items to check", "Which items should be checked first?",
         "The items whose votes differ most come first. Spread: standard deviation of the votes."},
        {"items", DIS_SCALE_PAIRWISE, "Pairs to compare more often", "Which pairs should be compared more often?",
         "The pairs whose votes are split most evenly come first."},
        {"items", DIS_SCALE_SPANS, "Texts to check", "Which texts should be checked first?",
         "The texts on which annotators agree least come first. Agreement: share of positions."},
        {"workers", DIS_SCALE_MULTI_LABEL, "Annotators to check", "Which annotators differ most from the others?",
         "The largest distance comes first. The order is no verdict: someone is always first, also among equals."},
        {"workers", DIS_SCALE_PAIRWISE, "Annotators to check", "Which annotators are least reliable?",
         "The lowest reliability comes first. The order is no verdict: someone is always first, also among equals."},
        {"workers", DIS_SCALE_SPANS, "Annotators to check", "Which annotators differ most from the others?",
         "The lowest F1 with the spans of the others comes first. The order is no verdict: someone is always first, "
         "also "
         "among equals."},
        {"labels", ANY, "Labels", "What are the labels?", NULL},
        {"classes", ANY, "Classes", "How well do annotators agree on each class?",
         "Alpha is computed for each class: whether an item has it or not."},
        {"joint", ANY, "Sets of classes", "How probable is each set of classes?", NULL},
        {"pieces", ANY, "Pieces of the texts", "What is the label of each piece of a text?", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].table, table) == 0 && (rows[i].scale == ANY || rows[i].scale == (int)scale)) return &rows[i];
    return NULL;
}

/* The item of the votes that a task stands for: its name is the task, or the task, a separator and positions. */
size_t dis__scaled_item_of_task(const dis_report *r, const char *task)
{
    const size_t n = strlen(task);
    for (size_t i = 0; i < r->n_items; i++) {
        size_t length;
        const char *name = dis_names_get(r->tasks, i, &length);
        if (length >= n && memcmp(name, task, n) == 0 && (length == n || name[n] == DIS_PART_SEPARATOR)) return i;
    }
    return SIZE_MAX;
}

static void add_cell(dis__data_table *g, const dis_scaled_column *x, size_t row)
{
    enum { TINY = 12 }; /* digits: what is left of a subtraction is 0 */
    if (!x->names) {
        dis__data_table_add_number(g, fabs(x->values[row]) < pow(10, -TINY) ? 0 : x->values[row]);
        return;
    }
    size_t n = 0;
    const char *text = dis_names_get(x->names, x->index ? x->index[row] : row, &n);
    if (n)
        dis__data_table_add_text(g, text, n);
    else
        dis__data_table_add_static_text(g, "(none)"); /* a set without classes */
}

static void figure_table(dis__report_job *job, const dis_scaled_table *t)
{
    const table_words *w = find_words(t->name, dis_scaled_get_view(job->scaled).scale);
    const bool has_texts = job->r->texts && strcmp(t->columns[0].name, "task") == 0;
    dis__figure f = {
        .id = t->name, .title = w ? w->title : t->name, .question = w ? w->question : NULL, .wide = true, .open = true};
    if (t->n_rows > MAX_ROWS) f.note = "The first 100 rows; the complete table can be written to a file.";
    if (w && w->caption)
        dis__markup_append(&f.caption, w->caption);
    else {
        dis__markup_append_capitalized(&f.caption, t->summary);
        dis__markup_append(&f.caption, ".");
    }
    const size_t room = DIS__DATA_TABLE_COLUMNS - has_texts, n_columns = t->n_columns < room ? t->n_columns : room;
    for (size_t c = 0; c < n_columns; c++) {
        const char *name = t->columns[c].name;
        const column_head *h = find_head(name);
        const bool is_class = strncmp(name, "p:", 2) == 0; /* its probability */
        dis__data_table_add_named_column(&f.table,
                                         h          ? h->head
                                         : is_class ? name + 2
                                                    : name,
                                         t->columns[c].names ? DIS__CELL_TEXT
                                         : h                 ? h->kind
                                         : is_class          ? DIS__CELL_PERCENT
                                                             : DIS__CELL_REAL);
        if (c == 0 && has_texts) dis__report_add_text_column(job, &f.table);
    }
    /* a single vote is far from the others or not: such rows would come first */
    const dis_scaled_column *compared = strcmp(t->name, "workers") == 0 ? dis__scaled_column(t, "compared") : NULL;
    size_t n_few = 0;
    for (size_t i = 0; compared && i < t->n_rows; i++) n_few += compared->values[i] < FEW_COMPARISONS;
    const bool has_few = n_few > 0 && n_few < t->n_rows;
    if (has_few)
        dis__markup_appendf(&f.caption, " Left out: %zu annotator%s with fewer than 10 comparisons with others.", n_few,
                            dis__plural_suffix(n_few));
    size_t n_shown = 0;
    for (size_t i = 0; i < t->n_rows && n_shown < MAX_ROWS; i++) {
        if (has_few && compared->values[i] < FEW_COMPARISONS) continue;
        n_shown++;
        for (size_t c = 0; c < n_columns; c++) {
            add_cell(&f.table, &t->columns[c], i);
            if (c == 0 && has_texts)
                dis__report_add_text_cell(job, &f.table,
                                          dis__scaled_item_of_task(job->r, dis__scaled_name(&t->columns[0], i)));
        }
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
    const dis_scaled_table *table = dis_scaled_find_table(job->scaled, w->table);
    const size_t n = table ? table->n_rows : 0;
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

/* The first items of a table, named. */
static void put_first_items(dis__markup *m, const dis_scaled_table *t)
{
    enum { NAMED = 3 };
    for (size_t i = 0; i < t->n_rows && i < NAMED; i++) {
        const char *name = dis__scaled_name(&t->columns[0], i);
        dis__markup_append(m, i == 0 ? "" : i + 1 == t->n_rows || i + 1 == NAMED ? " and " : ", ");
        dis__markup_append_name(m, name, strlen(name), 30);
    }
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
#define WIDE      .4 /* an interval from below 0 to here cannot tell chance from agreement */

static const dis_scaled_measure *first_alpha(const dis_scaled_view *v)
{
    for (size_t m = 0; m < v->n_measures; m++)
        if (strncmp(v->measures[m].name, "alpha", 5) == 0 && !v->measures[m].value.reason) return &v->measures[m];
    return NULL;
}

typedef enum { ANSWER_YES, ANSWER_CARE, ANSWER_MUCH_CARE, ANSWER_NO, ANSWER_UNKNOWN } answer;

/* Fewer items say nothing: the interval is over items. */
enum { FEW_ITEMS = 10 };

static answer answer_of(const dis__report_job *job, const dis_scaled_measure *x)
{
    const dis_scaled_table *items = dis_scaled_find_table(job->scaled, "items");
    if (!x || x->value.degenerate || !items || items->n_rows < FEW_ITEMS) return ANSWER_UNKNOWN;
    const dis_metric *m = &x->value;
    if (!m->has_interval && job->r->resamples) return ANSWER_UNKNOWN;
    if (m->has_interval && m->ci_low <= 0) return m->ci_high > WIDE ? ANSWER_UNKNOWN : ANSWER_NO;
    return m->value >= RELIABLE ? ANSWER_YES : m->value >= TENTATIVE ? ANSWER_CARE : ANSWER_MUCH_CARE;
}

/* Whether labels of numbers, sets or spans can be used, by agreement alone. */
static answer add_verdict(dis__report_job *job, const dis_scaled_view *v)
{
    static const struct {
        const char *id, *words, *meaning;
    } answers[] = {
        {"yes", "Yes", "An alpha of at least 0.80 allows firm conclusions"},
        {"care", "Yes, with care", "An alpha from 0.67 to 0.80 allows tentative conclusions only"},
        {"care", "With much care", "Below an alpha of 0.67, labels of single items are uncertain"},
        {"no", "No", ""},
        {"unknown", "This cannot be told", ""},
    };
    const dis_scaled_measure *x = first_alpha(v);
    const dis_scaled_table *items = dis_scaled_find_table(job->scaled, "items");
    const answer a = answer_of(job, x);
    dis__markup text = {0};
    if (a == ANSWER_UNKNOWN) {
        dis__markup_append(&text, "Too few items have votes of two annotators to measure agreement. Mistakes cannot be "
                                  "found, and annotators cannot be assessed. Have two annotators label at least 50 of "
                                  "the same items.");
    } else if (a == ANSWER_NO) {
        dis__markup_append(&text, "Votes on the same item agree ");
        dis__report_append_chance_agreement(&text, "", &x->value, NULL);
        dis__markup_append(&text, ". Neither items nor annotators can be assessed from them. Check that the ids match "
                                  "the items, read the guidelines, and label 20 items together before you collect more "
                                  "votes.");
    } else {
        dis__markup_append(&text, "There is ");
        dis__report_append_chance_agreement(&text, "", &x->value, NULL);
        dis__markup_appendf(&text, ". %s; annotators agree least on ", answers[a].meaning);
        put_first_items(&text, items);
        dis__markup_append(&text, ". Discuss such items with the annotators, then check 50 labels by hand.");
    }
    dis__page_verdict_set(&job->page, "Can these labels be used?", answers[a].id, answers[a].words, &text);
    dis__markup_free(&text);
    return a;
}

static bool is_one_of(const char *name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, list[i]) == 0) return true;
    return false;
}

static void add_agreement_tile(dis__report_job *job, const dis_scaled_view *v)
{
    const bool is_pairwise = v->scale == DIS_SCALE_PAIRWISE;
    const dis_scaled_measure *x = is_pairwise && v->n_measures ? &v->measures[0] : first_alpha(v);
    if (!x || x->value.reason || x->value.degenerate) return;
    dis__page_tile_add(&job->page,
                       is_pairwise ? dis__format_percent(x->value.value).text
                                   : dis__format_fixed(x->value.value, 2).text,
                       is_pairwise ? "of votes agree on the same pair" : "agreement (alpha; 1 is full)");
}

/* Items and annotators that deserve a look; not where votes agree no more than chance. */
static dis_status add_next_steps(dis__report_job *job, const dis_scaled_view *v)
{
    static const char *const tables[] = {"items", "workers"};
    dis__page_section_begin(&job->page, "next", "What to do next",
                            v->scale == DIS_SCALE_PAIRWISE ? "Pairs to compare more often, and annotators to check."
                                                           : "Items and annotators to check.");
    DIS_TRY(dis__figure_span_texts(job));
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const dis_scaled_table *t = dis_scaled_find_table(job->scaled, tables[i]);
        if (!t || t->n_rows == 0) continue;
        if (i == 1 && v->scale == DIS_SCALE_NUMERIC)
            dis__figure_biases(job, t);
        else
            figure_table(job, t);
    }
    dis__page_section_end(&job->page);
    return DIS_OK;
}

dis_status dis__section_scaled(dis__report_job *job)
{
    if (!job->scaled) return DIS_OK;
    const dis_scaled_view v = dis_scaled_get_view(job->scaled);
    const scale_words *w = scale_words_find(v.scale);
    const bool is_pairwise = v.scale == DIS_SCALE_PAIRWISE;
    answer a = ANSWER_YES;
    if (w) add_size_finding(job, w);
    if (is_pairwise)
        dis__report_add_winner(job);
    else
        a = add_verdict(job, &v);
    if (a != ANSWER_UNKNOWN) add_agreement_tile(job, &v);
    const bool is_judged = a != ANSWER_NO && a != ANSWER_UNKNOWN;
    add_note_findings(job, &v);
    if (is_pairwise) { /* the result is the answer */
        dis__page_section_begin(&job->page, "results", "Results", "Who won, how certain each rank is, and the wins.");
        dis__figure_scaled(job);
        dis__figure_wins(job);
    }
    if (is_judged) DIS_TRY(add_next_steps(job, &v));
    dis__page_findings_put(&job->page);
    dis__page_section_begin(&job->page, "votes", is_pairwise ? "Agreement and scores" : "Results",
                            is_judged ? "Labels, and how well annotators agree." : "How well annotators agree.");
    if (!is_pairwise && a != ANSWER_NO) dis__figure_scaled(job);
    if (a != ANSWER_UNKNOWN) figure_measures(job, &v);
    static const char *const shown[] = {"items", "workers", "ranks"};
    for (size_t i = 0; i < v.n_tables && a != ANSWER_NO; i++)
        if (!is_one_of(v.tables[i].name, shown, sizeof shown / sizeof *shown)) figure_table(job, &v.tables[i]);
    dis__page_section_end(&job->page);
    return DIS_OK;
}
