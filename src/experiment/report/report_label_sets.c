/* Labels: cells that train nothing are sets of labels of the same items. How far they lie apart, and whether those near
 * the centroid are near the others too (Wright and Augenstein 2022, figure 4 and section 5.4). */
#include "experiment/report/experiment_report.h"
#include "core/names/names_internal.h"
#include "dissent/views.h"
#include <math.h>
#include <string.h>

enum { MAX = 12 };

typedef struct {
    dis__pooled one[MAX];
    const char *name[MAX];
    size_t n;
} label_sets;

static bool trains(const dis_experiment_cell *cell)
{
    for (size_t i = 0; i < cell->n_settings; i++)
        if (strcmp(cell->setting[i].key, "objective") == 0) return true;
    return false;
}

/* Those of rows first .. end - 1 with the items of the first. */
static dis_status gather(dis__experiment_page *p, size_t first, size_t end, const char *set, label_sets *s)
{
    for (size_t r = first; r < end && s->n < MAX; r++) {
        const dis_experiment_cell *cell = dis__row_cell(p, r);
        bool found = false;
        if (trains(cell)) continue;
        dis__pooled *one = &s->one[s->n];
        DIS_TRY(dis__first_pooled(p, p->t.row[r].cell, set, one, &found));
        if (!found) continue;
        if (s->n &&
            !(dis__names_equal(one->tasks, s->one[0].tasks) && dis__names_equal(one->classes, s->one[0].classes)))
            dis__pooled_free(one);
        else
            s->name[s->n++] = dis__short_name(p, first, end, r);
    }
    return DIS_OK;
}

static void put_numbers(dis__data_table *g, const label_sets *s, const dis_views_distances_view *d)
{
    dis__data_table_add_column(g, "labels", DIS__CELL_TEXT);
    for (size_t i = 0; i < s->n; i++) dis__data_table_add_named_column(g, s->name[i], DIS__CELL_REAL);
    dis__data_table_add_column(g, "to the others", DIS__CELL_REAL);
    dis__data_table_add_column(g, "to the centroid", DIS__CELL_REAL);
    dis__data_table_add_column(g, "entropy", DIS__CELL_REAL);
    for (size_t i = 0; i < s->n; i++) {
        dis__data_table_add_text(g, s->name[i], strlen(s->name[i]));
        for (size_t k = 0; k < s->n; k++) dis__data_table_add_number(g, d->jsd[i * s->n + k].value);
        dis__data_table_add_number(g, d->to_others[i].value);
        dis__data_table_add_number(g, d->to_centroid[i].value);
        dis__data_table_add_number(g, d->entropy[i].value);
    }
}

static void draw(dis__experiment_page *p, const label_sets *s, const dis_views_distances_view *d, const char *data)
{
    double value[MAX * MAX], max = 0;
    for (size_t i = 0; i < s->n * s->n; i++) {
        value[i] = d->jsd[i].value;
        max = fmax(max, value[i]);
    }
    const dis__figure_id id = dis__next_id(p, "distances");
    dis__markup title = {0};
    dis__put_title(&title, "Distance between labels, ", data);
    dis__figure f = {.id = id.text,
                     .title = title.status == DIS_OK ? title.bytes : "",
                     .question = "How different are the sets of labels?"};
    dis__markup_append(&f.caption,
                       "Mean Jensen-Shannon divergence of every pair: 0 means the same labels, 0.693 that they share "
                       "nothing.");
    if (!d->hubness_over_items.reason)
        dis__markup_appendf(
            &f.caption,
            " Labels near the centroid of all are near the others: the two distances correlate at %s over items.",
            dis__format_fixed(d->hubness_over_items.value, 3).text);
    const dis__heat_map h = {.name = s->name,
                             .n = s->n,
                             .value = value,
                             .high = max,
                             .decimals = s->n > 8 ? 2 : 3,
                             .row_title = "",
                             .column_title = "mean Jensen-Shannon divergence",
                             .value_title = "nats",
                             .width = DIS__CHART_WIDTH,
                             .legend = true};
    dis__heat_map_draw(&f.chart, &h, dis__figure_name(&f, "heat map"));
    put_numbers(&f.table, s, d);
    if (f.table.status == DIS_OK) f.table.status = title.status;
    dis__page_figure_add(p->page, &f);
    dis__markup_free(&title);
}

static dis_status distances(dis__experiment_page *p, size_t first, size_t end, label_sets *s, bool *begun)
{
    const double *views[MAX];
    dis_views_distances *d;
    DIS_TRY(gather(p, first, end, "test", s));
    if (s->n < 2) return DIS_OK;
    for (size_t i = 0; i < s->n; i++) views[i] = s->one[i].p;
    const dis_views in = {.size = sizeof(dis_views),
                          .n_items = s->one[0].n_items,
                          .n_classes = s->one[0].n_classes,
                          .n_views = s->n,
                          .p = views};
    dis_views_distances_options o = dis_views_distances_options_default();
    o.resamples = 0;
    DIS_TRY(dis_views_distances_run(p->ctx, &in, &o, &d));
    if (!*begun)
        dis__page_section_begin(p->page, "labels", "Labels",
                                "Conditions that train nothing are labels themselves: how they lie to each other.");
    *begun = true;
    const dis_views_distances_view view = dis_views_distances_get_view(d);
    draw(p, s, &view, dis__row_cell(p, first)->data);
    dis_views_distances_destroy(d);
    return DIS_OK;
}

dis_status dis__experiment_labels(dis__experiment_page *p)
{
    bool begun = false;
    if (!p->store) return DIS_OK;
    dis_status status = DIS_OK;
    for (size_t first = 0, end; first < p->t.n_rows && status == DIS_OK; first = end) {
        end = dis__data_end(p, first);
        label_sets s = {.n = 0};
        status = distances(p, first, end, &s, &begun);
        for (size_t i = 0; i < MAX; i++) dis__pooled_free(&s.one[i]);
    }
    if (begun) dis__page_section_end(p->page);
    return status;
}
