/* Groups of people: agreement within each and with the others, between pairs, and the items that divide them. All
 * figures are those of dis_group_agreement_run. */
#include "dissent/groups.h"
#include "report/report_internal.h"
#include <math.h>
#include <string.h>

enum { SHOWN_GROUPS = 16, SHOWN_ITEMS = 100, PERMUTATIONS = 1000 };
#define CALLED .05 /* a q-value below is called a difference */

typedef struct {
    dis__report_job *job;
    dis_worker_groups_view groups;
    dis_group_agreement_view found;
} groups_job;

static const char *name_of(const groups_job *g, size_t i)
{
    return dis_names_get(g->groups.names, i, NULL);
}

static void put_group(dis__markup *m, const groups_job *g, size_t i)
{
    dis__markup_append_name(m, name_of(g, i), strlen(name_of(g, i)), 30);
}

/* The group with the largest index that a test confirms; SIZE_MAX: none. */
static size_t closest_knit(const groups_job *g)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < g->found.n_groups; i++) {
        const dis_group_row *x = &g->found.groups[i];
        if (x->association_index.reason || !(x->q_association_index < CALLED) || !(x->association_index.value > 1))
            continue;
        if (best == SIZE_MAX || x->association_index.value > g->found.groups[best].association_index.value) best = i;
    }
    return best;
}

static void add_group_finding(const groups_job *g, dis__markup *m)
{
    const dis_metric *apart = &g->found.separation;
    const size_t knit = closest_knit(g);
    if (apart->reason) {
        dis__markup_append(m, "No two groups can be compared: they share no items.");
        return;
    }
    if (g->found.p_separation < CALLED)
        dis__markup_appendf(m, "Groups by %s matter: people agree more within them than across (by %s, p = %s).",
                            g->job->r->group_column, dis__format_fixed(apart->value, 3).text,
                            dis__format_brief(g->found.p_separation).text);
    else
        dis__markup_appendf(m, "Groups by %s have no measurable effect in these votes (within less across %s, p = %s).",
                            g->job->r->group_column, dis__format_fixed(apart->value, 3).text,
                            dis__format_brief(g->found.p_separation).text);
    if (knit == SIZE_MAX) return;
    dis__markup_append(m, " Most by itself: ");
    put_group(m, g, knit);
    dis__markup_appendf(m, ", index %s.", dis__format_fixed(g->found.groups[knit].association_index.value, 2).text);
}

static void append_small_groups(const groups_job *g, dis__markup *m)
{
    const dis_worker_groups_view *v = &g->groups;
    if (v->n_merged)
        dis__markup_appendf(m, " %s groups of fewer than %s people are shown together as \"other\".",
                            dis__format_grouped(v->n_merged).text, dis__format_grouped(v->min_group).text);
    if (v->n_hidden)
        dis__markup_appendf(m, " %s group%s of fewer than %s people %s not shown.",
                            dis__format_grouped(v->n_hidden).text, dis__plural_suffix(v->n_hidden),
                            dis__format_grouped(v->min_group).text, v->n_hidden == 1 ? "is" : "are");
    if (v->n_unknown)
        dis__markup_appendf(m, " Of %s annotator%s it is not known.", dis__format_grouped(v->n_unknown).text,
                            dis__plural_suffix(v->n_unknown));
}

/* ---- within and across ---- */

static void metric_columns(dis__data_table *g, const char *name, const char *low, const char *high)
{
    dis__data_table_add_column(g, name, DIS__CELL_REAL);
    dis__data_table_add_column(g, low, DIS__CELL_REAL);
    dis__data_table_set_csv_only(g);
    dis__data_table_add_column(g, high, DIS__CELL_REAL);
    dis__data_table_set_csv_only(g);
}

static void put_group_table(const groups_job *g, dis__data_table *table)
{
    dis__data_table_add_column(table, "group", DIS__CELL_TEXT);
    dis__data_table_add_column(table, "people", DIS__CELL_COUNT);
    dis__data_table_add_column(table, "votes", DIS__CELL_COUNT);
    metric_columns(table, "within", "within, from", "within, to");
    metric_columns(table, "across", "across, from", "across, to");
    metric_columns(table, "index", "index, from", "index, to");
    dis__data_table_add_column(table, "p", DIS__CELL_REAL);
    dis__data_table_add_column(table, "q", DIS__CELL_REAL);
    for (size_t i = 0; i < g->found.n_groups; i++) {
        const dis_group_row *x = &g->found.groups[i];
        dis__data_table_add_text(table, name_of(g, i), strlen(name_of(g, i)));
        dis__data_table_add_number(table, (double)x->workers);
        dis__data_table_add_number(table, (double)x->votes);
        dis__data_table_add_metric(table, &x->within);
        dis__data_table_add_metric(table, &x->across);
        dis__data_table_add_metric(table, &x->association_index);
        dis__data_table_add_number(table, x->p_association_index);
        dis__data_table_add_number(table, x->q_association_index);
    }
}

static void figure_within(const groups_job *g)
{
    dis__figure f = {.id = "groups-within",
                     .title = "Agreement within groups",
                     .question = "Do annotators agree more within their group?"};
    dis__point_chart_row row[SHOWN_GROUPS];
    const size_t n = g->found.n_groups < SHOWN_GROUPS ? g->found.n_groups : SHOWN_GROUPS;
    add_group_finding(g, &f.caption);
    dis__markup_append(
        &f.caption,
        " Dots: alpha of the group's own votes, with its 95 % interval; diamonds: of its votes with those of all "
        "others. A dot right of its diamond is a group that agrees more with itself.");
    append_small_groups(g, &f.caption);
    for (size_t i = 0; i < n; i++) {
        const dis_group_row *x = &g->found.groups[i];
        row[i] = (dis__point_chart_row){.row = name_of(g, i),
                                        .mean = x->within.reason ? (double)NAN : x->within.value,
                                        .low = x->within.has_interval ? x->within.ci_low : (double)NAN,
                                        .high = x->within.has_interval ? x->within.ci_high : (double)NAN,
                                        .other = x->across.reason ? (double)NAN : x->across.value,
                                        .strong = x->q_association_index < CALLED};
    }
    const dis__point_chart p = {.row = row,
                                .n = n,
                                .x_title = "agreement (alpha)",
                                .value_name = "",
                                .mean_name = "within",
                                .other_name = "across"};
    dis__point_chart_draw(&f.chart, &p, dis__figure_name(&f, "dot plot"));
    put_group_table(g, &f.table);
    f.note = "index: within / across, above 1 where a group agrees more with itself; p: from 1,000 random permutations "
             "of the groups; q: p corrected for the number of groups.";
    dis__page_figure_add(&g->job->page, &f);
}

/* ---- pairs ---- */

static void figure_pairs(const groups_job *g)
{
    const size_t n = g->found.n_groups;
    double value[SHOWN_GROUPS * SHOWN_GROUPS], low = 0, high = 0;
    const char *name[SHOWN_GROUPS];
    if (n < 3 || n > SHOWN_GROUPS) return; /* of two groups the figure before says it all */
    for (size_t i = 0; i < n; i++) {
        const dis_metric *w = &g->found.groups[i].within;
        name[i] = name_of(g, i);
        value[i * n + i] = w->reason ? (double)NAN : w->value;
    }
    for (size_t p = 0; p < g->found.n_pairs; p++) {
        const dis_group_pair *x = &g->found.pairs[p];
        value[x->a * n + x->b] = value[x->b * n + x->a] = x->across.reason ? (double)NAN : x->across.value;
    }
    for (size_t i = 0; i < n * n; i++) {
        low = fmin(low, value[i]);
        high = fmax(high, value[i]);
    }
    dis__figure f = {.id = "groups-pairs",
                     .title = "Agreement between groups",
                     .question = "Which groups agree with each other?"};
    dis__markup_append(&f.caption,
                       "Agreement between the votes of two groups, beyond chance; on the diagonal within a group.");
    const dis__heat_map h = {.name = name,
                             .n = n,
                             .value = value,
                             .low = low,
                             .high = high > 0 ? high : 1,
                             .decimals = 2,
                             .row_title = "",
                             .column_title = "agreement (alpha)",
                             .value_title = "alpha",
                             .width = DIS__CHART_WIDTH,
                             .legend = true};
    dis__heat_map_draw(&f.chart, &h, dis__figure_name(&f, "heat map"));
    dis__data_table_add_column(&f.table, "group", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "other group", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "items", DIS__CELL_COUNT);
    metric_columns(&f.table, "across", "from", "to");
    dis__data_table_add_column(&f.table, "p", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "q", DIS__CELL_REAL);
    for (size_t p = 0; p < g->found.n_pairs; p++) {
        const dis_group_pair *x = &g->found.pairs[p];
        dis__data_table_add_text(&f.table, name_of(g, x->a), strlen(name_of(g, x->a)));
        dis__data_table_add_text(&f.table, name_of(g, x->b), strlen(name_of(g, x->b)));
        dis__data_table_add_number(&f.table, (double)x->across.n);
        dis__data_table_add_metric(&f.table, &x->across);
        dis__data_table_add_number(&f.table, x->p);
        dis__data_table_add_number(&f.table, x->q);
    }
    dis__page_figure_add(&g->job->page, &f);
}

/* ---- items ---- */

static void figure_items(const groups_job *g)
{
    const dis__report_job *job = g->job;
    size_t called = 0;
    if (g->found.n_items == 0) return;
    for (size_t i = 0; i < g->found.n_items; i++) called += g->found.items[i].q < CALLED;
    dis__figure f = {.id = "groups-items",
                     .title = "Items that divide the groups",
                     .question = "Which items divide the groups?",
                     .wide = true,
                     .open = true};
    dis__markup_appendf(&f.caption,
                        "Items on which two groups vote differently, those with the strongest evidence first. ");
    if (called)
        dis__markup_appendf(&f.caption, "%s of %s comparisons hold after correction (q below .05).",
                            dis__format_grouped(called).text, dis__format_grouped(g->found.n_items).text);
    else
        dis__markup_appendf(&f.caption,
                            "None of %s comparisons holds after correction: with so few votes of each group on an "
                            "item, use these items as a starting point, not as a conclusion.",
                            dis__format_grouped(g->found.n_items).text);
    dis__data_table_add_column(&f.table, "item", DIS__CELL_TEXT);
    dis__report_add_text_column(job, &f.table);
    dis__data_table_add_column(&f.table, "group", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "says", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "votes", DIS__CELL_COUNT);
    dis__data_table_add_column(&f.table, "other group", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "says ", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "votes ", DIS__CELL_COUNT);
    dis__data_table_add_column(&f.table, "distance", DIS__CELL_REAL);
    dis__data_table_set_csv_only(&f.table);
    dis__data_table_add_column(&f.table, "p", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "q", DIS__CELL_REAL);
    for (size_t i = 0; i < g->found.n_items && i < SHOWN_ITEMS; i++) {
        const dis_group_item *x = &g->found.items[i];
        const char *task = dis_names_get(job->r->tasks, x->item, NULL);
        const char *one = dis__class_name(job, x->majority_class_a), *two = dis__class_name(job, x->majority_class_b);
        dis__data_table_add_text(&f.table, task, strlen(task));
        dis__report_add_text_cell(job, &f.table, x->item);
        dis__data_table_add_text(&f.table, name_of(g, x->a), strlen(name_of(g, x->a)));
        dis__data_table_add_text(&f.table, one, strlen(one));
        dis__data_table_add_number(&f.table, x->votes_a);
        dis__data_table_add_text(&f.table, name_of(g, x->b), strlen(name_of(g, x->b)));
        dis__data_table_add_text(&f.table, two, strlen(two));
        dis__data_table_add_number(&f.table, x->votes_b);
        dis__data_table_add_number(&f.table, x->distance);
        dis__data_table_add_number(&f.table, x->p);
        dis__data_table_add_number(&f.table, x->q);
    }
    dis__page_figure_add(&g->job->page, &f);
}

dis_status dis__section_groups(dis__report_job *job)
{
    const dis_report *r = job->r;
    if (!r->groups || !r->votes || !job->votes_view.start) return DIS_OK;
    groups_job g = {.job = job, .groups = dis_worker_groups_get_view(r->groups)};
    dis_group_agreement_options o = dis_group_agreement_options_default();
    dis_group_agreement *found;
    o.ordinal = r->ordinal;
    o.items = true;
    o.resamples = r->resamples;
    o.permutations = PERMUTATIONS;
    o.seed = r->seed;
    DIS_TRY(dis_group_agreement_run(job->ctx, r->votes, r->groups, &o, &found));
    g.found = dis_group_agreement_get_view(found);
    dis__markup finding = {0};
    add_group_finding(&g, &finding);
    dis__page_finding_add(&job->page, &finding);
    dis__markup_free(&finding);
    dis__page_section_begin(&job->page, "groups", "Groups of people", "Agreement within and between groups of people.");
    figure_within(&g);
    figure_pairs(&g);
    figure_items(&g);
    dis__page_section_end(&job->page);
    dis_group_agreement_destroy(found);
    return DIS_OK;
}
