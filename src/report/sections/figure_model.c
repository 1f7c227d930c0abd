/* Charts about predictions: calibration, uncertainty of model and people, distance from people, what is mistaken for
 * what. */
#include "report/sections/figure_model.h"
#include "core/memory/memory.h"
#include <math.h>
#include <string.h>

#define Z_95 1.959963984540054

enum { LEAST_ITEMS = 5 };

enum { MAX = DIS__REPORT_SHOWN_VIEWS };

static size_t max_shown(const dis__report_job *job)
{
    return job->r->n_predictions < MAX ? job->r->n_predictions : MAX;
}

/* ---- calibration ---- */

void dis__figure_reliability(dis__report_job *job)
{
    double x[MAX][DIS_EVALUATION_MAX_BINS], y[MAX][DIS_EVALUATION_MAX_BINS];
    dis__chart_line line[MAX] = {{0}};
    size_t n = 0;
    dis__figure f = {.id = "reliability", .title = "Calibration", .question = "Is the model calibrated?"};
    dis__data_table_add_column(&f.table, "model", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "confidence, from", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "to", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "items", DIS__CELL_COUNT);
    dis__data_table_add_column(&f.table, "mean confidence", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "accuracy", DIS__CELL_REAL);
    for (size_t m = 0; m < max_shown(job); m++) {
        const dis_evaluation_view *e = job->model[m];
        if (!e->bin || !dis__evaluation_has(e, DIS_EVALUATION_ECE)) continue;
        const char *name = job->r->prediction[m].name;
        line[n] = (dis__chart_line){.name = name, .x = x[n], .y = y[n]};
        for (size_t b = 0; b < e->n_bins; b++) {
            const dis_reliability_bin *bin = &e->bin[b];
            dis__data_table_add_text(&f.table, name, strlen(name));
            dis__data_table_add_number(&f.table, bin->low);
            dis__data_table_add_number(&f.table, bin->high);
            dis__data_table_add_number(&f.table, (double)bin->n);
            dis__data_table_add_number(&f.table, bin->n ? bin->confidence : (double)NAN);
            dis__data_table_add_number(&f.table, bin->n ? bin->accuracy : (double)NAN);
            if (bin->n < LEAST_ITEMS) continue; /* a share of fewer items says nothing */
            x[n][line[n].n] = bin->confidence;
            y[n][line[n].n++] = bin->accuracy;
        }
        const dis_metric *accuracy = &e->metric[DIS_EVALUATION_ACCURACY];
        const double gap = e->metric[DIS_EVALUATION_CONFIDENCE].value - accuracy->value;
        const double reach = Z_95 * sqrt(accuracy->value * (1 - accuracy->value) / fmax(1, (double)accuracy->n));
        dis__report_append_model_name(&f.caption, job, m);
        dis__markup_appendf(&f.caption, " has an expected calibration error of %s: %s. ",
                            dis__format_fixed(e->metric[DIS_EVALUATION_ECE].value, 3).text,
                            gap > reach    ? "it is overconfident"
                            : gap < -reach ? "it is underconfident"
                                           : "no clear over- or underconfidence");
        n++;
    }
    if (n == 0) {
        dis__markup_free(&f.caption);
        dis__data_table_free(&f.table);
        return;
    }
    dis__markup_append(&f.caption,
                       "Points below the dashed diagonal are overconfident predictions. Bins with fewer than 5 "
                       "items are left out.");
    const dis__axis_scale unit = {.high = 1, .step = .2};
    const dis__line_chart l = {.line = line,
                               .n = n,
                               .x = unit,
                               .y = unit,
                               .x_title = "confidence of the answer",
                               .y_title = "share of these predictions that are correct",
                               .diagonal = true,
                               .marks = true};
    dis__line_chart_draw(&f.chart, &l, dis__figure_name(&f, "reliability diagram"));
    dis__page_figure_add(&job->page, &f);
}

/* ---- uncertainty of model and people ---- */

dis_status dis__figure_entropies(dis__report_job *job, size_t model)
{
    enum { RASTER = 24 };
    const dis_evaluation_view *e = job->model[model];
    const double *of_model = dis_evaluation_values(e, DIS_EVALUATION_MODEL_ENTROPY);
    const double *of_people = dis_evaluation_values(e, DIS_EVALUATION_HUMAN_ENTROPY);
    if (!of_model || !of_people || e->n_classes < 2) return DIS_OK;
    uint64_t *count;
    DIS_TRY(dis__alloc_zeroed(&count, RASTER * RASTER, sizeof *count));
    const double scale = RASTER / log((double)e->n_classes);
    size_t n_confident = 0, n_divided = 0;
    for (size_t i = 0; i < e->n_items; i++) {
        const double p = of_people[i] * scale, q = of_model[i] * scale;
        const size_t x = p < RASTER ? (size_t)p : RASTER - 1, y = q < RASTER ? (size_t)q : RASTER - 1;
        count[y * RASTER + x]++;
        n_divided += p > RASTER / 2.0;
        n_confident += p > RASTER / 2.0 && q < RASTER / 4.0;
    }
    dis__figure f = {.id = "entropy-correlation",
                     .title = "Uncertainty of model and people",
                     .question = "Is the model uncertain where people disagree?"};
    if (dis__evaluation_has(e, DIS_EVALUATION_ENTROPY_CORRELATION)) {
        dis__markup_append(&f.caption, "The uncertainty of ");
        dis__report_append_model_name(&f.caption, job, model);
        dis__markup_appendf(&f.caption, " and that of people go together at a correlation of %s. ",
                            dis__format_fixed(e->metric[DIS_EVALUATION_ENTROPY_CORRELATION].value, 2).text);
    }
    if (n_divided && n_confident == 0)
        dis__markup_appendf(&f.caption, "Of the %s items that divide people it is confident on none. ",
                            dis__format_grouped(n_divided).text);
    else if (n_divided)
        dis__markup_appendf(&f.caption,
                            "Of the %s items that divide people, it is confident on %s (%s), bottom right. ",
                            dis__format_grouped(n_divided).text, dis__format_grouped(n_confident).text,
                            dis__format_percent((double)n_confident / (double)n_divided).text);
    dis__markup_append(&f.caption, "On the dashed diagonal both are equally uncertain.");
    const dis__axis_scale unit = {.high = 1, .step = .2};
    const dis__density_chart d = {.count = count,
                                  .n_x = RASTER,
                                  .n_y = RASTER,
                                  .sx = unit,
                                  .sy = unit,
                                  .x_title = "entropy of people (share of the largest)",
                                  .y_title = "entropy of the model (share of the largest)",
                                  .unit = "items",
                                  .diagonal = true};
    dis__density_chart_draw(&f.chart, &d, dis__figure_name(&f, "raster"));
    dis__data_table_add_column(&f.table, "entropy of people, from", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "entropy of the model, from", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "items", DIS__CELL_COUNT);
    for (size_t i = 0; i < RASTER * RASTER; i++) {
        if (count[i] == 0) continue;
        const size_t x = i % RASTER, y = i / RASTER;
        dis__data_table_add_number(&f.table, (double)x / RASTER);
        dis__data_table_add_number(&f.table, (double)y / RASTER);
        dis__data_table_add_number(&f.table, (double)count[i]);
    }
    dis__page_figure_add(&job->page, &f);
    dis__free(count);
    return DIS_OK;
}

/* ---- distance from people ---- */

dis_status dis__figure_divergences(dis__report_job *job)
{
    enum { BINS = 28 };
    const double width = .025; /* to .7, just past log 2 */
    uint64_t *counts;
    DIS_TRY(dis__alloc_zeroed(&counts, (size_t)MAX * BINS, sizeof *counts));
    const char *names[MAX];
    const uint64_t *rows[MAX];
    double mean[MAX], edge[BINS + 1];
    size_t n = 0, close = 0, far = 0;
    for (size_t b = 0; b <= BINS; b++) edge[b] = width * (double)b;
    for (size_t m = 0; m < max_shown(job); m++) {
        const dis_evaluation_view *e = job->model[m];
        const double *divergence = dis_evaluation_values(e, DIS_EVALUATION_JSD);
        if (!divergence || !dis__evaluation_has(e, DIS_EVALUATION_JSD)) continue;
        uint64_t *row = counts + n * BINS;
        for (size_t i = 0; i < e->n_items; i++) {
            const size_t b = (size_t)(fmax(0, divergence[i]) / width);
            row[b < BINS ? b : BINS - 1]++;
        }
        names[n] = job->r->prediction[m].name;
        rows[n] = row;
        mean[n] = e->metric[DIS_EVALUATION_JSD].value;
        if (mean[n] < mean[close]) close = n;
        if (mean[n] > mean[far]) far = n;
        n++;
    }
    if (n) {
        dis__figure f = {.id = "distance-to-people",
                         .title = "Distance from human labels",
                         .question = "How far are predictions from human labels?"};
        dis__markup_append(
            &f.caption, "Jensen-Shannon divergence of each item: 0 is the same distribution, 0.69 nothing in common. ");
        dis__markup_append_name(&f.caption, names[close], strlen(names[close]), 30);
        dis__markup_appendf(&f.caption, n > 1 ? " is closest on average (%s), " : " is %s away on average.",
                            dis__format_fixed(mean[close], 3).text);
        if (n > 1) {
            dis__markup_append_name(&f.caption, names[far], strlen(names[far]), 30);
            dis__markup_appendf(&f.caption, " furthest (%s).", dis__format_fixed(mean[far], 3).text);
        }
        const dis__histogram_panels p = {.edge = edge,
                                         .n = BINS,
                                         .n_panels = n,
                                         .panel = names,
                                         .count = rows,
                                         .mean = mean,
                                         .x_title = "divergence of an item from people (nats)",
                                         .unit = "items"};
        dis__histogram_panels_draw(&f.chart, &p, dis__figure_name(&f, "one histogram per model"));
        dis__data_table_add_column(&f.table, "divergence, from", DIS__CELL_REAL);
        dis__data_table_add_column(&f.table, "to", DIS__CELL_REAL);
        for (size_t i = 0; i < n; i++) dis__data_table_add_named_column(&f.table, names[i], DIS__CELL_COUNT);
        for (size_t b = 0; b < BINS; b++) {
            dis__data_table_add_number(&f.table, edge[b]);
            dis__data_table_add_number(&f.table, edge[b + 1]);
            for (size_t i = 0; i < n; i++) dis__data_table_add_number(&f.table, (double)rows[i][b]);
        }
        dis__page_figure_add(&job->page, &f);
    }
    dis__free(counts);
    return DIS_OK;
}

/* ---- what is mistaken for what ---- */

typedef struct {
    size_t class[DIS__REPORT_SHOWN_CLASSES], n;
} choice;

/* The classes with most gold labels; few enough: all, in their order. */
static choice frequent(const dis_evaluation_view *e)
{
    choice c = {0};
    dis__top_item best[DIS__REPORT_SHOWN_CLASSES];
    const bool all = e->n_classes <= DIS__REPORT_SHOWN_CLASSES;
    for (size_t k = 0; k < e->n_classes; k++)
        c.n = dis__top_items_add(best, c.n, DIS__REPORT_SHOWN_CLASSES,
                                 (dis__top_item){.score = all ? 0 : (double)e->classes[k].n_gold, .item = k});
    for (size_t i = 0; i < c.n; i++) c.class[i] = best[i].item;
    return c;
}

/* Scores of each class and, if there are few, how often each was answered. */
static void fill_confusion(const dis_names *classes, const dis_evaluation_view *e, const choice *c,
                           dis__data_table *table)
{
    dis__data_table_add_column(table, "class", DIS__CELL_TEXT);
    dis__data_table_add_column(table, "known", DIS__CELL_COUNT);
    dis__data_table_add_column(table, "answered", DIS__CELL_COUNT);
    dis__data_table_add_column(table, "precision", DIS__CELL_REAL);
    dis__data_table_add_column(table, "recall", DIS__CELL_REAL);
    dis__data_table_add_column(table, "F1", DIS__CELL_REAL);
    enum { MAX_ROWS = 500, MAX_CELLS = 20 };
    for (size_t i = 0; i < c->n && c->n <= MAX_CELLS; i++)
        dis__data_table_add_named_column(table, dis_names_get(classes, c->class[i], NULL),
                                         DIS__CELL_COUNT); /* how often each class was answered */
    for (size_t k = 0; k < e->n_classes && k < MAX_ROWS; k++) {
        const dis_class_scores *s = &e->classes[k];
        const char *one = dis_names_get(classes, k, NULL);
        dis__data_table_add_text(table, one, strlen(one));
        dis__data_table_add_number(table, (double)s->n_gold);
        dis__data_table_add_number(table, (double)s->n_predicted);
        dis__data_table_add_number(table, s->precision.reason ? (double)NAN : s->precision.value);
        dis__data_table_add_number(table, s->recall.reason ? (double)NAN : s->recall.value);
        dis__data_table_add_number(table, s->f1.reason ? (double)NAN : s->f1.value);
        for (size_t i = 0; i < c->n && c->n <= MAX_CELLS; i++)
            dis__data_table_add_number(table, (double)e->confusion[k * e->n_classes + c->class[i]]);
    }
}

dis_status dis__figure_confusion(dis__report_job *job, size_t model)
{
    const dis_evaluation_view *e = job->model[model];
    const dis_names *classes = job->r->test.classes;
    if (!e->confusion || !e->classes) return DIS_OK;
    const choice c = frequent(e);
    const char *name[DIS__REPORT_SHOWN_CLASSES];
    double value[DIS__REPORT_SHOWN_CLASSES * DIS__REPORT_SHOWN_CLASSES], of[DIS__REPORT_SHOWN_CLASSES];
    uint64_t max = 0;
    size_t worst[2] = {0, 0};
    for (size_t i = 0; i < c.n; i++) {
        const uint64_t *row = e->confusion + c.class[i] * e->n_classes, total = e->classes[c.class[i]].n_gold;
        name[i] = dis_names_get(classes, c.class[i], NULL);
        of[i] = (double)total;
        for (size_t k = 0; k < c.n; k++) {
            const uint64_t n = row[c.class[k]];
            value[i * c.n + k] = total ? (double)n / (double)total : (double)NAN;
            if (i != k && n > max) {
                max = n;
                memcpy(worst, (size_t[]){i, k}, sizeof worst);
            }
        }
    }
    dis__figure f = {.id = "model-confusion",
                     .title = "Confusion matrix",
                     .question = "Which classes does the model confuse?"};
    dis__report_append_model_name(&f.caption, job, model);
    if (max) {
        dis__markup_append(&f.caption, " most often answers ");
        dis__markup_append_name(&f.caption, name[worst[1]], strlen(name[worst[1]]), 30);
        dis__markup_append(&f.caption, " where the class is ");
        dis__markup_append_name(&f.caption, name[worst[0]], strlen(name[worst[0]]), 30);
        dis__markup_appendf(&f.caption, " (%s items). ", dis__format_grouped(max).text);
    } else {
        dis__markup_append(&f.caption, " makes no mistakes here. ");
    }
    dis__markup_append(&f.caption, "Percent of each known class; the diagonal is correct.");
    if (c.n < e->n_classes)
        dis__markup_appendf(&f.caption, " The %zu most frequent classes of %zu.", c.n, e->n_classes);
    const dis__heat_map h = {.name = name,
                             .n = c.n,
                             .value = value,
                             .count = of,
                             .count_title = "items",
                             .high = 1,
                             .percent = true,
                             .row_title = "known",
                             .column_title = "answered (%)",
                             .value_title = "of the row",
                             .width = DIS__CHART_WIDTH,
                             .legend = true};
    dis__heat_map_draw(&f.chart, &h, dis__figure_name(&f, "heat map"));
    fill_confusion(classes, e, &c, &f.table);
    dis__page_figure_add(&job->page, &f);
    return DIS_OK;
}

/* ---- class by class ---- */

void dis__figure_classes(dis__report_job *job)
{
    enum { MAX_SERIES = 3 };
    const dis_evaluation_view *first = job->model[0];
    const size_t n_series = job->r->n_predictions < MAX_SERIES ? job->r->n_predictions : MAX_SERIES;
    if (!first->classes) return;
    const choice c = frequent(first);
    const char *row[DIS__REPORT_SHOWN_CLASSES], *series[MAX_SERIES];
    double value[DIS__REPORT_SHOWN_CLASSES * MAX_SERIES];
    size_t best = 0, worst = 0;
    for (size_t m = 0; m < n_series; m++) series[m] = job->r->prediction[m].name;
    for (size_t i = 0; i < c.n; i++) {
        row[i] = dis_names_get(job->r->test.classes, c.class[i], NULL);
        for (size_t m = 0; m < n_series; m++) {
            const dis_metric *f1 = &job->model[m]->classes[c.class[i]].f1;
            value[i * n_series + m] = f1->reason ? (double)NAN : f1->value;
        }
        if (value[i * n_series] > value[best * n_series]) best = i;
        if (value[i * n_series] < value[worst * n_series]) worst = i;
    }
    dis__figure f = {.id = "class-f1",
                     .title = "F1 by class",
                     .question = "Which classes does the model predict well?"};
    dis__markup_append(&f.caption, "F1 combines precision and recall; 1 is perfect. ");
    dis__report_append_model_name(&f.caption, job, 0);
    if (best != worst) {
        dis__markup_append(&f.caption, " does best on class ");
        dis__markup_append_name(&f.caption, row[best], strlen(row[best]), 30);
        dis__markup_appendf(&f.caption, " (%s) and worst on ", dis__format_fixed(value[best * n_series], 2).text);
        dis__markup_append_name(&f.caption, row[worst], strlen(row[worst]), 30);
        dis__markup_appendf(&f.caption, " (%s).", dis__format_fixed(value[worst * n_series], 2).text);
    } else {
        dis__markup_append(&f.caption, " does equally well on all.");
    }
    const dis__bar_chart b = {
        .row = row, .series = series, .n = c.n, .n_series = n_series, .value = value, .x_title = "F1"};
    dis__bar_chart_draw(&f.chart, &b, dis__figure_name(&f, "bars"));
    dis__data_table_add_column(&f.table, "class", DIS__CELL_TEXT);
    for (size_t m = 0; m < n_series; m++) dis__data_table_add_named_column(&f.table, series[m], DIS__CELL_REAL);
    for (size_t i = 0; i < c.n; i++) {
        dis__data_table_add_text(&f.table, row[i], strlen(row[i]));
        for (size_t m = 0; m < n_series; m++) dis__data_table_add_number(&f.table, value[i * n_series + m]);
    }
    dis__page_figure_add(&job->page, &f);
}
