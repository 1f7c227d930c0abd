/* Model: predictions against gold labels and against people. Everything measured comes from dis_evaluation_run. */
#include "report/figure_model.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "evaluate/evaluation.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

bool dis__model_has(const dis_evaluation_view *e, dis_eval_metric i)
{
    return !e->metric[i].reason && !isnan(e->metric[i].value);
}

void dis__put_model(dis__markup *m, const dis__report_job *job, size_t i)
{
    dis__put(m, "\xE2\x80\x9C");
    dis__put_name(m, job->r->prediction[i].name, strlen(job->r->prediction[i].name), 30);
    dis__put(m, "\xE2\x80\x9D");
}

/* The best by a metric of which `less` is better or not; SIZE_MAX when nobody has it. */
static size_t best_by(const dis__report_job *job, dis_eval_metric i)
{
    const bool lower = strcmp(dis_eval_metric_at(i)->better, "lower") == 0;
    size_t best = SIZE_MAX;
    for (size_t m = 0; m < job->r->n_predictions; m++) {
        if (!dis__model_has(job->model[m], i)) continue;
        const double x = job->model[m]->metric[i].value;
        const double other = best == SIZE_MAX ? 0 : job->model[best]->metric[i].value;
        if (best == SIZE_MAX || (lower ? x < other : x > other)) best = m;
    }
    return best;
}

static dis_status evaluate(dis__report_job *job)
{
    const dis_report *r = job->r;
    dis_evaluation_options o = dis_evaluation_options_default();
    o.seed = r->seed;
    o.resamples = r->resamples;
    o.ordinal = r->ordinal;
    o.keep_items = true;
    for (size_t m = 0; m < r->n_predictions; m++) {
        const dis_evaluation_input in = {.n_items = r->test.n_items,
                                         .n_classes = r->test.n_classes,
                                         .q = r->prediction[m].q,
                                         .gold = r->test.gold,
                                         .human = r->test.human};
        DIS_TRY(dis_evaluation_run(job->ctx, &in, &o, &job->evaluation[m]));
        job->model[m] = &job->evaluation[m]->view;
        dis__progress(job->ctx, "judging predictions", (double)(m + 1) / (double)r->n_predictions);
    }
    return DIS_OK;
}

static void say_model(dis__report_job *job)
{
    dis__markup say = {0};
    const size_t right = best_by(job, DIS_EVAL_ACCURACY), close = best_by(job, DIS_EVAL_JSD);
    if (right != SIZE_MAX) {
        const dis_metric *m = &job->model[right]->metric[DIS_EVAL_ACCURACY];
        const dis_metric *base = &job->model[right]->metric[DIS_EVAL_MAJORITY_ACCURACY];
        dis__put(&say, "The model ");
        dis__put_model(&say, job, right);
        dis__putf(&say, " is right on %s of %s items", dis__share(m->value).text, dis__grouped(m->n).text);
        if (m->has_interval)
            dis__putf(&say, " (95\xC2\xA0%% from %s to %s)", dis__share(m->ci_low).text, dis__share(m->ci_high).text);
        if (!base->reason) dis__putf(&say, "; always answering the same would reach %s", dis__share(base->value).text);
        dis__put(&say, ".");
        dis__page_say(&job->page, &say);
        if (!job->r->votes) dis__page_tile(&job->page, dis__large(m->n).text, "items with a known class");
        dis__page_tile(&job->page, dis__share(m->value).text, "model accuracy");
    }
    if (close != SIZE_MAX) {
        const dis_evaluation_view *e = job->model[close];
        dis__put(&say, "Closest to what people say is ");
        dis__put_model(&say, job, close);
        dis__putf(&say, ": %s nats of divergence (0 is the same, 0.69 is nothing in common)",
                  dis__fixed(e->metric[DIS_EVAL_JSD].value, 3).text);
        if (dis__model_has(e, DIS_EVAL_ENTROPY_CORRELATION))
            dis__putf(&say, ", and its doubt goes with theirs at a correlation of %s",
                      dis__fixed(e->metric[DIS_EVAL_ENTROPY_CORRELATION].value, 2).text);
        dis__put(&say, ".");
        dis__page_say(&job->page, &say);
        dis__page_tile(&job->page, dis__fixed(e->metric[DIS_EVAL_JSD].value, 3).text, "divergence from people (nats)");
    }
    dis__markup_free(&say);
}

static void table_of_metrics(dis__report_job *job)
{
    const dis_report *r = job->r;
    const size_t n = r->n_predictions < DIS__REPORT_SHOWN_VIEWS ? r->n_predictions : DIS__REPORT_SHOWN_VIEWS;
    const bool intervals = r->resamples > 0;
    dis__figure f = {.id = "metrics", .title = "All metrics", .wide = true, .open = true};
    dis__put(&f.caption,
             "Baselines and floors are there to compare with: accuracy means little without that of always "
             "answering the most frequent class, and no cross-entropy goes below the entropy of the people.");
    dis__grid_column(&f.grid, "metric", DIS__TEXT);
    dis__grid_column(&f.grid, "better", DIS__TEXT);
    for (size_t m = 0; m < n; m++) {
        dis__grid_column_named(&f.grid, r->prediction[m].name, DIS__REAL);
        for (size_t end = 0; end < 2 && intervals; end++) { /* of several models only in the CSV: the page is narrow */
            dis__grid_column(&f.grid, end ? "to" : "95 % from", DIS__REAL);
            if (n > 1) dis__grid_csv_only(&f.grid);
        }
    }
    dis__grid_column(&f.grid, "what it is", DIS__LONG);
    for (size_t i = 0; i < DIS_EVAL_METRICS; i++) {
        bool any = false;
        for (size_t m = 0; m < n; m++) any |= dis__model_has(job->model[m], (dis_eval_metric)i);
        if (!any) continue;
        char name[DIS__METRIC_WORDS];
        dis__metric_words(i, name);
        dis__grid_ours(&f.grid, name);
        dis__grid_ours(&f.grid, dis_eval_metric_at(i)->better);
        for (size_t m = 0; m < n; m++) {
            const dis_metric *x = &job->model[m]->metric[i];
            dis__grid_number(&f.grid, x->reason ? (double)NAN : x->value);
            if (intervals) dis__grid_number(&f.grid, x->has_interval ? x->ci_low : (double)NAN);
            if (intervals) dis__grid_number(&f.grid, x->has_interval ? x->ci_high : (double)NAN);
        }
        dis__grid_ours(&f.grid, dis_eval_metric_at(i)->summary);
    }
    dis__page_figure(&job->page, &f);
}

/* One dot per model, and the baseline. */
static void accuracies(dis__report_job *job)
{
    enum { MAX = DIS__REPORT_SHOWN_VIEWS };
    const char *row[MAX + 1];
    double value[MAX + 1], low[MAX + 1], high[MAX + 1];
    size_t n = 0, best = best_by(job, DIS_EVAL_ACCURACY);
    if (best == SIZE_MAX) return;
    for (size_t m = 0; m < job->r->n_predictions && n < MAX; m++) {
        const dis_metric *x = &job->model[m]->metric[DIS_EVAL_ACCURACY];
        if (x->reason) continue;
        row[n] = job->r->prediction[m].name;
        value[n] = x->value;
        low[n] = x->has_interval ? x->ci_low : (double)NAN;
        high[n++] = x->has_interval ? x->ci_high : (double)NAN;
    }
    const dis_metric *base = &job->model[best]->metric[DIS_EVAL_MAJORITY_ACCURACY];
    dis__figure f = {.id = "accuracy", .title = "How often the model is right"};
    dis__put_model(&f.caption, job, best);
    dis__putf(&f.caption, " is right on %s of the items",
              dis__share(job->model[best]->metric[DIS_EVAL_ACCURACY].value).text);
    if (!base->reason) {
        row[n] = "always the most frequent class";
        value[n] = base->value;
        low[n] = high[n] = NAN;
        n++;
        dis__putf(&f.caption, ", %s points above always answering the most frequent class",
                  dis__fixed(100 * (job->model[best]->metric[DIS_EVAL_ACCURACY].value - base->value), 0).text);
    }
    dis__put(&f.caption, ". Lines are 95\xC2\xA0% intervals.");
    const dis__intervals c = {.row = row,
                              .value = value,
                              .low = low,
                              .high_end = high,
                              .n = n,
                              .high = 1,
                              .x_title = "accuracy against the known classes"};
    dis__chart_intervals(&f.chart, &c, dis__figure_name(&f, "dots with intervals"));
    dis__grid_column(&f.grid, "model", DIS__TEXT);
    dis__grid_column(&f.grid, "accuracy", DIS__REAL);
    dis__grid_column(&f.grid, "95 % from", DIS__REAL);
    dis__grid_column(&f.grid, "to", DIS__REAL);
    for (size_t i = 0; i < n; i++) {
        dis__grid_text(&f.grid, row[i], strlen(row[i]));
        dis__grid_number(&f.grid, value[i]);
        dis__grid_number(&f.grid, low[i]);
        dis__grid_number(&f.grid, high[i]);
    }
    dis__page_figure(&job->page, &f);
}

dis_status dis__section_model(dis__report_job *job)
{
    if (job->r->n_predictions == 0) return DIS_OK;
    DIS_TRY(evaluate(job));
    say_model(job);
    dis__page_section(
        &job->page, "model", "Model",
        "Predictions beside what is known and what people said: right or wrong, sure or unsure, and where.");
    accuracies(job);
    const size_t best = best_by(job, DIS_EVAL_ACCURACY), close = best_by(job, DIS_EVAL_JSD);
    dis__figure_reliability(job);
    if (close != SIZE_MAX) DIS_TRY(dis__figure_entropies(job, close));
    if (close != SIZE_MAX) DIS_TRY(dis__figure_divergences(job));
    if (best != SIZE_MAX) {
        DIS_TRY(dis__figure_confusion(job, best));
        dis__figure_classes(job);
    }
    table_of_metrics(job);
    dis__page_section_end(&job->page);
    return DIS_OK;
}
