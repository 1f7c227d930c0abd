/* Models as voters: whether each may replace a person, which err together, how common classes are among people's
 * answers, and where people should be asked. All figures are those of a panel that the caller ran. */
#include "dissent/panel.h"
#include "report/report_internal.h"
#include <math.h>
#include <string.h>

enum { SHOWN_JUDGES = 24, SHOWN_ITEMS = 100 };

typedef struct {
    dis__report_job *job;
    dis_panel_view v;
} panel_job;

static const char *name_of(const panel_job *g, size_t j)
{
    return dis_names_get(g->job->look.workers, g->v.judges[j].worker, NULL);
}

static void put_judge(dis__markup *m, const panel_job *g, size_t j)
{
    dis__put_name(m, name_of(g, j), strlen(name_of(g, j)), 30);
}

static void say_panel(const panel_job *g, dis__markup *m)
{
    size_t passed = 0, best = 0;
    for (size_t j = 0; j < g->v.n_judges; j++) {
        passed += g->v.judges[j].passed;
        if (!(g->v.judges[j].advantage.value <= g->v.judges[best].advantage.value)) best = j;
    }
    if (g->v.judges[best].advantage.reason)
        dis__put(m, "No person shares enough items with a model to say whether it may replace one.");
    else {
        dis__putf(m, "%zu of %zu model%s may replace a person by the alternative-annotator test; best: ", passed,
                  g->v.n_judges, dis__plural(g->v.n_judges));
        put_judge(m, g, best);
        dis__putf(m, " (advantage %s).", dis__fixed(g->v.judges[best].advantage.value, 2).text);
    }
    if (g->v.n_judges > 1 && !g->v.effective.reason)
        dis__putf(m, " Together the %zu models are worth %s independent judges.", g->v.n_judges,
                  dis__fixed(g->v.effective.value, 1).text);
}

static double or_nothing(const dis_metric *m, double x)
{
    return m->has_interval ? x : (double)NAN;
}

static void figure_advantage(const panel_job *g)
{
    dis__points_row row[SHOWN_JUDGES];
    const size_t n = g->v.n_judges < SHOWN_JUDGES ? g->v.n_judges : SHOWN_JUDGES;
    dis__figure f = {.id = "models-advantage", .title = "May a model replace a person?"};
    dis__put(&f.caption,
             "Dots: the chance that the model stands for the other people at least as well as one of them does, with "
             "its interval over items; diamonds: how often it says what people say. Bold: it passes, winning "
             "against half of the people or more.");
    for (size_t j = 0; j < n; j++) {
        const dis_panel_judge *x = &g->v.judges[j];
        row[j] = (dis__points_row){.row = name_of(g, j),
                                   .mean = x->advantage.reason ? (double)NAN : x->advantage.value,
                                   .low = or_nothing(&x->advantage, x->advantage.ci_low),
                                   .high = or_nothing(&x->advantage, x->advantage.ci_high),
                                   .other = x->agreement.reason ? (double)NAN : x->agreement.value,
                                   .strong = x->passed};
    }
    const dis__points p = {.row = row,
                           .n = n,
                           .x_title = "share",
                           .value_name = "",
                           .mean_name = "advantage",
                           .other_name = "agreement with people"};
    dis__chart_points(&f.chart, &p, dis__figure_name(&f, "dot plot"));
    dis__grid_column(&f.grid, "model", DIS__TEXT);
    dis__grid_column(&f.grid, "items with people", DIS__COUNT);
    dis__grid_column(&f.grid, "agreement", DIS__REAL);
    dis__grid_column(&f.grid, "error", DIS__REAL);
    dis__grid_column(&f.grid, "advantage", DIS__REAL);
    dis__grid_column(&f.grid, "winning rate", DIS__REAL);
    dis__grid_column(&f.grid, "people", DIS__COUNT);
    dis__grid_column(&f.grid, "passes", DIS__TEXT);
    dis__grid_keep(&f.grid);
    dis__grid_column(&f.grid, "cluster", DIS__COUNT);
    for (size_t j = 0; j < g->v.n_judges; j++) {
        const dis_panel_judge *x = &g->v.judges[j];
        dis__grid_text(&f.grid, name_of(g, j), strlen(name_of(g, j)));
        dis__grid_number(&f.grid, (double)x->shared);
        dis__grid_number(&f.grid, x->agreement.value);
        dis__grid_number(&f.grid, x->error.value);
        dis__grid_number(&f.grid, x->advantage.value);
        dis__grid_number(&f.grid, x->winning_rate);
        dis__grid_number(&f.grid, (double)x->people);
        dis__grid_ours(&f.grid, x->people == 0 ? "" : x->passed ? "yes" : "no");
        dis__grid_number(&f.grid, x->cluster + 1.);
    }
    dis__page_figure(&g->job->page, &f);
}

static void figure_errors(const panel_job *g)
{
    const size_t n = g->v.n_judges;
    double value[SHOWN_JUDGES * SHOWN_JUDGES];
    const char *name[SHOWN_JUDGES];
    if (n < 2 || n > SHOWN_JUDGES) return;
    for (size_t j = 0; j < n; j++) {
        name[j] = name_of(g, j);
        value[j * n + j] = NAN;
    }
    for (size_t p = 0; p < g->v.n_pairs; p++) {
        const dis_panel_pair *x = &g->v.pairs[p];
        value[x->a * n + x->b] = value[x->b * n + x->a] = x->correlation;
    }
    dis__figure f = {.id = "models-errors", .title = "Which models err together"};
    dis__putf(&f.caption, "Correlation of errors on items with a majority of people, %s on average. ",
              dis__fixed(g->v.correlation.value, 2).text);
    if (!g->v.effective.reason)
        dis__putf(&f.caption, "%zu models are worth %s independent ones (%s to %s), in %zu cluster%s.", n,
                  dis__fixed(g->v.effective.value, 1).text, dis__fixed(g->v.effective.ci_low, 1).text,
                  dis__fixed(g->v.effective.ci_high, 1).text, g->v.n_clusters, dis__plural(g->v.n_clusters));
    const dis__heat h = {.name = name,
                         .n = n,
                         .value = value,
                         .high = 1,
                         .decimals = 2,
                         .row_title = "",
                         .column_title = "correlation of errors",
                         .value_title = "correlation",
                         .width = DIS__CHART_WIDTH,
                         .legend = true};
    dis__chart_heat(&f.chart, &h, dis__figure_name(&f, "heat map"));
    dis__grid_column(&f.grid, "model", DIS__TEXT);
    dis__grid_column(&f.grid, "other model", DIS__TEXT);
    dis__grid_column(&f.grid, "items", DIS__COUNT);
    dis__grid_column(&f.grid, "correlation", DIS__REAL);
    for (size_t p = 0; p < g->v.n_pairs; p++) {
        const dis_panel_pair *x = &g->v.pairs[p];
        dis__grid_text(&f.grid, name[x->a], strlen(name[x->a]));
        dis__grid_text(&f.grid, name[x->b], strlen(name[x->b]));
        dis__grid_number(&f.grid, (double)x->n);
        dis__grid_number(&f.grid, x->correlation);
    }
    dis__page_figure(&g->job->page, &f);
}

static void figure_rates(const panel_job *g)
{
    const size_t n = g->v.n_classes, shown = n < SHOWN_JUDGES ? n : SHOWN_JUDGES;
    dis__points_row row[SHOWN_JUDGES];
    const dis_panel_rate *all = g->v.rates + g->v.n_judges * n;
    dis__figure f = {.id = "models-rates", .title = "How common classes are among people's answers"};
    dis__put(&f.caption,
             "Diamonds: share of the models' majority as it is. Dots: the share among people's answers, from the items "
             "that people labelled and, as far as they help, the models on the others (prediction-powered).");
    for (size_t k = 0; k < shown; k++)
        row[k] = (dis__points_row){.row = dis__class_name(g->job, k),
                                   .mean = all[k].powered.reason ? (double)NAN : all[k].powered.value,
                                   .low = or_nothing(&all[k].powered, all[k].powered.ci_low),
                                   .high = or_nothing(&all[k].powered, all[k].powered.ci_high),
                                   .other = all[k].raw};
    const dis__points p = {.row = row,
                           .n = shown,
                           .x_title = "share of the items",
                           .value_name = "",
                           .mean_name = "among people's answers",
                           .other_name = "models, raw"};
    dis__chart_points(&f.chart, &p, dis__figure_name(&f, "dot plot"));
    static const char *const heads[] = {"raw",          "sensitivity",  "specificity",
                                        "people alone", "Rogan-Gladen", "powered",
                                        "lambda",       "items needed", "needed without models"};
    dis__grid_column(&f.grid, "class", DIS__TEXT);
    for (size_t c = 0; c < sizeof heads / sizeof *heads; c++) dis__grid_column(&f.grid, heads[c], DIS__REAL);
    for (size_t k = 0; k < n; k++) {
        const dis_panel_rate *x = &all[k];
        const double cells[] = {
            x->raw,           x->sensitivity, x->specificity, x->people.value, x->rogan_gladen.value,
            x->powered.value, x->lambda,      x->needed,      x->needed_alone};
        const char *name = dis__class_name(g->job, k);
        dis__grid_text(&f.grid, name, strlen(name));
        for (size_t c = 0; c < sizeof cells / sizeof *cells; c++) dis__grid_number(&f.grid, cells[c]);
    }
    dis__page_figure(&g->job->page, &f);
}

static void figure_buy(const panel_job *g)
{
    const dis__report_job *job = g->job;
    dis__figure f = {.id = "models-buy", .title = "Where to ask people next", .wide = true, .open = true};
    dis__putf(&f.caption,
              "Items on which one more vote of a person narrows the label most, the models together being worth %s "
              "votes of people there. A person's vote is foretold with a loss of %s by the calibrated labels, %s by "
              "the models' shares.",
              dis__fixed(g->v.strength, 1).text, dis__fixed(g->v.loss_calibrated.value, 3).text,
              dis__fixed(g->v.loss_shares.value, 3).text);
    dis__grid_column(&f.grid, "item", DIS__TEXT);
    dis__text_column(job, &f.grid);
    dis__grid_column(&f.grid, "people so far", DIS__COUNT);
    dis__grid_column(&f.grid, "gain", DIS__REAL);
    for (size_t i = 0; i < g->v.n_items && i < SHOWN_ITEMS; i++) {
        const dis_panel_item *x = &g->v.items[i];
        const char *task = dis_names_get(job->r->tasks, x->item, NULL);
        dis__grid_text(&f.grid, task, strlen(task));
        dis__text_cell(job, &f.grid, x->item);
        dis__grid_number(&f.grid, x->people);
        dis__grid_number(&f.grid, x->gain);
    }
    dis__page_figure(&g->job->page, &f);
}

dis_status dis__section_panel(dis__report_job *job)
{
    const dis_report *r = job->r;
    if (!r->panel || !r->votes || !job->look.start) return DIS_OK;
    const panel_job g = {.job = job, .v = dis_panel_look(r->panel)};
    dis__markup say = {0};
    say_panel(&g, &say);
    dis__page_say(&job->page, &say);
    dis__markup_free(&say);
    dis__page_section(&job->page, "models", "Models as voters", "What models are worth beside people.");
    figure_advantage(&g);
    figure_errors(&g);
    figure_rates(&g);
    figure_buy(&g);
    dis__page_section_end(&job->page);
    return DIS_OK;
}
