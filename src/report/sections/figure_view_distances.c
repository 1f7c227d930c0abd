/* Distances between the views: the Jensen-Shannon divergence of every pair, as a heat map. */
#include "report/report_internal.h"
#include "dissent/views.h"
#include <math.h>
#include <string.h>

static void put_pair(dis__markup *m, const dis_report *r, size_t a, size_t b)
{
    dis__markup_append_name(m, r->view[a].name, strlen(r->view[a].name), 30);
    dis__markup_append(m, " and ");
    dis__markup_append_name(m, r->view[b].name, strlen(r->view[b].name), 30);
}

static void put_caption(dis__markup *m, const dis_report *r, const dis_views_distances_view *d, size_t first, size_t n)
{
    size_t closest[2] = {first, first + 1}, farthest[2] = {first, first + 1};
    const size_t all = d->n_views;
    for (size_t a = first; a < first + n; a++)
        for (size_t b = a + 1; b < first + n; b++) {
            const double x = d->jsd[a * all + b].value;
            if (x < d->jsd[closest[0] * all + closest[1]].value) memcpy(closest, (size_t[]){a, b}, sizeof closest);
            if (x > d->jsd[farthest[0] * all + farthest[1]].value) memcpy(farthest, (size_t[]){a, b}, sizeof farthest);
        }
    if (n == 2) {
        put_pair(m, r, first, first + 1);
        dis__markup_appendf(m, " are %s apart",
                            dis__format_fixed(d->jsd[farthest[0] * all + farthest[1]].value, 3).text);
    } else {
        dis__markup_append(m, "Furthest apart are ");
        put_pair(m, r, farthest[0], farthest[1]);
        dis__markup_appendf(m, " (%s), closest ",
                            dis__format_fixed(d->jsd[farthest[0] * all + farthest[1]].value, 3).text);
        put_pair(m, r, closest[0], closest[1]);
        dis__markup_appendf(m, " (%s)", dis__format_fixed(d->jsd[closest[0] * all + closest[1]].value, 3).text);
    }
    dis__markup_append(m, ". 0 means the same labels, 0.693 labels that share nothing.");
}

static void draw(dis__report_job *job, const dis_views_distances_view *d)
{
    enum { MAX = DIS__REPORT_SHOWN_VIEWS };
    const dis_report *r = job->r;
    const size_t n = r->n_views < MAX ? r->n_views : MAX, first = r->n_views - n;
    const char *names[MAX];
    double value[MAX * MAX], max = 0;
    for (size_t i = 0; i < n; i++) {
        names[i] = r->view[first + i].name;
        for (size_t k = 0; k < n; k++) {
            value[i * n + k] = d->jsd[(first + i) * d->n_views + first + k].value;
            max = fmax(max, value[i * n + k]);
        }
    }
    dis__figure f = {.id = "view-distances",
                     .title = "Distance between the methods",
                     .question = "How different are the label methods?"};
    put_caption(&f.caption, r, d, first, n);
    const dis__heat_map h = {.name = names,
                             .n = n,
                             .value = value,
                             .high = max,
                             .decimals = 3,
                             .row_title = "",
                             .column_title = "mean Jensen-Shannon divergence",
                             .value_title = "nats",
                             .width = DIS__CHART_WIDTH,
                             .legend = true};
    dis__heat_map_draw(&f.chart, &h, dis__figure_name(&f, "heat map"));
    dis__data_table_add_column(&f.table, "view", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "other view", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "divergence (nats)", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "95 % from", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "to", DIS__CELL_REAL);
    for (size_t a = 0; a < d->n_views; a++)
        for (size_t b = a + 1; b < d->n_views; b++) {
            const dis_metric *m = &d->jsd[a * d->n_views + b];
            dis__data_table_add_text(&f.table, r->view[a].name, strlen(r->view[a].name));
            dis__data_table_add_text(&f.table, r->view[b].name, strlen(r->view[b].name));
            dis__data_table_add_metric(&f.table, m);
        }
    dis__page_figure_add(&job->page, &f);
}

dis_status dis__figure_distances(dis__report_job *job)
{
    const dis_report *r = job->r;
    if (r->n_views < 2) return DIS_OK;
    const double *p[DIS_MAX_VIEWS];
    for (size_t m = 0; m < r->n_views; m++) p[m] = r->view[m].p;
    const dis_views views = {
        .size = sizeof(dis_views), .n_items = r->n_items, .n_classes = r->n_classes, .n_views = r->n_views, .p = p};
    dis_views_distances_options o = dis_views_distances_options_default();
    o.seed = r->seed;
    o.resamples = r->resamples;
    dis_views_distances *d;
    DIS_TRY(dis_views_distances_run(job->ctx, &views, &o, &d));
    const dis_views_distances_view view = dis_views_distances_get_view(d);
    draw(job, &view);
    dis_views_distances_destroy(d);
    return DIS_OK;
}
