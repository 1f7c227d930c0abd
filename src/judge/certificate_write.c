/* A certificate as JSON: what was measured, on which votes, of which judge, and what later votes are compared with. */
#include "tool/json_writer.h"
#include "judge/judge_internal.h"
#include "judge/certificate.h"
#include "core/options/sized_structs.h"
#include "dissent/version.h"
#include <math.h>

DIS_OPTIONS_DEFAULTS(dis_certificate_facts, .size = sizeof(dis_certificate_facts))

static void put_text(dis__json_writer *j, const char *key, const char *text)
{
    dis__json_writer_key(j, key);
    dis__json_writer_text(j, text);
}

static void put_count(dis__json_writer *j, const char *key, uint64_t n)
{
    dis__json_writer_key(j, key);
    dis__json_writer_count(j, n);
}

static void put_real(dis__json_writer *j, const char *key, double x)
{
    dis__json_writer_key(j, key);
    dis__json_writer_real(j, x);
}

static void put_bool(dis__json_writer *j, const char *key, bool x)
{
    dis__json_writer_key(j, key);
    dis__json_writer_bool(j, x);
}

static void put_metric(dis__json_writer *j, const char *key, const dis_metric *m)
{
    dis__json_writer_key(j, key);
    dis__json_writer_metric(j, m);
}

static void begin_list(dis__json_writer *j, const char *key)
{
    dis__json_writer_key(j, key);
    dis__json_writer_begin_array(j);
}

/* ---- parts ---- */

static void put_sources(dis__json_writer *j, const dis_certificate_facts *f)
{
    begin_list(j, "sources");
    for (size_t s = 0; s < f->n_sources; s++) {
        dis__json_writer_begin_object(j);
        put_text(j, "role", f->sources[s].role);
        put_text(j, "path", f->sources[s].path);
        put_text(j, "sha256", f->sources[s].sha256);
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_array(j);
}

static void put_coefficients(dis__json_writer *j, const dis_judge_view *v)
{
    begin_list(j, "coefficients");
    for (size_t c = 0; c < DIS_JUDGE_COEFFICIENTS; c++) {
        const dis_judge_coefficient *x = &v->coefficients[c];
        dis__json_writer_begin_object(j);
        put_text(j, "name", x->name);
        put_metric(j, "judge", &x->judge);
        put_metric(j, "people", &x->people);
        put_metric(j, "difference", &x->difference);
        put_real(j, "constant", x->constant);
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_array(j);
}

static void put_test(dis__json_writer *j, const dis_judge *judge)
{
    const dis_panel_judge *t = &judge->view.test;
    dis__json_writer_key(j, "alternative_annotator_test");
    dis__json_writer_begin_object(j);
    put_real(j, "epsilon", judge->epsilon);
    put_real(j, "fdr", judge->fdr);
    put_count(j, "people_compared", t->n_people_compared);
    put_count(j, "people_represented", t->n_people_represented);
    put_real(j, "winning_rate", t->winning_rate);
    put_bool(j, "passed", t->n_people_compared > 0 && t->passed);
    put_metric(j, "advantage_probability", &t->advantage_probability);
    put_text(
        j, "note",
        "Passing means that the judge represents these people at least as well as one of them does, given epsilon. "
        "It does not mean that the judge is correct, or unbiased for every class.");
    dis__json_writer_end_object(j);
}

static void put_rates(dis__json_writer *j, const dis_judge_view *v, const dis_names *classes)
{
    begin_list(j, "rates");
    for (size_t k = 0; k < v->n_classes; k++) {
        const dis_panel_rate *r = &v->rates[k];
        dis__json_writer_begin_object(j);
        put_text(j, "class", dis_names_get(classes, k, NULL));
        put_real(j, "raw", r->raw);
        put_metric(j, "bias", &r->bias);
        put_metric(j, "people", &r->people);
        put_metric(j, "prediction_powered", &r->prediction_powered);
        put_metric(j, "rogan_gladen", &r->rogan_gladen);
        put_real(j, "items_needed", r->n_needed);
        put_real(j, "items_needed_without_judge", r->n_needed_without_judge);
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_array(j);
}

static void put_contrasts(dis__json_writer *j, const dis_judge_view *v, const dis_certificate_facts *f)
{
    begin_list(j, "contrasts");
    for (size_t r = 0; r < v->n_contrasts; r++) {
        const dis_judge_contrast *x = &v->contrasts[r];
        dis__json_writer_begin_object(j);
        put_text(j, "property", f->covariates ? f->covariates[x->covariate] : NULL);
        put_text(j, "class", dis_names_get(f->classes, x->class_index, NULL));
        put_real(j, "split", x->split);
        put_count(j, "items_low", x->n_low);
        put_count(j, "items_high", x->n_high);
        put_metric(j, "difference", &x->difference);
        put_real(j, "p", x->p);
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_array(j);
}

static void put_position(dis__json_writer *j, const dis_position_bias *p)
{
    dis__json_writer_key(j, "position");
    if (!p) {
        dis__json_writer_null(j);
        return;
    }
    dis__json_writer_begin_object(j);
    put_count(j, "pairs", p->n);
    put_metric(j, "consistency", &p->consistency);
    put_count(j, "flips_to_first", p->flips_to_first);
    put_count(j, "flips_to_second", p->flips_to_second);
    put_real(j, "p", p->p);
    dis__json_writer_end_object(j);
}

static void put_requirements(dis__json_writer *j, const dis_certificate_facts *f)
{
    begin_list(j, "requirements");
    for (size_t r = 0; r < f->n_requirements; r++) {
        const dis_requirement *x = &f->requirements[r];
        dis__json_writer_begin_object(j);
        put_text(j, "name", dis_requirement_kind_name(x->kind));
        put_real(j, "bound", x->bound);
        put_text(j, "outcome", dis_requirement_outcome_name(x->outcome));
        put_metric(j, "figure", &x->figure);
        put_real(j, "items_needed", x->items_needed);
        dis__json_writer_end_object(j);
    }
    dis__json_writer_end_array(j);
}

static void put_baseline(dis__json_writer *j, const dis_judge_baseline *b)
{
    dis__json_writer_begin_object(j);
    put_real(j, "mean", b->mean);
    put_real(j, "item_variance", b->item_variance);
    put_real(j, "variance", b->variance);
    put_count(j, "n", b->n);
    dis__json_writer_end_object(j);
}

static void put_baselines(dis__json_writer *j, const dis_judge_view *v)
{
    const dis_judge_baseline *const lists[] = {v->shares, v->biases};
    static const char *const keys[] = {"shares", "biases"};
    dis__json_writer_key(j, "baselines");
    dis__json_writer_begin_object(j);
    dis__json_writer_key(j, "agreement");
    put_baseline(j, &v->agreement);
    for (size_t l = 0; l < 2; l++) {
        begin_list(j, keys[l]);
        for (size_t k = 0; k < v->n_classes; k++) put_baseline(j, &lists[l][k]);
        dis__json_writer_end_array(j);
    }
    dis__json_writer_end_object(j);
}

dis_status dis_certificate_write(const dis_judge *judge, const dis_certificate_facts *facts, const char *path)
{
    dis_certificate_facts f = dis_certificate_facts_default();
    const dis_judge_view *v = &judge->view;
    dis__json_writer *j;
    DIS_TRY(DIS_OPTIONS_COPY(dis_certificate_facts, &f, facts));
    if (!f.judge || !f.classes)
        return dis__fail(DIS_EUSAGE, "a certificate needs the name of the judge and the classes");
    DIS_TRY(dis__json_writer_create(path, &j));
    dis__json_writer_begin_object(j);
    put_text(j, "format", DIS_CERTIFICATE_FORMAT);
    put_count(j, "schema_version", DIS_CERTIFICATE_SCHEMA);
    put_text(j, "version", dis_version());
    put_text(j, "judge", f.judge);
    put_sources(j, &f);
    begin_list(j, "classes");
    for (size_t k = 0; k < v->n_classes; k++) dis__json_writer_text(j, dis_names_get(f.classes, k, NULL));
    dis__json_writer_end_array(j);
    put_count(j, "people", v->n_people);
    put_bool(j, "few_people", v->few_people);
    put_count(j, "items", v->n_votes);
    put_count(j, "items_with_people", v->n_shared);
    put_count(j, "items_with_two_people", v->n_two);
    put_count(j, "items_repeated", v->n_repeated);
    put_text(j, "unknown", v->missing_reason);
    put_real(j, "p_people", v->p_people);
    put_real(j, "p_chance", v->test.p_chance);
    put_bool(j, "above_chance", v->test.above_chance);
    put_real(j, "chance_agreement", v->chance_agreement);
    put_coefficients(j, v);
    put_metric(j, "error", &v->test.error);
    put_metric(j, "consistency", &v->consistency);
    put_test(j, judge);
    put_rates(j, v, f.classes);
    put_contrasts(j, v, &f);
    put_position(j, f.position);
    put_requirements(j, &f);
    put_baselines(j, v);
    dis__json_writer_end_object(j);
    return dis__json_writer_finish(j, DIS_OK);
}
