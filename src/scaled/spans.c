/* Spans of texts: classes of ranges of positions (characters or tokens, whatever the columns count).
 *
 * A task's positions are cut where a span of anybody begins or ends; between two cuts every worker has one class, or O
 * outside of his spans. Whoever has a row for a task has looked at all of it, from 0 to the end of its last span. Where
 * spans of one worker overlap, the one read first counts (counted in a note).
 *
 * Labels: the label methods (the default recipe, or those that are named) on these pieces as items, O being a class;
 * neighbours with the same most probable class make a span.
 *
 * Agreement, every position counting once: nominal alpha; Cohen's kappa of pairs of workers, weighted by shared
 * positions; F1 of two workers' positions outside of O. Of whole spans: F1 of spans that are exactly the same, of spans
 * that overlap one of the same class, and Cohen's kappa over the spans that one of two marked, "no span" being a class:
 * there are no positions where both marked nothing, so it is low. Intervals resample tasks. The gamma of Mathet et al.
 * (2015) is not here: its alignments are an integer program for every resample of its chance model.
 *
 * Cost: pairs of workers within a task times its pieces. */
#include "scaled/spans.h"
#include <string.h>

static dis_status run(const dis__scaled_args *args, dis_scaled *out)
{
    dis__spans x = {.args = args, .out = out};
    dis_label_plan choice = dis_label_plan_default();
    DIS_TRY(dis_label_plan_parse(args->o->method, args->o->n_methods, args->o->combine, true, &choice));
    const char *method = choice.recipe ? choice.recipe->name : choice.combine ? choice.combine : choice.views[0];
    DIS_TRY(dis__copy_text(&out->method_text, method, strlen(method)));
    out->method = args->o->measures_only ? NULL : out->method_text;
    DIS_TRY(dis__spans_read(&x));
    if (x.n_classes > DIS_SPAN_CLASSES)
        return dis__fail(DIS_ELIMIT, "%zu classes of spans, and at most %d are possible", x.n_classes,
                         DIS_SPAN_CLASSES);
    if (x.n_classes < 2) return dis__fail(DIS_EDATA, "no span was marked");
    DIS_TRY(dis__spans_split(&x));
    if (!args->o->measures_only) DIS_TRY(dis__spans_add_labels(&x, &choice));
    return dis__spans_add_measures(&x);
}

const dis__scaled_row dis__scaled_spans = {.run = run};
