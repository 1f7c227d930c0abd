/* How conditions do where people agree and where they are divided: items of all seeds and folds in bands by the entropy
 * of what people said of them, and of each band the accuracy, how sure the model is and how far from people. Bands
 * hold about equally many items of the first seed; items of one entropy stay together, so there may be fewer bands. The
 * cost is that of reading the predictions once. */
#include "experiment/report/experiment_report.h"
#include "core/memory/memory.h"
#include "dissent/labels.h"
#include "tool/arrays.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BANDS = 4, SHOWN = DIS__SERIES_COLOURS };

/* Sums over the items of a band; means once `divide` was called. */
typedef struct {
    double items, known; /* known: with a gold label */
    double entropy, right, sure, away;
} band;

typedef struct {
    const char *data, *set;
    double edge[BANDS]; /* the least entropy of each band */
    size_t n_bands, n_cells;
    const char *name[SHOWN];
    band cell[SHOWN][BANDS];
    bool gold;
} divided;

static double entropy_of(const dis__pooled *s, size_t item)
{
    return s->n_classes > 1 ? dis__entropy(s->human + item * s->n_classes, s->n_classes) / log((double)s->n_classes)
                            : 0;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static dis_status choose_bands(const dis__pooled *s, divided *d)
{
    double *h;
    DIS_TRY(dis__alloc_zeroed(&h, s->n_items + 1, sizeof *h));
    for (size_t i = 0; i < s->n_items; i++) h[i] = entropy_of(s, i);
    qsort(h, s->n_items, sizeof *h, by_size);
    d->edge[0] = 0;
    d->n_bands = 1;
    for (size_t b = 1; b < BANDS && s->n_items; b++) {
        const double least = h[b * s->n_items / BANDS];
        if (least > fmax(h[0], d->edge[d->n_bands - 1]) + 1e-9) d->edge[d->n_bands++] = least;
    }
    dis__free(h);
    return DIS_OK;
}

static void add_items(const dis__pooled *s, const divided *d, band *to)
{
    const size_t k = s->n_classes;
    for (size_t i = 0; i < s->n_items; i++) {
        const double h = entropy_of(s, i), *p = s->p + i * k, *human = s->human + i * k;
        size_t b = d->n_bands - 1;
        while (b > 0 && h < d->edge[b]) b--;
        to[b].items++;
        to[b].entropy += h;
        to[b].sure += p[s->label[i]];
        for (size_t c = 0; c < k; c++)
            if (human[c] > 0) to[b].away -= human[c] * log(fmax(p[c], 1e-12));
        to[b].known += s->gold[i] >= 0;
        to[b].right += s->gold[i] >= 0 && s->gold[i] == s->label[i];
    }
}

static void divide(band *b, size_t n)
{
    for (size_t i = 0; i < n; i++, b++) {
        b->entropy /= b->items;
        b->sure /= b->items;
        b->away /= b->items;
        b->right /= b->known; /* NaN: unknown */
    }
}

/* All seeds of one condition; the bands are those of the first condition with any */
static dis_status add_cell(dis__experiment_page *p, size_t cell, divided *d)
{
    const dis__plan *plan = p->e->plan;
    band sums[BANDS] = {{0}};
    for (size_t r = 0; r < plan->n_runs; r++) {
        dis__pooled s = {0};
        bool found = false;
        if (plan->run[r].cell != cell || plan->run[r].fold != 0 || p->known->state[r] != DIS_RUN_DONE) continue;
        dis_status status =
            dis__pool_folds(p->ctx, p->store, plan, p->known->state, cell, plan->run[r].seed, d->set, true, &s, &found);
        found = found && s.human && s.n_items;
        if (status == DIS_OK && found && d->n_bands == 0) status = choose_bands(&s, d);
        if (status == DIS_OK && found) add_items(&s, d, sums);
        dis__pooled_free(&s);
        DIS_TRY(status);
    }
    for (size_t b = 0; b < d->n_bands; b++)
        if (sums[b].items == 0) return DIS_OK;
    if (d->n_bands < 2) return DIS_OK;
    divide(sums, d->n_bands);
    d->gold |= sums[0].known > 0;
    d->name[d->n_cells] = plan->cell[cell].name;
    memcpy(d->cell[d->n_cells++], sums, sizeof sums);
    return DIS_OK;
}

/* ---- the charts ---- */

typedef double (*reading)(const band *b);

static double right_of(const band *b)
{
    return b->right;
}

static double sure_of(const band *b)
{
    return b->sure;
}

static double away_of(const band *b)
{
    return b->away;
}

/* clang-format off */
static const struct {
    reading value;
    const char *title, *question, *y_title, *about;
    bool gold;
} drawn[] = {
    {right_of, "Accuracy where people are divided, ", "Which condition is correct where people disagree?", "accuracy",
     "share of items that are answered correctly", true},
    {sure_of, "Confidence where people are divided, ", "Are models less confident where people disagree?",
     "mean probability of the answer", "confidence of the model in its answer", false},
    {away_of, "Cross-entropy where people are divided, ", "Which condition is close to people where they disagree?",
     "cross-entropy to people (nats)", "how far predictions are from the votes of people", false},
};
/* clang-format on */

static void put_numbers(dis__data_table *g, const divided *d, reading value)
{
    dis__data_table_add_column(g, "cell", DIS__CELL_TEXT);
    dis__data_table_add_column(g, "entropy of people", DIS__CELL_REAL);
    dis__data_table_add_column(g, "items, all seeds", DIS__CELL_COUNT);
    dis__data_table_add_column(g, "value", DIS__CELL_REAL);
    for (size_t c = 0; c < d->n_cells; c++)
        for (size_t b = 0; b < d->n_bands; b++) {
            dis__data_table_add_text(g, d->name[c], strlen(d->name[c]));
            dis__data_table_add_number(g, d->cell[c][b].entropy);
            dis__data_table_add_number(g, d->cell[c][b].items);
            dis__data_table_add_number(g, value(&d->cell[c][b]));
        }
}

static void draw(dis__experiment_page *p, const divided *d, size_t which)
{
    const reading value = drawn[which].value;
    double x[SHOWN][BANDS], y[SHOWN][BANDS], low = INFINITY, high = -INFINITY, near = 1, far = 0;
    dis__chart_line line[SHOWN];
    dis__markup title = {0};
    for (size_t c = 0; c < d->n_cells; c++) {
        for (size_t b = 0; b < d->n_bands; b++) {
            x[c][b] = d->cell[c][b].entropy;
            y[c][b] = value(&d->cell[c][b]);
            low = fmin(low, y[c][b]);
            high = fmax(high, y[c][b]);
            near = fmin(near, x[c][b]);
            far = fmax(far, x[c][b]);
        }
        line[c] = (dis__chart_line){.name = d->name[c], .x = x[c], .y = y[c], .n = d->n_bands};
    }
    const dis__figure_id id = dis__next_id(p, "divided");
    dis__put_set_title(p, &title, drawn[which].title, d->set, d->data);
    dis__figure f = {.id = id.text,
                     .title = title.status == DIS_OK ? title.bytes : "",
                     .question = drawn[which].question};
    dis__markup_append_name(&f.caption, d->data, strlen(d->data), 40);
    dis__markup_appendf(&f.caption,
                        ": %s, by how divided people are; items of all seeds in bands, each point at the mean of one.",
                        drawn[which].about);
    const dis__line_chart l = {.line = line,
                               .n = d->n_cells,
                               .x = dis__axis_scale_nice(near, far, 5, false),
                               .y = dis__axis_scale_nice(low, high, 5, false),
                               .x_title = "entropy of people (share of the largest)",
                               .y_title = drawn[which].y_title,
                               .marks = true};
    dis__line_chart_draw(&f.chart, &l, dis__figure_name(&f, "line chart"));
    put_numbers(&f.table, d, value);
    if (f.table.status == DIS_OK) f.table.status = title.status;
    dis__page_figure_add(p->page, &f);
    dis__markup_free(&title);
}

dis_status dis__divided_figures(dis__experiment_page *p, size_t first, size_t end, const char *set)
{
    divided *d;
    dis_status status = DIS_OK;
    DIS_TRY(dis__alloc_zeroed(&d, 1, sizeof *d));
    d->data = dis__row_cell(p, first)->data;
    d->set = set;
    for (size_t r = first; r < end && d->n_cells < SHOWN && status == DIS_OK; r++)
        status = add_cell(p, p->t.row[r].cell, d);
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn && status == DIS_OK && d->n_cells; i++)
        if (d->gold || !drawn[i].gold) draw(p, d, i);
    dis__free(d);
    return status;
}
