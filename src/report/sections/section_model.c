/* Model: predictions against gold labels and against people. Everything measured comes from dis_evaluation_run. */
#include "report/sections/figure_model.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "evaluate/evaluation_internal.h"
#include "dissent/compare.h"
#include "tool/arrays.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

bool dis__evaluation_has(const dis_evaluation_view *e, dis_evaluation_metric i)
{
    return !e->metric[i].reason && !isnan(e->metric[i].value);
}

void dis__report_append_model_name(dis__markup *m, const dis__report_job *job, size_t i)
{
    dis__markup_append(m, "\xE2\x80\x9C");
    dis__markup_append_name(m, job->r->prediction[i].name, strlen(job->r->prediction[i].name), 30);
    dis__markup_append(m, "\xE2\x80\x9D");
}

/* The best by a metric of which `less` is better or not; SIZE_MAX when none has it. */
static size_t best_by(const dis__report_job *job, dis_evaluation_metric i)
{
    const bool lower = strcmp(dis_evaluation_metric_get(i)->better, "lower") == 0;
    size_t best = SIZE_MAX;
    for (size_t m = 0; m < job->r->n_predictions; m++) {
        if (!dis__evaluation_has(job->model[m], i)) continue;
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
        const dis_evaluation_input in = {.size = sizeof(dis_evaluation_input),
                                         .n_items = r->test.n_items,
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

/* Models that give one class for every item. */
static void add_one_class_findings(dis__report_job *job)
{
    const dis_report_test *t = &job->r->test;
    for (size_t m = 0; m < job->r->n_predictions; m++) {
        const double *q = job->r->prediction[m].q;
        const size_t first = dis__argmax(q, t->n_classes);
        size_t same = 0;
        for (size_t i = 0; i < t->n_items; i++) same += dis__argmax(q + i * t->n_classes, t->n_classes) == first;
        if (same < t->n_items || t->n_items < 10) continue;
        dis__markup finding = {0};
        const char *name = dis_names_get(t->classes, first, NULL);
        dis__markup_append(&finding, "Warning: ");
        dis__report_append_model_name(&finding, job, m);
        dis__markup_append(&finding, " predicts ");
        dis__markup_append_name(&finding, name, strlen(name), 40);
        dis__markup_appendf(&finding, " for all %s items.", dis__format_grouped(t->n_items).text);
        dis__page_finding_add(&job->page, &finding);
        dis__markup_free(&finding);
    }
}

/* The p-value of the difference in accuracy of two models on the same items (paired bootstrap); NaN: not tested. */
static dis_status test_accuracy(dis__report_job *job, size_t a, size_t b, double *p)
{
    const dis_report_test *t = &job->r->test;
    int32_t *label[2] = {NULL, NULL};
    const size_t model[2] = {a, b};
    dis_comparison *c = NULL;
    *p = NAN;
    if (!t->gold || job->r->resamples == 0) return DIS_OK;
    dis_status status = dis__alloc_array(&label[0], 2 * t->n_items, sizeof **label);
    if (status == DIS_OK) {
        label[1] = label[0] + t->n_items;
        for (int s = 0; s < 2; s++)
            for (size_t i = 0; i < t->n_items; i++)
                label[s][i] = (int32_t)dis__argmax(job->r->prediction[model[s]].q + i * t->n_classes, t->n_classes);
        const int32_t *one[] = {label[0]}, *other[] = {label[1]};
        const dis_comparison_input in = {.size = sizeof(dis_comparison_input),
                                         .n_items = t->n_items,
                                         .n_classes = t->n_classes,
                                         .gold = t->gold,
                                         .n_a = 1,
                                         .n_b = 1,
                                         .a = one,
                                         .b = other};
        status = dis_comparison_run(job->ctx, &in, NULL, &c);
    }
    if (status == DIS_OK && !dis_comparison_get_view(c).metric[DIS_COMPARE_ACCURACY].difference.reason)
        *p = dis_comparison_get_view(c).metric[DIS_COMPARE_ACCURACY].p_two_sided;
    dis_comparison_destroy(c);
    dis__free(label[0]);
    return status;
}

/* Which of several models is best by accuracy; pages of votes have an answer of their own. */
static dis_status add_verdict(dis__report_job *job, size_t best)
{
    size_t second = SIZE_MAX;
    double p;
    if (best == SIZE_MAX || job->page.verdict.n) return DIS_OK;
    for (size_t m = 0; m < job->r->n_predictions; m++) {
        if (m == best || !dis__evaluation_has(job->model[m], DIS_EVALUATION_ACCURACY)) continue;
        const double x = job->model[m]->metric[DIS_EVALUATION_ACCURACY].value;
        if (second == SIZE_MAX || x > job->model[second]->metric[DIS_EVALUATION_ACCURACY].value) second = m;
    }
    if (second == SIZE_MAX) return DIS_OK;
    DIS_TRY(test_accuracy(job, best, second, &p));
    if (isnan(p)) return DIS_OK;
    const dis_metric *base = &job->model[best]->metric[DIS_EVALUATION_MAJORITY_ACCURACY];
    dis__markup text = {0};
    dis__report_append_model_name(&text, job, best);
    dis__markup_appendf(&text, " is correct on %s of the items, ",
                        dis__format_percent(job->model[best]->metric[DIS_EVALUATION_ACCURACY].value).text);
    dis__report_append_model_name(&text, job, second);
    dis__markup_appendf(&text, " on %s",
                        dis__format_percent(job->model[second]->metric[DIS_EVALUATION_ACCURACY].value).text);
    if (!base->reason)
        dis__markup_appendf(&text, "; always choosing the most frequent class would be correct on %s",
                            dis__format_percent(base->value).text);
    dis__markup_appendf(&text, ". The difference between the two is %s (p %s, paired bootstrap). ",
                        p <= .05 ? "larger than chance explains" : "no larger than chance explains",
                        p < .001 ? "below .001" : dis__format_fixed(p, 3).text);
    const size_t close = best_by(job, DIS_EVALUATION_JSD);
    if (close != SIZE_MAX) {
        dis__markup_append(&text, "Closest to human labels is ");
        dis__report_append_model_name(&text, job, close);
        dis__markup_append(&text, p <= .05 && close != best ? ": choose by what you need." : ".");
    }
    dis__page_verdict_set(&job->page, "Which model is best?", p <= .05 ? "yes" : "care",
                          p <= .05 ? "One is more accurate" : "No clear difference in accuracy", &text);
    dis__markup_free(&text);
    return DIS_OK;
}

static void add_model_findings(dis__report_job *job)
{
    dis__markup finding = {0};
    const size_t right = best_by(job, DIS_EVALUATION_ACCURACY), close = best_by(job, DIS_EVALUATION_JSD);
    if (right != SIZE_MAX) {
        const dis_metric *m = &job->model[right]->metric[DIS_EVALUATION_ACCURACY];
        const dis_metric *base = &job->model[right]->metric[DIS_EVALUATION_MAJORITY_ACCURACY];
        dis__markup_append(&finding, "The model ");
        dis__report_append_model_name(&finding, job, right);
        dis__markup_appendf(&finding, " is correct on %s of %s items", dis__format_percent(m->value).text,
                            dis__format_grouped(m->n).text);
        if (m->has_interval)
            dis__markup_appendf(&finding, " (95\xC2\xA0%% from %s to %s)", dis__format_percent(m->ci_low).text,
                                dis__format_percent(m->ci_high).text);
        if (!base->reason)
            dis__markup_appendf(&finding, "; always predicting the most frequent class would reach %s",
                                dis__format_percent(base->value).text);
        dis__markup_append(&finding, ".");
        dis__page_finding_add(&job->page, &finding);
        if (!job->r->votes)
            dis__page_tile_add(&job->page, dis__format_abbreviated(m->n).text, "items with a known class");
        dis__page_tile_add(&job->page, dis__format_percent(m->value).text,
                           job->r->n_predictions > 1 ? "best accuracy" : "model accuracy");
    }
    if (close != SIZE_MAX) {
        const dis_evaluation_view *e = job->model[close];
        dis__markup_append(&finding, "Closest to the human labels is ");
        dis__report_append_model_name(&finding, job, close);
        dis__markup_appendf(&finding, ": %s nats of divergence (0 is the same, 0.69 is nothing in common)",
                            dis__format_fixed(e->metric[DIS_EVALUATION_JSD].value, 3).text);
        if (dis__evaluation_has(e, DIS_EVALUATION_ENTROPY_CORRELATION))
            dis__markup_appendf(&finding, ", and its entropy correlates with theirs at %s",
                                dis__format_fixed(e->metric[DIS_EVALUATION_ENTROPY_CORRELATION].value, 2).text);
        dis__markup_append(&finding, ".");
        dis__page_finding_add(&job->page, &finding);
        dis__page_tile_add(&job->page, dis__format_fixed(e->metric[DIS_EVALUATION_JSD].value, 3).text,
                           job->r->n_predictions > 1 ? "smallest divergence from people (nats)"
                                                     : "divergence from people (nats)");
    }
    dis__markup_free(&finding);
}

static void table_of_metrics(dis__report_job *job)
{
    const dis_report *r = job->r;
    const size_t n = r->n_predictions < DIS__REPORT_SHOWN_VIEWS ? r->n_predictions : DIS__REPORT_SHOWN_VIEWS;
    const bool intervals = r->resamples > 0;
    dis__figure f = {
        .id = "metrics", .title = "All metrics", .question = "What are all the metrics?", .wide = true, .open = true};
    dis__markup_append(&f.caption, "Compare with the baselines: accuracy means little without the accuracy of the most "
                                   "frequent class, and no cross-entropy is below the entropy of the human labels.");
    dis__data_table_add_column(&f.table, "metric", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "better", DIS__CELL_TEXT);
    for (size_t m = 0; m < n; m++) {
        dis__data_table_add_named_column(&f.table, r->prediction[m].name, DIS__CELL_REAL);
        for (size_t end = 0; end < 2 && intervals; end++) { /* of several models only in the CSV: the page is narrow */
            dis__data_table_add_column(&f.table, end ? "to" : "95 % from", DIS__CELL_REAL);
            if (n > 1) dis__data_table_set_csv_only(&f.table);
        }
    }
    dis__data_table_add_column(&f.table, "what it is", DIS__CELL_LONG_TEXT);
    for (size_t i = 0; i < DIS_EVALUATION_METRICS; i++) {
        bool any = false;
        for (size_t m = 0; m < n; m++) any |= dis__evaluation_has(job->model[m], (dis_evaluation_metric)i);
        if (!any) continue;
        dis__data_table_add_static_text(&f.table, dis_evaluation_metric_get(i)->title);
        dis__data_table_add_static_text(&f.table, dis_evaluation_metric_get(i)->better);
        for (size_t m = 0; m < n; m++) {
            const dis_metric *x = &job->model[m]->metric[i];
            dis__data_table_add_number(&f.table, x->reason ? (double)NAN : x->value);
            if (intervals) dis__data_table_add_number(&f.table, x->has_interval ? x->ci_low : (double)NAN);
            if (intervals) dis__data_table_add_number(&f.table, x->has_interval ? x->ci_high : (double)NAN);
        }
        dis__data_table_add_static_text(&f.table, dis_evaluation_metric_get(i)->summary);
    }
    dis__page_figure_add(&job->page, &f);
}

/* One dot per model, and the baseline. */
static void accuracies(dis__report_job *job)
{
    enum { MAX = DIS__REPORT_SHOWN_VIEWS };
    const char *row[MAX + 1];
    double value[MAX + 1], low[MAX + 1], high[MAX + 1];
    size_t n = 0, best = best_by(job, DIS_EVALUATION_ACCURACY);
    if (best == SIZE_MAX) return;
    for (size_t m = 0; m < job->r->n_predictions && n < MAX; m++) {
        const dis_metric *x = &job->model[m]->metric[DIS_EVALUATION_ACCURACY];
        if (x->reason) continue;
        row[n] = job->r->prediction[m].name;
        value[n] = x->value;
        low[n] = x->has_interval ? x->ci_low : (double)NAN;
        high[n++] = x->has_interval ? x->ci_high : (double)NAN;
    }
    const dis_metric *base = &job->model[best]->metric[DIS_EVALUATION_MAJORITY_ACCURACY];
    dis__figure f = {.id = "accuracy", .title = "Accuracy of the model", .question = "How accurate is each model?"};
    dis__report_append_model_name(&f.caption, job, best);
    dis__markup_appendf(&f.caption, " is correct on %s of the items",
                        dis__format_percent(job->model[best]->metric[DIS_EVALUATION_ACCURACY].value).text);
    if (!base->reason) {
        row[n] = "always the most frequent class";
        value[n] = base->value;
        low[n] = high[n] = NAN;
        n++;
        dis__markup_appendf(
            &f.caption, ", %s points above always predicting the most frequent class",
            dis__format_fixed(100 * (job->model[best]->metric[DIS_EVALUATION_ACCURACY].value - base->value), 0).text);
    }
    dis__markup_append(&f.caption, ". Lines are 95\xC2\xA0% intervals.");
    const dis__interval_chart c = {.row = row,
                                   .value = value,
                                   .low = low,
                                   .high_end = high,
                                   .n = n,
                                   .high = 1,
                                   .x_title = "accuracy against the known classes"};
    dis__interval_chart_draw(&f.chart, &c, dis__figure_name(&f, "dots with intervals"));
    dis__data_table_add_column(&f.table, "model", DIS__CELL_TEXT);
    dis__data_table_add_column(&f.table, "accuracy", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "95 % from", DIS__CELL_REAL);
    dis__data_table_add_column(&f.table, "to", DIS__CELL_REAL);
    for (size_t i = 0; i < n; i++) {
        dis__data_table_add_text(&f.table, row[i], strlen(row[i]));
        dis__data_table_add_number(&f.table, value[i]);
        dis__data_table_add_number(&f.table, low[i]);
        dis__data_table_add_number(&f.table, high[i]);
    }
    dis__page_figure_add(&job->page, &f);
}

dis_status dis__section_model(dis__report_job *job)
{
    if (job->r->n_predictions == 0) return DIS_OK;
    DIS_TRY(evaluate(job));
    add_one_class_findings(job);
    add_model_findings(job);
    DIS_TRY(add_verdict(job, best_by(job, DIS_EVALUATION_ACCURACY)));
    dis__page_section_begin(&job->page, "model", "Model", "Predictions compared with known classes and human labels.");
    accuracies(job);
    const size_t best = best_by(job, DIS_EVALUATION_ACCURACY), close = best_by(job, DIS_EVALUATION_JSD);
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
