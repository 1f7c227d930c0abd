/* Where conditions differ from their baselines: the four cells of a comparison, and what people say there. All from
 * predictions that were kept. */
#include "experiment/report/experiment_report.h"
#include <math.h>
#include <string.h>

bool dis__next_set(const dis__plan *plan, size_t *next, const char **set)
{
    for (; *next < plan->n_measures; ++*next) {
        bool seen = false;
        for (size_t i = 0; i < *next && !seen; i++) seen = strcmp(plan->measure[i].set, plan->measure[*next].set) == 0;
        if (seen) continue;
        *set = plan->measure[(*next)++].set;
        return true;
    }
    return false;
}

static const char *const four_heads[] = {"both correct", "only this correct", "only baseline correct", "both wrong"};
static const size_t four_order[] = {DIS_CELL_BOTH_CORRECT, DIS_CELL_ONLY_A, DIS_CELL_ONLY_B, DIS_CELL_BOTH_WRONG};

static void count_columns(dis__data_table *g)
{
    dis__data_table_add_column(g, "cell", DIS__CELL_TEXT);
    dis__data_table_add_column(g, "baseline", DIS__CELL_TEXT);
    for (size_t i = 0; i < 4; i++) dis__data_table_add_column(g, four_heads[i], DIS__CELL_COUNT);
}

static void people_columns(dis__data_table *g)
{
    dis__data_table_add_column(g, "cell", DIS__CELL_TEXT);
    dis__data_table_add_column(g, "baseline", DIS__CELL_TEXT);
    dis__data_table_add_column(g, "soft labels", DIS__CELL_TEXT);
    for (size_t i = 0; i < 4; i++) dis__data_table_add_column(g, four_heads[i], DIS__CELL_REAL);
    dis__data_table_add_column(g, "p, only one right", DIS__CELL_REAL);
}

static void count_row(dis__data_table *g, const char *name, const char *baseline, const dis_comparison_view *v)
{
    dis__data_table_add_text(g, name, strlen(name));
    dis__data_table_add_text(g, baseline, strlen(baseline));
    for (size_t i = 0; i < 4; i++) dis__data_table_add_number(g, (double)v->cell[four_order[i]]);
}

static void people_rows(dis__data_table *g, const char *name, const char *baseline, const dis_comparison_view *v)
{
    static const char *const what[] = {"mean kurtosis", "mean entropy", "mean largest probability"};
    for (size_t s = 0; s < DIS_CELL_STATISTICS && v->has_statistics; s++) {
        const dis_cell_statistic *c = &v->statistic[s];
        dis__data_table_add_text(g, name, strlen(name));
        dis__data_table_add_text(g, baseline, strlen(baseline));
        dis__data_table_add_static_text(g, what[s]);
        for (size_t i = 0; i < 4; i++)
            dis__data_table_add_number(g, c->mean[four_order[i]].reason ? (double)NAN : c->mean[four_order[i]].value);
        dis__data_table_add_number(g, c->test.reason ? (double)NAN : c->test.p);
    }
}

/* One of the two tables of a data set and set of items; an empty table is not added. */
static dis_status put_four(dis__experiment_page *p, dis__figure *f, const char *ours, const char *set, const char *data,
                           const char *about, bool *begun)
{
    dis__markup title = {0};
    if (f->table.status != DIS_OK || dis__data_table_count_rows(&f->table) == 0) {
        const dis_status status = f->table.status;
        dis__data_table_free(&f->table);
        return status;
    }
    if (!*begun)
        dis__page_section_begin(
            p->page, "baseline", "Against the baseline",
            "On which items a condition and its baseline differ, and the votes of people on these.");
    *begun = true;
    dis__put_set_title(p, &title, ours, set, data);
    f->title = title.status == DIS_OK ? title.bytes : "";
    dis__markup_append_name(&f->caption, data, strlen(data), 40);
    dis__markup_append(&f->caption, about);
    if (f->table.status == DIS_OK) f->table.status = title.status;
    dis__page_figure_add(p->page, f);
    dis__markup_free(&title);
    return DIS_OK;
}

static dis_status four_cells(dis__experiment_page *p, size_t first, size_t end, const char *set, bool *begun)
{
    const dis__plan *plan = p->e->plan;
    const dis__figure_id id = dis__next_id(p, "four-cells"), other = dis__next_id(p, "four-people");
    const char *data = dis__row_cell(p, first)->data;
    dis__figure counts = {.id = id.text,
                          .question = "Where is a condition correct and its baseline wrong?",
                          .wide = true,
                          .open = true};
    dis__figure people = {.id = other.text, .question = "Do people disagree more on these items?", .wide = true};
    dis_status status = DIS_OK;
    count_columns(&counts.table);
    people_columns(&people.table);
    for (size_t r = first; r < end && status == DIS_OK; r++) {
        const dis_experiment_cell *cell = dis__row_cell(p, r);
        dis_comparison *c = NULL;
        if (cell->baseline == SIZE_MAX || cell->baseline == p->t.row[r].cell) continue;
        status = dis__pairwise(p->ctx, p->store, plan, p->known->state, p->t.row[r].cell, cell->baseline, set, &c);
        if (c) {
            const char *baseline = plan->cell[cell->baseline].name;
            const dis_comparison_view view = dis_comparison_get_view(c);
            count_row(&counts.table, cell->name, baseline, &view);
            people_rows(&people.table, cell->name, baseline, &view);
        }
        dis_comparison_destroy(c);
    }
    if (status == DIS_OK)
        status = put_four(p, &counts, "Correct items, ", set, data,
                          ": items of all seeds and folds, by which of the two is correct.", begun);
    else
        dis__data_table_free(&counts.table);
    if (status == DIS_OK)
        status = put_four(p, &people, "Human labels of these items, ", set, data,
                          ": the soft labels of people on these items. Low kurtosis and high entropy are items that "
                          "divide people. The last column is the Mann-Whitney test of the items on which only one of "
                          "the two is right against each other.",
                          begun);
    else
        dis__data_table_free(&people.table);
    return status;
}

dis_status dis__experiment_baseline(dis__experiment_page *p)
{
    bool begun = false;
    if (!p->store) return DIS_OK;
    for (size_t first = 0, end; first < p->t.n_rows; first = end) {
        end = dis__data_end(p, first);
        const char *set;
        for (size_t next = 0; dis__next_set(p->e->plan, &next, &set);) DIS_TRY(four_cells(p, first, end, set, &begun));
    }
    if (begun) dis__page_section_end(p->page);
    return DIS_OK;
}
