/* The report builder: stores its inputs, and at the end runs the sections. */
#include "report/report_internal.h"
#include "core/memory/memory.h"
#include "core/parallel/pool.h"
#include "core/options/sized_structs.h"
#include "dissent/version.h"
#include <stdio.h>
#include <string.h>

DIS_OPTIONS_DEFAULTS(dis_report_test, .size = sizeof(dis_report_test))
DIS_OPTIONS_DEFAULTS(dis_report_options, .size = sizeof(dis_report_options), .resamples = 1000)

static dis_status copy(char **out, const char *text)
{
    return text ? dis__copy_text(out, text, strlen(text)) : DIS_OK;
}

dis_status dis_report_create(const dis_report_options *options, dis_report **out)
{
    dis_report_options o = dis_report_options_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_report_options, &o, options));
    dis_report *r;
    DIS_TRY(dis__alloc_zeroed(&r, 1, sizeof *r));
    r->seed = o.seed;
    r->resamples = o.resamples;
    r->ordinal = o.ordinal;
    r->causes = o.causes;
    const dis_status status = copy(&r->title, o.title);
    if (status == DIS_OK)
        *out = r;
    else
        dis_report_destroy(r);
    return status;
}

void dis_report_destroy(dis_report *report)
{
    if (!report) return;
    for (size_t m = 0; m < report->n_views; m++) dis__free(report->view[m].name);
    for (size_t m = 0; m < report->n_predictions; m++) dis__free(report->prediction[m].name);
    for (size_t i = 0; i < report->n_curves; i++) {
        dis__free(report->curve[i].name);
        dis__free(report->curve[i].epoch);
    }
    dis__free(report->curve);
    for (size_t i = 0; i < report->n_sources; i++) {
        dis__free(report->source[i].role);
        dis__free(report->source[i].text);
    }
    dis__free(report->source);
    dis__free(report->title);
    dis__free(report->group_column);
    dis__free(report->votes_source);
    dis__free(report);
}

/* The first table defines the items and classes of the report. */
static dis_status check_shape(dis_report *r, size_t n_items, size_t n_classes, const dis_names *tasks,
                              const dis_names *classes)
{
    if (!r->tasks) {
        r->n_items = n_items;
        r->n_classes = n_classes;
        r->tasks = tasks;
        r->classes = classes;
    } else if (r->n_items != n_items || r->n_classes != n_classes) {
        return dis__fail(DIS_EUSAGE,
                         "a table of %zu items and %zu classes but another has %zu and %zu; align them first", n_items,
                         n_classes, r->n_items, r->n_classes);
    }
    return DIS_OK;
}

dis_status dis_report_add_votes(dis_report *report, const dis_votes *votes, const char *source)
{
    const dis_votes_view v = dis_votes_get_view(votes);
    if (report->votes) return dis__fail(DIS_EUSAGE, "a report supports one table of votes");
    char *name = NULL;
    DIS_TRY(copy(&name, source));
    const dis_status status = check_shape(report, v.n_items, v.n_classes, v.tasks, v.classes);
    if (status != DIS_OK) {
        dis__free(name);
        return status;
    }
    report->votes = votes;
    report->ordinal |= dis_scale_get(dis_votes_scale(votes))->ordered;
    report->votes_source = name;
    return DIS_OK;
}

dis_status dis_report_add_gold(dis_report *report, const int32_t *gold)
{
    report->gold = gold;
    return DIS_OK;
}

dis_status dis_report_add_texts(dis_report *report, const dis_names *texts)
{
    report->texts = texts;
    return DIS_OK;
}

dis_status dis_report_add_groups(dis_report *report, const dis_worker_groups *groups, const char *column)
{
    enum { SHOWN = 60 };
    dis__markup shown = {0};
    if (report->groups) return dis__fail(DIS_EUSAGE, "a report supports groups of one column");
    dis__markup_append_name(&shown, column, strlen(column), SHOWN);
    dis_status status = shown.status;
    if (status == DIS_OK) status = dis__copy_text(&report->group_column, shown.bytes, shown.n);
    dis__markup_free(&shown);
    if (status == DIS_OK) report->groups = groups;
    return status;
}

dis_status dis_report_add_panel(dis_report *report, const dis_panel *panel)
{
    if (!report->votes) return dis__fail(DIS_EUSAGE, "a panel in a report without its votes; add them first");
    if (dis_panel_get_view(panel).n_items != report->n_items)
        return dis__fail(DIS_EUSAGE, "a panel of other votes than those of the report");
    report->panel = panel;
    return DIS_OK;
}

static dis_status add_view(dis_report *r, const char *name, const double *p, const dis_fit *fit)
{
    if (r->n_views == DIS_MAX_VIEWS) return dis__fail(DIS_EUSAGE, "more than %d views in one report", DIS_MAX_VIEWS);
    dis__report_view view = {.p = p, .fit = fit};
    DIS_TRY(copy(&view.name, name));
    r->view[r->n_views++] = view;
    return DIS_OK;
}

dis_status dis_report_add_labels(dis_report *report, const char *name, const dis_labels_view *given)
{
    dis_labels_view own = dis_labels_view_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_labels_view, &own, given));
    const dis_labels_view *labels = &own;
    DIS_TRY(check_shape(report, labels->n_items, labels->n_classes, labels->tasks, labels->classes));
    return add_view(report, name, labels->p, NULL);
}

dis_status dis_report_add_fit(dis_report *report, const char *name, const dis_fit *fit, const double *p)
{
    if (!report->votes) return dis__fail(DIS_EUSAGE, "a fit in a report without its votes; add them first");
    return add_view(report, name, p, fit);
}

dis_status dis_report_add_test(dis_report *report, const dis_report_test *test)
{
    if (report->test.classes) return dis__fail(DIS_EUSAGE, "a report supports predictions of one set of items");
    dis_report_test own = dis_report_test_default();
    DIS_TRY(DIS_OPTIONS_COPY(dis_report_test, &own, test));
    report->test = own;
    return DIS_OK;
}

dis_status dis_report_add_predictions(dis_report *report, const char *name, const double *q)
{
    if (!report->test.classes)
        return dis__fail(DIS_EUSAGE, "the report has predictions but no items; add the items first");
    if (report->n_predictions == DIS_MAX_VIEWS)
        return dis__fail(DIS_EUSAGE, "more than %d sets of predictions in one report", DIS_MAX_VIEWS);
    dis__report_prediction prediction = {.q = q};
    DIS_TRY(copy(&prediction.name, name));
    report->prediction[report->n_predictions++] = prediction;
    return DIS_OK;
}

const char *dis__metric_unit(size_t metric, char out[DIS__METRIC_UNIT])
{
    const char *unit = dis_evaluation_metric_get(metric)->unit;
    snprintf(out, DIS__METRIC_UNIT, *unit ? " (%s)" : "%s", unit);
    return out;
}

dis_status dis_report_add_curve(dis_report *report, const char *name, const dis_curve *curve)
{
    dis__report_curve c = {.n_epochs = curve->n_epochs,
                           .best_epoch = curve->best_epoch,
                           .keep = curve->dev_metric
                                       ? dis_evaluation_metric_get(dis_evaluation_metric_find(curve->dev_metric))
                                       : NULL};
    dis_status status;
    if (c.n_epochs == 0 || c.best_epoch >= c.n_epochs)
        return dis__fail(DIS_EUSAGE, "a training curve of %zu epochs of which epoch %zu was kept", c.n_epochs,
                         c.best_epoch + 1);
    DIS_TRY(dis__reserve(&report->curve, &report->curves_capacity, report->n_curves, report->n_curves + 1,
                         sizeof *report->curve));
    DIS_TRY_GOTO(status, copy(&c.name, name), end);
    DIS_TRY_GOTO(status, dis__alloc_array(&c.epoch, c.n_epochs, sizeof *c.epoch), end);
    memcpy(c.epoch, curve->epoch, c.n_epochs * sizeof *c.epoch);
    report->curve[report->n_curves++] = c;
    return DIS_OK;
end:
    dis__free(c.name);
    return status;
}

dis_status dis_report_add_source(dis_report *report, const char *role, const char *text)
{
    dis__report_source s = {0};
    dis_status status;
    DIS_TRY(dis__reserve(&report->source, &report->sources_capacity, report->n_sources, report->n_sources + 1,
                         sizeof *report->source));
    DIS_TRY_GOTO(status, copy(&s.role, role), end);
    DIS_TRY_GOTO(status, copy(&s.text, text), end);
    report->source[report->n_sources++] = s;
    return DIS_OK;
end:
    dis__free(s.role);
    dis__free(s.text);
    return status;
}

/* In the order of the page. */
/* clang-format off */
static dis_status (*const sections[])(dis__report_job *) = {
    dis__section_panel,
    dis__section_review,
    dis__section_scaled,
    dis__section_votes,
    dis__section_labels,
    dis__section_workers,
    dis__section_groups,
    dis__section_training,
    dis__section_model,
    dis__section_provenance,
};
/* clang-format on */
enum { N_SECTIONS = sizeof sections / sizeof *sections };

static void put_heading(const dis_report *r, dis__markup *title, dis__markup *subtitle)
{
    if (r->title)
        dis__markup_append_display(title, r->title, strlen(r->title), 200);
    else
        dis__markup_append(title, r->votes           ? "What the votes say"
                                  : r->n_views       ? "What the labels say"
                                  : r->n_predictions ? "What the model says"
                                                     : "How the models learned");
    if (r->votes_source) {
        const char *slash = strrchr(r->votes_source, '/'), *name = slash ? slash + 1 : r->votes_source;
        dis__markup_append_name(subtitle, name, strlen(name), 80);
        dis__markup_append(subtitle, " \xC2\xB7 ");
    }
    dis__markup_appendf(subtitle, "dissent %s \xC2\xB7 seed %s", dis_version(), dis__format_grouped(r->seed).text);
}

/* Data shared by sections. Votes of scales with own labels have separate tables and measures, and nothing else. */
static dis_status check_votes_view(dis__report_job *job)
{
    const dis_report *r = job->r;
    if (r->votes && dis_scale_get(dis_votes_scale(r->votes))->has_own_labels) {
        dis_scaled_options o = dis_scaled_options_default();
        o.seed = r->seed;
        o.resamples = r->resamples;
        if (r->n_views || r->n_predictions || r->gold || r->groups)
            return dis__fail(DIS_EUSAGE,
                             "a report of votes of scale %s has no labels, predictions, gold labels or groups",
                             dis_scale_get(dis_votes_scale(r->votes))->name);
        return dis_scaled_run(job->ctx, r->votes, &o, &job->scaled);
    }
    DIS_TRY(dis__report_statistics_compute(job));
    DIS_TRY(dis__report_agreement(job));
    return dis__report_review(job);
}

dis_status dis_report_write(dis_context *ctx, const dis_report *report, const char *path)
{
    if (!report->tasks && report->n_predictions == 0 && report->n_curves == 0)
        return dis__fail(DIS_EUSAGE, "the report is empty: add votes, labels, predictions or training curves");
    if (report->texts && dis_names_count(report->texts) != report->n_items)
        return dis__fail(DIS_EUSAGE, "%zu texts for %zu items", dis_names_count(report->texts), report->n_items);
    dis__report_job *job = NULL;
    dis__markup title = {0}, subtitle = {0};
    dis_status status;
    DIS_TRY_GOTO(status, dis__alloc_zeroed(&job, 1, sizeof *job), end);
    job->ctx = ctx;
    job->r = report;
    job->main = report->n_views ? report->n_views - 1 : 0;
    if (report->votes) job->votes_view = dis_votes_get_view(report->votes);
    DIS_TRY_GOTO(status, check_votes_view(job), end);
    for (size_t s = 0; s < N_SECTIONS; s++) {
        if (job->scaled && sections[s] != dis__section_scaled && sections[s] != dis__section_provenance) continue;
        dis__progress(ctx, "drawing", (double)s / N_SECTIONS);
        DIS_TRY_GOTO(status, dis__check_stop(ctx), end);
        DIS_TRY_GOTO(status, sections[s](job), end);
    }
    put_heading(report, &title, &subtitle);
    status = dis__page_write(&job->page, &title, &subtitle, path);
    dis__progress(ctx, "drawing", 1);
end:
    if (job) {
        dis__report_statistics_free(job);
        dis_scaled_destroy(job->scaled);
        dis_agreement_destroy(job->agreement);
        dis_review_destroy(job->review);
        for (size_t m = 0; m < DIS_MAX_VIEWS; m++) dis_evaluation_destroy(job->evaluation[m]);
        dis__page_free(&job->page);
    }
    dis__free(job);
    return status;
}
