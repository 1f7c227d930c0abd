/* --predictions: predictions of a model, for the methods of `dissent labels` that use them as their prior. */
#include "tool/json_writer.h"
#include "tool/rank_calls.h"
#include "labels/cmd_labels.h"
#include <math.h>
#include <string.h>

static const dis_method *method_of(const char *spec)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(spec, ":"), spec);
    return dis_method_find(name);
}

/* "a, b" of the methods that do, or do not, use predictions. */
static size_t list_methods(const labels_command *job, bool use, char *out, size_t size)
{
    size_t n = 0, at = 0;
    *out = 0;
    for (size_t m = 0; m < job->choice.n_views; m++) {
        const dis_method *method = method_of(job->choice.views[m]);
        if ((method->predictions != DIS_PREDICTIONS_UNUSED) != use) continue;
        const int written = snprintf(out + at, size - at, "%s%s", n++ ? ", " : "", method->name);
        at = written < 0 || at + (size_t)written >= size ? size - 1 : at + (size_t)written;
    }
    return n;
}

int labels_predictions_check(labels_command *job)
{
    const labels_values *v = job->v;
    if (!v->predictions && v->predictions_weight >= 0)
        return cli_usage(job->c, "--predictions-weight needs --predictions FILE");
    for (size_t m = 0; !v->predictions && m < job->choice.n_views; m++)
        if (method_of(job->choice.views[m])->predictions == DIS_PREDICTIONS_REQUIRED)
            return cli_usage(
                job->c,
                "%s combines votes with predictions of a model; add --predictions FILE (see: dissent train --folds)",
                method_of(job->choice.views[m])->name);
    if (!v->predictions) return 0;
    size_t n = 0;
    for (size_t m = 0; m < job->choice.n_views; m++)
        n += method_of(job->choice.views[m])->predictions != DIS_PREDICTIONS_UNUSED;
    return n ? 0
             : cli_usage(
                   job->c,
                   "--predictions: %s cannot use predictions; choose a method that can, such as dawid-skene or ibcc",
                   method_of(job->choice.views[0])->name);
}

int labels_predictions_read(labels_command *job)
{
    const labels_values *v = job->v;
    char safe[CLI_SAFE];
    if (!v->predictions) return 0;
    dis_labels_read_options o = dis_labels_read_options_default();
    o.renormalise = v->reading.renormalise;
    dis_labels *labels;
    const dis_status status =
        dis__context_reduce_status(job->ctx, dis_labels_read(job->ctx, v->predictions, &o, &labels));
    if (status != DIS_OK) return cli_failed(job->c, status);
    if (dis_labels_n_renormalised(labels))
        cli_warn(job->c, "%s: %llu rows that did not sum to 1 were rescaled", cli_safe(v->predictions, safe),
                 (unsigned long long)dis_labels_n_renormalised(labels));
    const dis_labels_view view = dis_labels_get_view(labels);
    const int code =
        cli_failed(job->c, dis_predictions_align(job->ctx, &view, job->in.votes, &job->predictions, &job->predicted));
    dis_labels_destroy(labels);
    return code;
}

void labels_predictions_print(labels_command *job)
{
    cli *c = job->c;
    const dis_predictions_counts *n = &job->predicted;
    if (!job->predictions) return;
    char names[256], number[CLI_NUMBER];
    cli_print(c, "  %-18s used for %s item%s", "predictions", cli_count_format(n->n_matched, number),
              cli_plural(n->n_matched));
    if (list_methods(job, false, names, sizeof names)) cli_print(c, "  %-18s %s", "not used by", names);
    if (n->n_missing)
        cli_print(c, "  %-18s %s item%s, labelled from votes only", "no prediction",
                  cli_count_format(n->n_missing, number), cli_plural(n->n_missing));
    if (n->n_without_votes)
        cli_print(c, "  %-18s %s prediction%s ignored", "no votes", cli_count_format(n->n_without_votes, number),
                  cli_plural(n->n_without_votes));
}

void labels_weight_print(labels_command *job, const labels_result *r)
{
    if (isnan(r->fit_view.predictions_weight)) return;
    const char *how = r->fit_view.predictions_weight == 0                           ? ": the votes do not confirm them"
                      : r->fit_view.method->predictions == DIS_PREDICTIONS_REQUIRED ? " relative to the annotators"
                      : job->v->predictions_weight >= 0                             ? " (given)"
                      : r->fit_view.predictions_weight == 2                         ? " (estimated, at its bound)"
                                                                                    : " (estimated)";
    cli_print(job->c, "    %-26s weight of the predictions %.3f%s", r->fit_view.method->name,
              r->fit_view.predictions_weight, how);
}

void labels_predictions_write_json(const labels_command *job, dis__json_writer *j)
{
    dis__json_writer_key(j, "predictions");
    dis__json_writer_begin_object(j);
    cli_json_write_count(j, "matched", job->predicted.n_matched);
    cli_json_write_count(j, "missing", job->predicted.n_missing);
    cli_json_write_count(j, "without_votes", job->predicted.n_without_votes);
    dis__json_writer_end_object(j);
}
