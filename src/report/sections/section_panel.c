/* LLM judges and people: whether each judge answers like people, which judges err together, the share of each class
 * among people's answers, and where to ask people next. All figures are those of a panel that the caller ran; if
 * people's votes carry no information about the items, the section has this statement alone. */
#include "dissent/panel.h"
#include "report/report_internal.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_JUDGES = 24, SHOWN_ITEMS = 100 };

typedef struct {
    dis__report_job *job;
    dis_panel_view v;
} panel_job;

static const char *name_of(const panel_job *g, size_t j)
{
    return dis_names_get(g->job->votes_view.workers, g->v.judges[j].worker, NULL);
}

static void put_judge(dis__markup *m, const panel_job *g, size_t j)
{
    dis__markup_append_name(m, name_of(g, j), strlen(name_of(g, j)), 30);
}

static void append_copies(const panel_job *g, dis__markup *m)
{
    for (size_t c = 0; c < g->v.n_copies; c++) {
        const dis_panel_copied_votes *x = &g->v.copies[c];
        dis__markup_append(m, " ");
        put_judge(m, g, x->judge);
        dis__markup_append(m, " appears to copy ");
        if (x->worker == UINT32_MAX)
            dis__markup_append(m, "the majority of people");
        else {
            const char *name = dis_names_get(g->job->votes_view.workers, x->worker, NULL);
            dis__markup_append_name(m, name, strlen(name), 30);
        }
        dis__markup_appendf(m, ": equal votes on %s %% of %zu items, where independent votes would give %s %%.",
                            dis__format_fixed(100 * x->observed, 0).text, (size_t)x->n,
                            dis__format_fixed(100 * x->expected, 0).text);
    }
}

static void add_panel_finding(const panel_job *g, dis__markup *m)
{
    size_t passed = 0, compared = 0;
    for (size_t j = 0; j < g->v.n_judges; j++) {
        passed += g->v.judges[j].passed;
        compared += g->v.judges[j].n_people_compared > 0;
    }
    if (g->v.missing_reason) {
        dis__markup_appendf(m, "Judges: %s.", g->v.missing_reason);
        return;
    }
    dis__markup_appendf(m, "%zu of %zu judge%s agree%s with people more than chance. ", g->v.n_above, g->v.n_judges,
                        dis__plural_suffix(g->v.n_judges), g->v.n_judges == 1 ? "s" : "");
    if (compared == 0)
        dis__markup_append(m, "No person shares enough items with a judge for the alternative-annotator test.");
    else
        dis__markup_appendf(m, "%zu answer%s like these people by the alternative-annotator test.", passed,
                            passed == 1 ? "s" : "");
    if (!g->v.effective.reason)
        dis__markup_appendf(m, " Together %zu judges are worth %s independent ones.", g->v.n_above,
                            dis__format_fixed(g->v.effective.value, 1).text);
    append_copies(g, m);
    if (g->v.labelled_items_differ)
        dis__markup_append(
            m, " Items with votes of people differ from the others in the judges' answers: shares estimated from "
               "them may not hold for all items.");
}

static double value_or_nan(const dis_metric *m, double x)
{
    return m->has_interval ? x : (double)NAN;
}

static void grid_judges(const panel_job *g, dis__data_table *table)
{
    /* a row is read from left to right; what only the file has comes last */
    static const char *const csv_only[] = {"agreement by chance", "p (chance)", "error", "winning rate"};
    dis__data_table_add_column(table, "judge", DIS__CELL_TEXT);
    dis__data_table_add_column(table, "may replace a person", DIS__CELL_TEXT);
    dis__data_table_set_always_shown(table);
    dis__data_table_add_column(table, "beats", DIS__CELL_TEXT);
    dis__data_table_set_always_shown(table);
    dis__data_table_add_column(table, "as good as a person", DIS__CELL_PERCENT);
    dis__data_table_add_column(table, "agreement with people", DIS__CELL_PERCENT);
    dis__data_table_add_column(table, "items with people", DIS__CELL_COUNT);
    dis__data_table_add_column(table, "error group", DIS__CELL_COUNT);
    for (size_t c = 0; c < sizeof csv_only / sizeof *csv_only; c++) {
        dis__data_table_add_column(table, csv_only[c], DIS__CELL_REAL);
        dis__data_table_set_csv_only(table);
    }
    for (size_t j = 0; j < g->v.n_judges; j++) {
        const dis_panel_judge *x = &g->v.judges[j];
        const double cells[] = {x->advantage_probability.value,
                                x->agreement.value,
                                (double)x->shared,
                                x->error_group == UINT32_MAX ? (double)NAN : x->error_group + 1.,
                                x->chance,
                                x->p_chance,
                                x->error.value,
                                x->winning_rate};
        char beats[128] = "";
        dis__data_table_add_text(table, name_of(g, j), strlen(name_of(g, j)));
        dis__data_table_add_static_text(table, !x->above_chance            ? "no: agrees no more than chance"
                                               : x->n_people_compared == 0 ? "not known: too few shared items"
                                               : x->passed                 ? "yes"
                                                                           : "no");
        if (x->n_people_compared)
            snprintf(beats, sizeof beats, "%s of %s people", dis__format_grouped(x->n_people_represented).text,
                     dis__format_grouped(x->n_people_compared).text);
        dis__data_table_add_static_text(table, beats);
        for (size_t c = 0; c < sizeof cells / sizeof *cells; c++) dis__data_table_add_number(table, cells[c]);
    }
}

static void figure_judges(const panel_job *g)
{
    dis__point_chart_row row[SHOWN_JUDGES];
    const size_t n = g->v.n_judges < SHOWN_JUDGES ? g->v.n_judges : SHOWN_JUDGES;
    dis__figure f = {.id = "models-as-good",
                     .title = "Judges compared with people",
                     .question = "Which judges answer like people?",
                     .wide = true,
                     .open = true};
    dis__markup_append(
        &f.caption,
        "Dots: the share of items on which the judge agrees with the other people at least as well as a person "
        "does, with its 95 % interval. Diamonds: the share of people's votes that equal the judge's. Bold: the "
        "judge passes the alternative-annotator test. The test measures similarity to these people, not quality: a "
        "judge as accurate as people whose errors differ from theirs often fails.");
    if (g->v.few_people)
        dis__markup_append(&f.caption,
                           " Intervals hold for these people only; fewer than 5 voted, and others might answer "
                           "differently.");
    for (size_t j = 0; j < n; j++) {
        const dis_panel_judge *x = &g->v.judges[j];
        row[j] =
            (dis__point_chart_row){.row = name_of(g, j),
                                   .mean =
                                       x->advantage_probability.reason ? (double)NAN : x->advantage_probability.value,
                                   .low = value_or_nan(&x->advantage_probability, x->advantage_probability.ci_low),
                                   .high = value_or_nan(&x->advantage_probability, x->advantage_probability.ci_high),
                                   .other = x->agreement.reason ? (double)NAN : x->agreement.value,
                                   .strong = x->passed};
    }
    const dis__point_chart p = {.row = row,
                                .n = n,
                                .x_title = "share",
                                .value_name = "",
                                .mean_name = "as good as a person",
                                .other_name = "agreement with people"};
    dis__point_chart_draw(&f.chart, &p, dis__figure_name(&f, "dot plot"));
    grid_judges(g, &f.table);
    dis__page_figure_add(&g->job->page, &f);
}

static void figure_errors(const panel_job *g)
{
    const size_t n = g->v.n_judges;
    double value[SHOWN_JUDGES * SHOWN_JUDGES];
    const char *name[SHOWN_JUDGES];
    if (n < 2 || n > SHOWN_JUDGES || g->v.effective.reason) return;
    for (size_t j = 0; j < n; j++) {
        name[j] = name_of(g, j);
        value[j * n + j] = NAN;
    }
    for (size_t p = 0; p < g->v.n_pairs; p++) {
        const dis_panel_pair *x = &g->v.pairs[p];
        value[x->a * n + x->b] = value[x->b * n + x->a] = x->correlation;
    }
    dis__figure f = {.id = "models-errors",
                     .title = "Errors that judges share",
                     .question = "Which judges make the same errors?"};
    dis__markup_appendf(
        &f.caption,
        "Correlation of errors, corrected for the errors of people; %s on average. %zu judges are worth %s "
        "independent ones (%s to %s), in %zu error group%s.",
        dis__format_fixed(g->v.correlation.value, 2).text, g->v.n_above,
        dis__format_fixed(g->v.effective.value, 1).text, dis__format_fixed(g->v.effective.ci_low, 1).text,
        dis__format_fixed(g->v.effective.ci_high, 1).text, g->v.n_error_groups,
        dis__plural_suffix(g->v.n_error_groups));
    if (g->v.n_above < n)
        dis__markup_append(&f.caption, " Empty rows: judges that agree with people no more than chance.");
    const dis__heat_map h = {.name = name,
                             .n = n,
                             .value = value,
                             .high = 1,
                             .decimals = 2,
                             .row_title = "",
                             .column_title = "correlation of errors",
                             .value_title = "correlation",
                             .width = DIS__CHART_WIDTH,
                             .legend = true};
    dis__heat_map_draw(&f.chart, &h, dis__figure_name(&f, "heat map"));
    dis__data_table_add_column(&f.table, "judge", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "other judge", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "items", DIS__CELL_COUNT);
    dis__data_table_add_column(&f.table, "correlation", DIS__CELL_REAL);
    for (size_t p = 0; p < g->v.n_pairs; p++) {
        const dis_panel_pair *x = &g->v.pairs[p];
        dis__data_table_add_text(&f.table, name[x->a], strlen(name[x->a]));
        dis__data_table_add_text(&f.table, name[x->b], strlen(name[x->b]));
        dis__data_table_add_number(&f.table, (double)x->n);
        dis__data_table_add_number(&f.table, x->correlation);
    }
    dis__page_figure_add(&g->job->page, &f);
}

static const char *judge_or_majority(const panel_job *g, size_t j)
{
    return j < g->v.n_judges ? name_of(g, j) : "majority of the judges";
}

/* One row per judge and class. */
static void grid_rates(const panel_job *g, dis__data_table *table)
{
    static const char *const heads[] = {"raw share",    "bias",
                                        "sensitivity",  "specificity",
                                        "people alone", "Rogan-Gladen",
                                        "powered",      "weight",
                                        "items needed", "needed without judges"};
    dis__data_table_add_column(table, "judge", DIS__CELL_TEXT);
    dis__data_table_add_column(table, "class", DIS__CELL_TEXT);
    for (size_t c = 0; c < sizeof heads / sizeof *heads; c++)
        dis__data_table_add_column(table, heads[c], DIS__CELL_REAL);
    for (size_t r = 0; r < g->v.n_rates; r++) {
        const dis_panel_rate *x = &g->v.rates[r];
        const double cells[] = {x->raw,
                                x->bias.value,
                                x->sensitivity,
                                x->specificity,
                                x->people.value,
                                x->rogan_gladen.value,
                                x->prediction_powered.value,
                                x->tuning_weight,
                                x->n_needed,
                                x->n_needed_without_judge};
        const char *judge = judge_or_majority(g, x->judge), *class = dis__class_name(g->job, x->class_index);
        dis__data_table_add_text(table, judge, strlen(judge));
        dis__data_table_add_text(table, class, strlen(class));
        for (size_t c = 0; c < sizeof cells / sizeof *cells; c++) dis__data_table_add_number(table, cells[c]);
    }
}

static void figure_rates(const panel_job *g)
{
    const size_t n = g->v.n_classes, shown = n < SHOWN_JUDGES ? n : SHOWN_JUDGES;
    dis__point_chart_row row[SHOWN_JUDGES];
    const dis_panel_rate *all = g->v.rates + g->v.n_judges * n;
    dis__figure f = {.id = "models-rates",
                     .title = "Share of each class among people's answers",
                     .question = "How frequent is each class among answers of people?"};
    dis__markup_append(
        &f.caption,
        "Diamonds: share of the majority of the judges, ties split evenly. Dots: the share among people's answers, "
        "estimated from the items that people labelled and from the judges on the others (prediction-powered). "
        "The table has one row of bias per judge and class.");
    if (g->v.labelled_items_differ)
        dis__markup_append(&f.caption,
                           " Warning: labelled and unlabelled items differ in the judges' answers, so the intervals "
                           "may not hold.");
    for (size_t k = 0; k < shown; k++)
        row[k] =
            (dis__point_chart_row){.row = dis__class_name(g->job, k),
                                   .mean =
                                       all[k].prediction_powered.reason ? (double)NAN : all[k].prediction_powered.value,
                                   .low = value_or_nan(&all[k].prediction_powered, all[k].prediction_powered.ci_low),
                                   .high = value_or_nan(&all[k].prediction_powered, all[k].prediction_powered.ci_high),
                                   .other = all[k].raw};
    const dis__point_chart p = {.row = row,
                                .n = shown,
                                .x_title = "share of the items",
                                .value_name = "",
                                .mean_name = "among people's answers",
                                .other_name = "majority of the judges"};
    dis__point_chart_draw(&f.chart, &p, dis__figure_name(&f, "dot plot"));
    grid_rates(g, &f.table);
    dis__page_figure_add(&g->job->page, &f);
}

static void figure_buy(const panel_job *g)
{
    const dis__report_job *job = g->job;
    dis__figure f = {.id = "models-buy",
                     .title = "Items to label next",
                     .question = "On which items should people vote next?",
                     .wide = true,
                     .open = true};
    dis__markup_appendf(
        &f.caption,
        "Items on which one more vote of a person reduces the variance of the soft label most. The judges' "
        "prediction counts as %s votes of people. Log-loss of a person's held-out vote: %s with calibrated "
        "labels, %s with the judges' shares.",
        dis__format_fixed(g->v.judge_strength, 1).text, dis__format_fixed(g->v.loss_calibrated.value, 3).text,
        dis__format_fixed(g->v.loss_shares.value, 3).text);
    dis__data_table_add_column(&f.table, "item", DIS__CELL_TEXT);
    dis__report_add_text_column(job, &f.table);
    dis__data_table_add_column(&f.table, "people so far", DIS__CELL_COUNT);
    dis__data_table_add_column(&f.table, "gain", DIS__CELL_REAL);
    for (size_t i = 0; i < g->v.n_items && i < SHOWN_ITEMS; i++) {
        const dis_panel_item *x = &g->v.items[i];
        const char *task = dis_names_get(job->r->tasks, x->item, NULL);
        dis__data_table_add_text(&f.table, task, strlen(task));
        dis__report_add_text_cell(job, &f.table, x->item);
        dis__data_table_add_number(&f.table, x->people);
        dis__data_table_add_number(&f.table, x->gain);
    }
    dis__page_figure_add(&g->job->page, &f);
}

/* "judge-small and keyword rule agree with people no more than chance." */
static void put_below(const panel_job *g, dis__markup *m, size_t below)
{
    enum { NAMED = 3 };
    size_t n = 0;
    for (size_t j = 0; j < g->v.n_judges; j++) {
        if (g->v.judges[j].above_chance || n++ >= NAMED) continue;
        dis__markup_append(m, n == 1 ? "" : n == below ? " and " : ", ");
        put_judge(m, g, j);
    }
    if (n > NAMED) dis__markup_appendf(m, " and %zu more", n - NAMED);
    dis__markup_appendf(m, " agree%s with people no more than chance. ", below == 1 ? "s" : "");
}

/* "judge-large beats 12 of 13 people": it represents the others at least as well as these people do. */
static void put_judges(const panel_job *g, dis__markup *m, bool passed)
{
    enum { NAMED = 4 };
    size_t n = 0;
    for (size_t j = 0; j < g->v.n_judges; j++) {
        const dis_panel_judge *x = &g->v.judges[j];
        if (x->n_people_compared == 0 || x->passed != passed || !x->above_chance) continue;
        if (n++ >= NAMED) continue;
        dis__markup_append(m, n > 1 ? ", " : "");
        put_judge(m, g, j);
        dis__markup_appendf(m, " beats %s of %s", dis__format_grouped(x->n_people_represented).text,
                            dis__format_grouped(x->n_people_compared).text);
    }
    if (n > NAMED) dis__markup_appendf(m, " and %zu more", n - NAMED);
}

static void add_verdict(const panel_job *g)
{
    size_t passed = 0, failed = 0, below = 0;
    dis__markup text = {0};
    for (size_t j = 0; j < g->v.n_judges; j++) {
        const dis_panel_judge *x = &g->v.judges[j];
        below += !x->above_chance;
        passed += x->above_chance && x->n_people_compared && x->passed;
        failed += x->above_chance && x->n_people_compared && !x->passed;
    }
    const bool is_known = !g->v.missing_reason && passed + failed + below > 0;
    if (!is_known) {
        dis__markup_append_capitalized(&text, g->v.missing_reason
                                                  ? g->v.missing_reason
                                                  : "no person shares enough items with a judge for a comparison");
        dis__markup_append(&text, ". Have at least three people label 50 of the items that the judges labelled.");
    } else {
        if (passed) {
            dis__markup_append(&text,
                               "A judge may replace a person if it is as close to the other people as most people "
                               "are: ");
            put_judges(g, &text, true);
            dis__markup_append(&text, ". ");
        }
        if (failed) {
            dis__markup_appendf(&text, "%s not pass: ", failed == 1 ? "One judge does" : "Some judges do");
            put_judges(g, &text, false);
            dis__markup_append(&text, ". ");
        }
        if (below) put_below(g, &text, below);
        dis__markup_append(&text,
                           "The test measures similarity to these people, so keep people on a part of the items.");
    }
    dis__page_verdict_set(&g->job->page, "May a judge replace a person?",
                          !is_known              ? "unknown"
                          : failed + passed == 0 ? "no"
                          : passed == 0          ? "care"
                          : failed + below == 0  ? "yes"
                                                 : "care",
                          !is_known              ? "This cannot be told"
                          : failed + passed == 0 ? "No"
                          : passed == 0          ? "This is not shown"
                          : failed + below == 0  ? "Yes"
                                                 : "Some may",
                          &text);
    dis__markup_free(&text);
}

dis_status dis__section_panel(dis__report_job *job)
{
    const dis_report *r = job->r;
    if (!r->panel || !r->votes || !job->votes_view.start) return DIS_OK;
    const panel_job g = {.job = job, .v = dis_panel_get_view(r->panel)};
    dis__markup finding = {0};
    add_verdict(&g);
    add_panel_finding(&g, &finding);
    dis__page_finding_add(&job->page, &finding);
    dis__markup_free(&finding);
    dis__page_section_begin(&job->page, "models", "Judges",
                            g.v.missing_reason ? g.v.missing_reason : "LLM judges compared with people.");
    if (!g.v.missing_reason) {
        figure_judges(&g);
        figure_errors(&g);
        figure_rates(&g);
        figure_buy(&g);
    }
    dis__page_section_end(&job->page);
    return DIS_OK;
}
