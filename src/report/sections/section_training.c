/* Training: how each model came to be, epoch by epoch.
 *
 * Runs of one name are a series: each is drawn thin, their mean thick over the epochs that all of them reached (a mean
 * over those that were left would jump where one stops). A single run is its own mean. Long runs are drawn at every
 * n-th epoch and their last. */
#include "report/report_internal.h"
#include "core/memory/memory.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SERIES = DIS__REPORT_SHOWN_VIEWS, MAX_RUNS = 30, MAX_POINTS = 100 };

/* What is drawn of an epoch. */
typedef double (*reading)(const dis_epoch *e);

static double loss_of(const dis_epoch *e)
{
    return e->loss;
}

static double dev_of(const dis_epoch *e)
{
    return e->dev;
}

static double cross_entropy_of(const dis_epoch *e)
{
    return e->dev_cross_entropy;
}

typedef struct {
    const char *name;
    const dis__report_curve *run[MAX_RUNS];
    size_t n;             /* runs that are drawn */
    size_t common_epochs; /* epochs that all of them reached */
    double x[MAX_POINTS + 1], mean[MAX_POINTS + 1], low[MAX_POINTS + 1], high[MAX_POINTS + 1];
    size_t n_points;
    size_t best, selected_point; /* points: of the best mean, and nearest to the median kept epoch */
    dis__chart_line thin[MAX_RUNS];
    double thin_x[MAX_RUNS][MAX_POINTS + 1], thin_y[MAX_RUNS][MAX_POINTS + 1];
} series;

typedef struct {
    series one[MAX_SERIES];
    size_t n;
    double min, max, longest;
} series_list;

/* Curves of the same name make one series. `keep` not NULL: only those that were kept by it. */
static void gather(const dis_report *r, const dis_evaluation_metric_row *keep, series_list *m)
{
    memset(m, 0, sizeof *m);
    for (size_t i = 0; i < r->n_curves; i++) {
        const dis__report_curve *c = &r->curve[i];
        if (keep && c->keep != keep) continue;
        size_t s = 0;
        while (s < m->n && strcmp(m->one[s].name, c->name) != 0) s++;
        if (s == MAX_SERIES) continue;
        series *one = &m->one[s];
        if (s == m->n) *one = (series){.name = c->name, .common_epochs = SIZE_MAX};
        if (s == m->n) m->n++;
        if (one->n == MAX_RUNS) continue;
        one->run[one->n++] = c;
        if (c->n_epochs < one->common_epochs) one->common_epochs = c->n_epochs;
    }
}

/* Every stride-th epoch of n and the last; returns how many. */
static size_t pick_epochs(size_t n, size_t *epoch)
{
    const size_t stride = 1 + (n - 1) / MAX_POINTS;
    size_t k = 0;
    for (size_t e = 0; e < n; e += stride) epoch[k++] = e;
    if (epoch[k - 1] != n - 1) epoch[k++] = n - 1;
    return k;
}

static void draw_run(series_list *m, series *s, size_t i, reading value)
{
    size_t epoch[MAX_POINTS + 1];
    const dis__report_curve *c = s->run[i];
    dis__chart_line *l = &s->thin[i];
    *l = (dis__chart_line){.x = s->thin_x[i], .y = s->thin_y[i], .n = pick_epochs(c->n_epochs, epoch)};
    for (size_t k = 0; k < l->n; k++) {
        const double y = value(&c->epoch[epoch[k]]);
        s->thin_x[i][k] = (double)(epoch[k] + 1);
        s->thin_y[i][k] = y;
        if (!isfinite(y)) continue;
        m->min = fmin(m->min, y);
        m->max = fmax(m->max, y);
    }
    m->longest = fmax(m->longest, (double)c->n_epochs);
}

static void average(series *s, reading value, bool lower)
{
    size_t epoch[MAX_POINTS + 1], selected_point[MAX_RUNS];
    s->n_points = pick_epochs(s->common_epochs, epoch);
    s->best = SIZE_MAX;
    for (size_t k = 0; k < s->n_points; k++) {
        double sum = 0;
        s->low[k] = INFINITY;
        s->high[k] = -INFINITY;
        for (size_t i = 0; i < s->n; i++) {
            const double y = value(&s->run[i]->epoch[epoch[k]]);
            sum += y;
            s->low[k] = fmin(s->low[k], y);
            s->high[k] = fmax(s->high[k], y);
        }
        s->x[k] = (double)(epoch[k] + 1);
        s->mean[k] = sum / (double)s->n;
        if (!isfinite(s->mean[k])) continue;
        if (s->best == SIZE_MAX || (lower ? s->mean[k] < s->mean[s->best] : s->mean[k] > s->mean[s->best])) s->best = k;
    }
    for (size_t i = 0; i < s->n; i++) { /* sorted by insertion */
        size_t at = i;
        for (; at > 0 && selected_point[at - 1] > s->run[i]->best_epoch; at--)
            selected_point[at] = selected_point[at - 1];
        selected_point[at] = s->run[i]->best_epoch;
    }
    s->selected_point = 0;
    for (size_t k = 0; k < s->n_points; k++)
        if (epoch[k] <= selected_point[(s->n - 1) / 2]) s->selected_point = k;
}

static void put_name(dis__markup *m, const char *name)
{
    dis__markup_append(m, "\xE2\x80\x9C");
    dis__markup_append_name(m, name, strlen(name), 30);
    dis__markup_append(m, "\xE2\x80\x9D");
}

static bool rises_again(const series *s)
{
    return s->best != SIZE_MAX && s->mean[s->n_points - 1] > s->mean[s->best] + .05 * fabs(s->mean[s->best]);
}

/* The best of all series, and how many get worse again: the table has the rest. */
static void append_best_of_many(dis__markup *m, const series_list *all, bool lower, bool worsens)
{
    const series *top = NULL;
    size_t n = 0, rising = 0;
    for (size_t s = 0; s < all->n; s++) {
        const series *one = &all->one[s];
        if (one->best == SIZE_MAX) continue;
        n++;
        rising += rises_again(one);
        if (!top || (lower ? one->mean[one->best] < top->mean[top->best] : one->mean[one->best] > top->mean[top->best]))
            top = one;
    }
    if (!top) return;
    put_name(m, top->name);
    dis__markup_appendf(m, " is %s of %zu, %s at epoch %s. ", lower ? "lowest" : "best", n,
                        dis__format_fixed(top->mean[top->best], 3).text, dis__format_fixed(top->x[top->best], 0).text);
    if (worsens && rising)
        dis__markup_appendf(
            m, "%zu of them rise again by the last epoch: the models become overconfident on these items. ", rising);
}

/* Where each series is best, and which of them get worse again. */
static void add_best_finding(dis__markup *m, const series_list *all, bool lower, bool worsens)
{
    enum { MAX_NAMED = 3 };
    if (all->n > MAX_NAMED) {
        append_best_of_many(m, all, lower, worsens);
        return;
    }
    for (size_t s = 0; s < all->n; s++) {
        const series *one = &all->one[s];
        if (one->best == SIZE_MAX) continue;
        put_name(m, one->name);
        dis__markup_appendf(m, " is %s at epoch %s with %s", lower ? "lowest" : "best",
                            dis__format_fixed(one->x[one->best], 0).text,
                            dis__format_fixed(one->mean[one->best], 3).text);
        if (worsens && rises_again(one))
            dis__markup_appendf(m, " and rises to %s by the last: it becomes overconfident on these items",
                                dis__format_fixed(one->mean[one->n_points - 1], 3).text);
        dis__markup_append(m, s + 1 < all->n ? "; " : ". ");
    }
}

static void put_numbers(dis__figure *f, const series_list *m)
{
    bool several = false;
    for (size_t s = 0; s < m->n; s++) several |= m->one[s].n > 1;
    dis__data_table_add_column(&f->table, "model", DIS__CELL_TEXT);
    dis__data_table_add_column(&f->table, "epoch", DIS__CELL_COUNT);
    dis__data_table_add_column(&f->table, several ? "mean" : "value", DIS__CELL_REAL);
    if (several) {
        dis__data_table_add_column(&f->table, "least", DIS__CELL_REAL);
        dis__data_table_add_column(&f->table, "most", DIS__CELL_REAL);
        dis__data_table_add_column(&f->table, "runs", DIS__CELL_COUNT);
    }
    for (size_t s = 0; s < m->n; s++)
        for (size_t k = 0; k < m->one[s].n_points; k++) {
            const series *one = &m->one[s];
            if (!isfinite(one->mean[k])) continue;
            dis__data_table_add_text(&f->table, one->name, strlen(one->name));
            dis__data_table_add_number(&f->table, one->x[k]);
            dis__data_table_add_number(&f->table, one->mean[k]);
            if (!several) continue;
            dis__data_table_add_number(&f->table, one->low[k]);
            dis__data_table_add_number(&f->table, one->high[k]);
            dis__data_table_add_number(&f->table, (double)one->n);
        }
}

/* One chart of all series; nothing where no epoch has the number. */
static void draw(dis__report_job *job, series_list *m, dis__figure *f, reading value, bool lower, const char *y_title)
{
    dis__chart_line line[MAX_SERIES];
    size_t max_runs = 0, n = 0;
    m->min = INFINITY;
    m->max = -INFINITY;
    for (size_t s = 0; s < m->n; s++) {
        series *one = &m->one[s];
        for (size_t i = 0; i < one->n; i++) draw_run(m, one, i, value);
        average(one, value, lower);
        if (one->best == SIZE_MAX) continue; /* never measured here */
        line[n++] = (dis__chart_line){.name = one->name,
                                      .x = one->x,
                                      .y = one->mean,
                                      .n = one->n_points,
                                      .thin = one->thin,
                                      .n_thin = one->n > 1 ? one->n : 0,
                                      .marked = one->selected_point + 1};
        if (one->n > max_runs) max_runs = one->n;
    }
    if (n == 0) return;
    add_best_finding(&f->caption, m, lower, value == cross_entropy_of);
    if (value == loss_of)
        dis__markup_append(&f->caption,
                           "Losses of different objectives have different floors: compare shapes, not heights. ");
    if (max_runs > 1)
        dis__markup_append(&f->caption,
                           "Thin lines are single seeds, thick ones their means; a shape marks the median epoch "
                           "that was kept.");
    else
        dis__markup_append(&f->caption, "A shape marks the epoch that was kept.");
    const dis__line_chart l = {.line = line,
                               .n = n,
                               .x = dis__axis_scale_nice(1, m->longest, 6, true),
                               .y = dis__axis_scale_nice(m->min, m->max, 5, false),
                               .x_title = "epoch",
                               .y_title = y_title};
    dis__line_chart_draw(&f->chart, &l, dis__figure_name(f, "line chart"));
    put_numbers(f, m);
    dis__page_figure_add(&job->page, f);
}

/* The metric by which epochs were kept, one chart per metric. */
static void draw_selected_epochs(dis__report_job *job, series_list *m)
{
    const dis_report *r = job->r;
    for (size_t i = 0; i < DIS_EVALUATION_METRICS; i++) {
        const dis_evaluation_metric_row *row = dis_evaluation_metric_get(i);
        if (strcmp(row->name, "cross_entropy") == 0) continue; /* has a chart of its own */
        gather(r, row, m);
        if (m->n == 0) continue;
        char id[96], unit[DIS__METRIC_UNIT], y_title[128];
        snprintf(id, sizeof id, "dev-%s", row->name);
        snprintf(y_title, sizeof y_title, "%s, development set%s", row->title, dis__metric_unit(i, unit));
        for (char *s = id; *s; s++)
            if (*s == '_') *s = '-';
        dis__figure f = {.id = id,
                         .title = "Metric after each epoch",
                         .question = "How good is the model after each epoch?"};
        draw(job, m, &f, dev_of, strcmp(row->better, "lower") == 0, y_title);
    }
}

dis_status dis__section_training(dis__report_job *job)
{
    const dis_report *r = job->r;
    series_list *m;
    if (r->n_curves == 0) return DIS_OK;
    DIS_TRY(dis__alloc_zeroed(&m, 1, sizeof *m));
    dis__page_section_begin(&job->page, "training", "Training",
                            "Training loss, and metrics on held-out items, after each epoch.");
    draw_selected_epochs(job, m);
    gather(r, NULL, m);
    dis__figure dev = {.id = "dev-cross-entropy",
                       .title = "Cross-entropy on held-out items",
                       .question = "Does the loss on held-out items still fall?"};
    draw(job, m, &dev, cross_entropy_of, true, "cross-entropy, development set (nats)");
    dis__figure loss = {.id = "training-loss",
                        .title = "Loss on the training items",
                        .question = "Does the training loss still fall?"};
    draw(job, m, &loss, loss_of, true, "mean loss of the epoch");
    dis__page_section_end(&job->page);
    dis__free(m);
    return DIS_OK;
}
