/* How people do: how divided they are, and predictions beside them on the items that divide them most. All from
 * predictions that were kept. */
#include "experiment/report/experiment_report.h"
#include "core/memory/memory.h"
#include "core/names/names_internal.h"
#include "dissent/labels.h"
#include "experiment/run/dataset.h"
#include "tool/arrays.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_ITEMS = 6, BINS = 20 };

dis_status dis__first_pooled(dis__experiment_page *p, size_t cell, const char *set, dis__pooled *out, bool *found)
{
    const dis__plan *plan = p->e->plan;
    *found = false;
    for (size_t r = 0; r < plan->n_runs && !*found; r++) {
        if (plan->run[r].cell != cell || p->known->state[r] != DIS_RUN_DONE) continue;
        DIS_TRY(
            dis__pool_folds(p->ctx, p->store, plan, p->known->state, cell, plan->run[r].seed, set, true, out, found));
        if (!*found) return DIS_OK; /* no predictions, or a fold is missing: probably also for the other seeds */
    }
    return DIS_OK;
}

/* Data of the two figures of one data set and set of items. */
typedef struct {
    const char *data, *set;
    size_t first, end; /* rows of the table */
    dis__pooled some;  /* of any cell: for people */
    bool found;
    uint64_t bin[BINS];
    double mean;
} people;

static void count_entropies(people *w)
{
    const size_t k = w->some.n_classes;
    for (size_t i = 0; i < w->some.n_items; i++) {
        const double h = k > 1 ? dis__entropy(w->some.human + i * k, k) / log((double)k) : 0;
        const size_t b = (size_t)(h * BINS);
        w->bin[b < BINS ? b : BINS - 1]++;
        w->mean += h / (double)w->some.n_items;
    }
}

/* Cells of a data set may be in several groups of rows, with the same people. */
static bool shown_before(const people *all, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (strcmp(all[j].data, all[i].data) == 0 && strcmp(all[j].set, all[i].set) == 0) return true;
    return false;
}

static void entropies(dis__experiment_page *p, const people *all, size_t n)
{
    enum { MAX = 8 };
    const char *panel[MAX];
    const uint64_t *count[MAX];
    double mean[MAX], edge[BINS + 1];
    dis__markup name[MAX] = {{0}};
    size_t shown = 0;
    dis__figure f = {.id = "human-entropies", .title = "Uncertainty of people", .question = "How divided are people?"};
    dis__markup_append(&f.caption,
                       "Entropy of what people said of an item, as a share of the largest possible: 0 is one answer, 1 "
                       "all answers alike. Dashed lines are means.");
    for (size_t b = 0; b <= BINS; b++) edge[b] = (double)b / BINS;
    dis__data_table_add_column(&f.table, "entropy, from", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "to", DIS__CELL_REAL);
    for (size_t i = 0; i < n && shown < MAX; i++) {
        dis__markup *m = &name[shown];
        if (shown_before(all, i)) continue;
        dis__markup_append_n(m, all[i].data, strlen(all[i].data));
        dis__markup_append(m, ", ");
        dis__markup_append_n(m, all[i].set, strlen(all[i].set) + 1);
        panel[shown] = m->status == DIS_OK ? m->bytes : "";
        count[shown] = all[i].bin;
        mean[shown] = all[i].mean;
        dis__data_table_add_named_column(&f.table, panel[shown], DIS__CELL_COUNT);
        if (f.table.status == DIS_OK) f.table.status = m->status;
        shown++;
    }
    for (size_t b = 0; b < BINS; b++) {
        dis__data_table_add_number(&f.table, edge[b]);
        dis__data_table_add_number(&f.table, edge[b + 1]);
        for (size_t i = 0; i < shown; i++) dis__data_table_add_number(&f.table, (double)count[i][b]);
    }
    const dis__histogram_panels panels = {.edge = edge,
                                          .n = BINS,
                                          .n_panels = shown,
                                          .panel = panel,
                                          .count = count,
                                          .mean = mean,
                                          .x_title = "entropy of people (share of the largest)",
                                          .unit = "items"};
    dis__histogram_panels_draw(&f.chart, &panels, dis__figure_name(&f, "one histogram per data set"));
    dis__page_figure_add(p->page, &f);
    for (size_t i = 0; i < shown; i++) dis__markup_free(&name[i]);
}

/* The cells of the data set that are closest to people and furthest (by KL, cross-entropy or JSD, the first that was
 * measured); without such a measure the last one and the first. */
static void by_distance(const dis__experiment_page *p, size_t first, size_t end, const char *set, size_t *close,
                        size_t *far)
{
    static const dis_evaluation_metric order[] = {DIS_EVALUATION_KL, DIS_EVALUATION_CROSS_ENTROPY, DIS_EVALUATION_JSD};
    const dis__plan *plan = p->e->plan;
    size_t near_row = end - 1, far_row = first;
    bool found = false;
    for (size_t o = 0; o < sizeof order / sizeof *order && !found; o++)
        for (size_t m = 0; m < plan->n_measures && !found; m++) {
            if (plan->measure[m].metric != order[o] || strcmp(plan->measure[m].set, set) != 0) continue;
            for (size_t r = first; r < end; r++) {
                const double x = p->t.row[r].values[m].mean;
                if (isnan(x)) continue;
                if (!found || x < p->t.row[near_row].values[m].mean) near_row = r;
                if (!found || x > p->t.row[far_row].values[m].mean) far_row = r;
                found = true;
            }
        }
    *close = p->t.row[near_row].cell;
    *far = p->t.row[far_row].cell;
}

/* The items with the most disagreement, ties by index. */
static size_t most_divided(const dis__pooled *s, size_t item[SHOWN_ITEMS])
{
    dis__top_item best[SHOWN_ITEMS];
    size_t n = 0;
    for (size_t i = 0; i < s->n_items; i++)
        n = dis__top_items_add(best, n, SHOWN_ITEMS,
                               (dis__top_item){.score = dis__entropy(s->human + i * s->n_classes, s->n_classes),
                                               .item = i});
    for (size_t i = 0; i < n; i++) item[i] = best[i].item;
    return n;
}

/* Classes by their share among the shown items' people; the last of DIS__SERIES_COLOURS parts gathers the rest. */
typedef struct {
    size_t class[DIS__SERIES_COLOURS];
    size_t n, n_parts;
} parts;

static parts choose_parts(const dis__pooled *s, const size_t *item, size_t n)
{
    parts c = {0};
    dis__top_item best[DIS__SERIES_COLOURS];
    const size_t max = s->n_classes <= DIS__SERIES_COLOURS ? s->n_classes : DIS__SERIES_COLOURS - 1;
    for (size_t k = 0; k < s->n_classes; k++) {
        double share = 0;
        for (size_t i = 0; i < n; i++) share += s->human[item[i] * s->n_classes + k];
        c.n = dis__top_items_add(best, c.n, max, (dis__top_item){.score = s->n_classes == max ? 0 : share, .item = k});
    }
    for (size_t i = 0; i < c.n; i++) c.class[i] = best[i].item;
    c.n_parts = c.n + (s->n_classes > c.n);
    return c;
}

static void copy_shares(const parts *c, const double *p, double *share)
{
    double rest = 1;
    for (size_t i = 0; i < c->n; i++) rest -= share[i] = p[c->class[i]];
    if (c->n_parts > c->n) share[c->n] = fmax(0, rest);
}

/* Items on which both models give the same label and one is much closer to people than the other, in KL(people ||
 * model). */
static size_t same_answer(const dis__pooled *other, const dis__pooled *close, size_t item[SHOWN_ITEMS])
{
    dis__top_item best[SHOWN_ITEMS];
    const size_t k = close->n_classes;
    size_t n = 0;
    for (size_t i = 0; i < close->n_items; i++) {
        if (close->label[i] != other->label[i]) continue;
        double gain = 0;
        for (size_t c = 0; c < k; c++) {
            const double human_share = close->human[i * k + c];
            if (human_share > 0)
                gain += human_share * log(fmax(close->p[i * k + c], 1e-12) / fmax(other->p[i * k + c], 1e-12));
        }
        if (gain > 0) n = dis__top_items_add(best, n, SHOWN_ITEMS, (dis__top_item){.score = gain, .item = i});
    }
    for (size_t i = 0; i < n; i++) item[i] = best[i].item;
    return n;
}

/* Two conditions, or one, compared with people. */
typedef struct {
    const dis__pooled *close, *other;    /* of the same items in the same order; other NULL: none */
    const dis_names *texts;              /* of the tasks of `close`; NULL: unknown */
    const char *close_name, *other_name; /* of the cells */
    bool baseline;                       /* the other one is the baseline; otherwise it is the furthest from people */
} two_cells;

/* A cell's name that is short enough to be placed next to its bar. */
static bool fits_beside(const char *name)
{
    return dis__text_width(name) <= 140;
}

static void draw_items(dis__experiment_page *p, const people *w, const two_cells *pair, const size_t *item, size_t n,
                       const char *title_ours, const char *question, const char *about)
{
    const dis__pooled *close = pair->close, *other = pair->other;
    const bool named = fits_beside(pair->close_name) && (!other || fits_beside(pair->other_name));
    const char *const bars[] = {
        "people",
        !other  ? named ? pair->close_name : "model"
        : named ? pair->other_name
                : (pair->baseline ? "baseline" : "furthest"),
        named ? pair->close_name : "closest",
    };
    const size_t n_bars = other ? 3 : 2, k = close->n_classes;
    const parts c = choose_parts(close, item, n);
    const char *row[SHOWN_ITEMS], *text[SHOWN_ITEMS], *part[DIS__SERIES_COLOURS];
    double share[SHOWN_ITEMS * 3 * DIS__SERIES_COLOURS];
    for (size_t i = 0; i < c.n; i++) part[i] = dis_names_get(close->classes, c.class[i], NULL);
    if (c.n_parts > c.n) part[c.n] = "other classes";
    for (size_t i = 0; i < n; i++) {
        const double *const from[] = {close->human + item[i] * k, (other ? other : close)->p + item[i] * k,
                                      close->p + item[i] * k};
        row[i] = dis_names_get(close->tasks, item[i], NULL);
        text[i] = pair->texts ? dis_names_get(pair->texts, item[i], NULL) : "";
        for (size_t b = 0; b < n_bars; b++) copy_shares(&c, from[b], share + (i * n_bars + b) * c.n_parts);
    }
    const dis__figure_id id = dis__next_id(p, "beside-people");
    dis__markup title = {0};
    dis__put_set_title(p, &title, title_ours, w->set, w->data);
    dis__figure f = {.id = id.text, .title = title.status == DIS_OK ? title.bytes : "", .question = question};
    dis__markup_append_name(&f.caption, w->data, strlen(w->data), 40);
    dis__markup_appendf(&f.caption, ": %s ", about);
    if (other) {
        dis__markup_append_name(&f.caption, pair->other_name, strlen(pair->other_name), 40);
        dis__markup_append(&f.caption, pair->baseline ? " (baseline) and " : " (furthest from people) and ");
    }
    dis__markup_append_name(&f.caption, pair->close_name, strlen(pair->close_name), 40);
    dis__markup_append(&f.caption, other ? " (closest to people), of the first seed." : ", of the first seed.");
    const dis__stacked_bar_chart stack = {.row = row,
                                          .text = pair->texts ? text : NULL,
                                          .bar = bars,
                                          .n = n,
                                          .n_bars = n_bars,
                                          .part = part,
                                          .n_parts = c.n_parts,
                                          .share = share};
    dis__stacked_bar_chart_draw(&f.chart, &stack, dis__figure_name(&f, "stacked bars"));
    dis__data_table_add_column(&f.table, "item", DIS__CELL_TEXT);
    if (pair->texts) dis__data_table_add_column(&f.table, "text", DIS__CELL_ITEM_TEXT);
    dis__data_table_add_column(&f.table, "who", DIS__CELL_TEXT);
    for (size_t i = 0; i < c.n_parts; i++) dis__data_table_add_named_column(&f.table, part[i], DIS__CELL_PERCENT);
    for (size_t i = 0; i < n; i++)
        for (size_t b = 0; b < n_bars; b++) {
            dis__data_table_add_text(&f.table, row[i], strlen(row[i]));
            if (pair->texts) dis__data_table_add_text(&f.table, text[i], strlen(text[i]));
            dis__data_table_add_text(&f.table, bars[b], strlen(bars[b]));
            for (size_t s = 0; s < c.n_parts; s++)
                dis__data_table_add_number(&f.table, share[(i * n_bars + b) * c.n_parts + s]);
        }
    if (f.table.status == DIS_OK) f.table.status = title.status;
    dis__page_figure_add(p->page, &f);
    dis__markup_free(&title);
}

static void draw_pair(dis__experiment_page *p, const people *w, const two_cells *pair)
{
    size_t item[SHOWN_ITEMS];
    size_t n = most_divided(pair->close, item);
    draw_items(p, w, pair, item, n, "The items that divide people most, ",
               "What do models predict where people disagree most?", "votes of people, and the predictions of");
    n = pair->other ? same_answer(pair->other, pair->close, item) : 0;
    if (n)
        draw_items(p, w, pair, item, n, "The same answer, other confidence, ",
                   "Where do two models give the same answer with different confidence?",
                   "items on which both answer the same, but the confidence of one is far nearer to that of people:");
}

/* The name of a cell among those of its data set. */
static const char *name_among(const dis__experiment_page *p, const people *w, size_t cell)
{
    for (size_t r = w->first; r < w->end; r++)
        if (p->t.row[r].cell == cell) return dis__short_name(p, w->first, w->end, r);
    return p->e->plan->cell[cell].name;
}

static const dis__data *find_data(const dis__plan *plan, const char *name)
{
    const dis__plan_internal *p = dis__plan_internal_of(plan);
    for (size_t d = 0; d < p->file.data.n; d++)
        if (strcmp(p->data[d].name, name) == 0) return &p->data[d];
    return NULL;
}

static dis_status beside_people(dis__experiment_page *p, const people *w)
{
    const dis__plan *plan = p->e->plan;
    size_t close, other;
    dis__pooled a = {0}, b = {0};
    bool found_a = false, found_b = false;
    by_distance(p, w->first, w->end, w->set, &close, &other);
    const size_t baseline = plan->cell[close].baseline;
    if (baseline != SIZE_MAX && baseline != close) other = baseline;
    DIS_TRY(dis__first_pooled(p, close, w->set, &a, &found_a));
    dis_status status = DIS_OK;
    if (found_a && other != close) status = dis__first_pooled(p, other, w->set, &b, &found_b);
    const bool same =
        status == DIS_OK && found_b && dis__names_equal(a.tasks, b.tasks) && dis__names_equal(a.classes, b.classes);
    const dis__data *data = find_data(plan, w->data);
    dis_names *texts = NULL;
    if (status == DIS_OK && found_a && data) status = dis__dataset_read_texts(p->ctx, data, w->set, a.tasks, &texts);
    const two_cells two = {.close = &a,
                           .other = same ? &b : NULL,
                           .texts = texts,
                           .close_name = name_among(p, w, close),
                           .other_name = name_among(p, w, other),
                           .baseline = other == baseline};
    if (status == DIS_OK && found_a && a.human) draw_pair(p, w, &two);
    dis_names_destroy(texts);
    dis__pooled_free(&a);
    dis__pooled_free(&b);
    return status;
}

/* What is known of people in each data set and set of items. */
static dis_status gather_people(dis__experiment_page *p, people *all, size_t max, size_t *n)
{
    for (size_t first = 0, end; first < p->t.n_rows; first = end) {
        end = dis__data_end(p, first);
        const char *set;
        for (size_t next = 0; *n < max && dis__next_set(p->e->plan, &next, &set);) {
            people *w = &all[*n];
            for (size_t r = first; r < end && !w->found; r++)
                DIS_TRY(dis__first_pooled(p, p->t.row[r].cell, set, &w->some, &w->found));
            if (w->found && w->some.human) {
                w->data = dis__row_cell(p, first)->data;
                w->set = set;
                w->first = first;
                w->end = end;
                count_entropies(w);
                ++*n;
            } else {
                dis__pooled_free(&w->some);
                w->found = false;
            }
        }
    }
    return DIS_OK;
}

dis_status dis__experiment_people(dis__experiment_page *p)
{
    enum { MAX = 16 };
    people *all;
    size_t n = 0;
    if (!p->store) return DIS_OK;
    DIS_TRY(dis__alloc_zeroed(&all, MAX + 1, sizeof *all));
    dis_status status = gather_people(p, all, MAX, &n);
    if (status == DIS_OK && n) {
        dis__page_section_begin(p->page, "people", "People",
                                "Agreement of people on the items of the evaluation, compared with the models.");
        for (size_t i = 0; i < n && status == DIS_OK; i++) {
            status = beside_people(p, &all[i]);
            if (status == DIS_OK) status = dis__divided_figures(p, all[i].first, all[i].end, all[i].set);
        }
        if (status == DIS_OK) entropies(p, all, n);
        dis__page_section_end(p->page);
    }
    for (size_t i = 0; i <= MAX; i++) dis__pooled_free(&all[i].some);
    dis__free(all);
    return status;
}
