/* dissent judge certify: measures, evaluates the requirements, writes the certificate and the page. */
#include "tool/junit.h"
#include "judge/cmd_judge.h"
#include "output/metric_table.h"
#include "output/result_rows.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COVARIATES = 2, FAILURE = 256, SHOWN_CLASSES = 24, MAX_SOURCES = 2 * CLI_MAX_VALUES + 4 };

typedef struct {
    judge_command *job;
    dis_judge *judge;
    dis_judge_view view;
    dis_judge_covariate covariate[MAX_COVARIATES];
    double *value[MAX_COVARIATES], *weight;
    char family[CLI_SAFE];
    size_t n_covariates;
    dis_position_bias position;
    bool has_position;
    dis_requirement requirement[DIS_REQUIREMENT_KINDS];
    size_t n_requirements, n_not_met;
    dis_certificate_source *source;
    char (*hash)[65];
    size_t n_sources;
} certify;

static const char *class_name(const certify *w, size_t k)
{
    return dis_names_get(w->job->in.view.classes, k, NULL);
}

static const char *judge_name(const certify *w)
{
    return dis_names_get(w->job->in.view.workers, w->view.worker, NULL);
}

/* ---- input ---- */

static int read_covariates(certify *w)
{
    const judge_values *v = w->job->v;
    int code = 0;
    if (v->length) {
        code = judge_column_read(w->job, "length", v->length, NULL, &w->value[w->n_covariates]);
        if (code != 0) return code;
        w->covariate[w->n_covariates] = (dis_judge_covariate){.name = "length", .value = w->value[w->n_covariates]};
        w->n_covariates++;
    }
    if (v->family) {
        const char *equals = strchr(v->family, '=');
        snprintf(w->family, sizeof w->family, "%.*s", (int)(equals - v->family), v->family);
        code = judge_column_read(w->job, "family", w->family, equals + 1, &w->value[w->n_covariates]);
        if (code != 0) return code;
        w->covariate[w->n_covariates] = (dis_judge_covariate){.name = "family", .value = w->value[w->n_covariates]};
        w->n_covariates++;
    }
    return v->weights ? judge_weights_read(w->job, v->weights, "weight", 0, &w->weight) : 0;
}

static int measure(certify *w)
{
    const judge_values *v = w->job->v;
    dis_judge_options o = dis_judge_options_default();
    o.name = v->judge;
    o.weight = w->weight;
    o.covariates = w->covariate;
    o.n_covariates = w->n_covariates;
    o.epsilon = v->epsilon;
    o.fdr = v->fdr;
    o.min_people = (size_t)v->min_people;
    o.min_items = (size_t)v->min_items;
    o.half_width = v->half_width;
    o.seed = v->seed;
    const int code = cli_failed(w->job->c, dis_judge_run(w->job->ctx, w->job->in.votes, w->job->person, &o, &w->judge));
    if (code == 0) w->view = dis_judge_get_view(w->judge);
    return code;
}

static int evaluate(certify *w)
{
    const judge_values *v = w->job->v;
    for (size_t k = 0; k < DIS_REQUIREMENT_KINDS; k++) {
        const double bound = k == DIS_REQUIRE_ALT_TEST ? (v->alt_test ? .5 : (double)NAN) : v->bound[k];
        if (!isnan(bound))
            w->requirement[w->n_requirements++] = (dis_requirement){.kind = (dis_requirement_kind)k, .bound = bound};
    }
    const int code =
        cli_failed(w->job->c, dis_judge_evaluate_requirements(w->judge, w->requirement, w->n_requirements));
    for (size_t r = 0; r < w->n_requirements; r++) w->n_not_met += w->requirement[r].outcome != DIS_REQUIREMENT_MET;
    return code;
}

static int add_source(certify *w, const char *role, const char *path)
{
    if (!path) return 0;
    char *hash = w->hash[w->n_sources];
    const int code = judge_file_hash(w->job, path, hash);
    if (code == 0) w->source[w->n_sources++] = (dis_certificate_source){.role = role, .path = path, .sha256 = hash};
    return code;
}

static int list_sources(certify *w)
{
    const judge_command *job = w->job;
    const judge_values *v = job->v;
    const size_t most = job->in.n_paths + v->swapped.n + 3;
    w->source = calloc(most, sizeof *w->source);
    w->hash = calloc(most, sizeof *w->hash);
    if (!w->source || !w->hash) return cli_error(job->c, DIS_ELIMIT, "no memory for %zu files", most);
    int code = 0;
    for (size_t i = 0; i < job->in.n_paths && code == 0; i++) code = add_source(w, "votes", job->in.paths[i]);
    for (size_t i = 0; i < v->swapped.n && code == 0; i++) code = add_source(w, "swapped", v->swapped.value[i]);
    if (code == 0) code = add_source(w, "prompt", v->prompt);
    if (code == 0) code = add_source(w, "guideline", v->guideline);
    if (code == 0) code = add_source(w, "weights", v->weights);
    return code;
}

/* ---- text ---- */

static void print_coefficients(const certify *w)
{
    printf("%-14s%-*s%-*s%-*s%s\n", "", JUDGE_METRIC_WIDTH, "judge and a person", JUDGE_METRIC_WIDTH, "two people",
           JUDGE_METRIC_WIDTH, "difference", "constant judge");
    for (size_t c = 0; c < DIS_JUDGE_COEFFICIENTS; c++) {
        const dis_judge_coefficient *x = &w->view.coefficients[c];
        printf("%-14s", x->name);
        cli_metric_print(&x->judge, JUDGE_METRIC_WIDTH);
        cli_metric_print(&x->people, JUDGE_METRIC_WIDTH);
        cli_metric_print(&x->difference, JUDGE_METRIC_WIDTH);
        if (isnan(x->constant))
            puts("-");
        else
            printf("%.3f\n", x->constant);
    }
}

static void print_test(const certify *w)
{
    const dis_panel_judge *t = &w->view.test;
    char text[CLI_METRIC_SIZE];
    if (!w->view.consistency.reason)
        printf("\nRepeated votes of the judge are equal in %s of pairs (%zu items).\n",
               cli_metric_format(&w->view.consistency, 3, text), w->view.consistency.n);
    if (t->n_people_compared == 0) {
        puts("\nAlternative-annotator test: not possible, no person shares enough items with the judge (--min-items).");
        return;
    }
    printf("\nAlternative-annotator test (epsilon %.2f): the judge represents %llu of %llu people at least as well as "
           "they do; %s.\n",
           w->job->v->epsilon, (unsigned long long)t->n_people_represented, (unsigned long long)t->n_people_compared,
           t->passed ? "passed" : "not passed");
    puts("The test measures similarity to these people. It does not show that the judge is correct or unbiased.");
}

static void print_rates(const certify *w)
{
    char safe[CLI_SAFE];
    printf("\n%-*s %7s  %-*s%-*s%s\n", JUDGE_NAME_WIDTH, "Class", "judge", JUDGE_METRIC_WIDTH, "bias",
           JUDGE_METRIC_WIDTH, "prediction-powered", "Rogan-Gladen");
    for (size_t k = 0; k < w->view.n_classes && k < SHOWN_CLASSES; k++) {
        const dis_panel_rate *r = &w->view.rates[k];
        cli_text_escape(class_name(w, k), safe, JUDGE_NAME_WIDTH);
        printf("%-*s %7.3f  ", JUDGE_NAME_WIDTH, safe, r->raw);
        cli_metric_print(&r->bias, JUDGE_METRIC_WIDTH);
        cli_metric_print(&r->prediction_powered, JUDGE_METRIC_WIDTH);
        cli_metric_print(&r->rogan_gladen, 0);
        putchar('\n');
    }
    if (w->view.n_classes > SHOWN_CLASSES) printf("... and %zu more classes\n", w->view.n_classes - SHOWN_CLASSES);
}

static void print_contrasts(const certify *w)
{
    char safe[CLI_SAFE], text[CLI_METRIC_SIZE];
    for (size_t r = 0; r < w->view.n_contrasts; r++) {
        const dis_judge_contrast *x = &w->view.contrasts[r];
        const bool family = strcmp(w->covariate[x->covariate].name, "family") == 0;
        if (r == 0) puts("\nBias of the judge by property of the item (p corrected for all rows)");
        cli_text_escape(class_name(w, x->class_index), safe, JUDGE_NAME_WIDTH);
        printf("  %-*s ", JUDGE_NAME_WIDTH, safe);
        if (family)
            printf("own family minus others");
        else
            printf("%s above %.6g minus others", w->covariate[x->covariate].name, x->split);
        printf("  %s", cli_metric_format(&x->difference, 3, text));
        if (!isnan(x->p)) printf("  p %.2g", x->p);
        putchar('\n');
    }
}

static void print_position(const certify *w)
{
    const dis_position_bias *p = &w->position;
    char text[CLI_METRIC_SIZE];
    if (!w->has_position) return;
    printf("\nPairs in both orders: the outcome is the same in %s of %llu pairs",
           cli_metric_format(&p->consistency, 3, text), (unsigned long long)p->n);
    if (p->flips_to_first + p->flips_to_second)
        printf("; %llu flips to the first answer, %llu to the second (p %.2g)", (unsigned long long)p->flips_to_first,
               (unsigned long long)p->flips_to_second, p->p);
    puts(".");
}

/* "min-kappa .6 is open: .63 [.55, .71]; about 140 further items would decide it" */
static void describe(const dis_requirement *r, char out[FAILURE])
{
    char figure[CLI_METRIC_SIZE], more[96] = "";
    if (r->outcome == DIS_REQUIREMENT_OPEN && isinf(r->items_needed))
        snprintf(more, sizeof more, "; more items alone do not decide it, more people are needed");
    else if (r->outcome == DIS_REQUIREMENT_OPEN && !isnan(r->items_needed))
        snprintf(more, sizeof more, "; about %.0f further items would decide it", r->items_needed);
    if (r->kind == DIS_REQUIRE_ALT_TEST) {
        snprintf(out, FAILURE, "%s is %s: winning rate %s", dis_requirement_kind_name(r->kind),
                 dis_requirement_outcome_name(r->outcome), cli_metric_format(&r->figure, 3, figure));
        return;
    }
    snprintf(out, FAILURE, "%s %.3g is %s: %s%s", dis_requirement_kind_name(r->kind), r->bound,
             dis_requirement_outcome_name(r->outcome), cli_metric_format(&r->figure, 3, figure), more);
}

static void print_requirements(const certify *w)
{
    char text[FAILURE];
    if (w->n_requirements) puts("\nRequirements");
    for (size_t r = 0; r < w->n_requirements; r++) {
        describe(&w->requirement[r], text);
        printf("  %s\n", text);
    }
}

static void print_all(const certify *w)
{
    char safe[CLI_SAFE];
    cli_text_escape(judge_name(w), safe, JUDGE_NAME_WIDTH);
    printf("Judge %s: %llu items with votes of people and of the judge, %zu people\n\n", safe,
           (unsigned long long)w->view.n_shared, w->view.n_people);
    print_coefficients(w);
    if (w->view.missing_reason)
        printf("\nUnknown: %s.\n", w->view.missing_reason);
    else if (!w->view.test.above_chance)
        puts("\nThe judge agrees with people no more than chance.");
    print_test(w);
    print_rates(w);
    print_contrasts(w);
    print_position(w);
    print_requirements(w);
}

/* ---- files ---- */

static int write_junit(const certify *w)
{
    static char text[DIS_REQUIREMENT_KINDS][FAILURE];
    dis__junit_case row[DIS_REQUIREMENT_KINDS];
    for (size_t r = 0; r < w->n_requirements; r++) {
        describe(&w->requirement[r], text[r]);
        row[r] = (dis__junit_case){.name = dis_requirement_kind_name(w->requirement[r].kind),
                                   .failure = w->requirement[r].outcome == DIS_REQUIREMENT_MET ? NULL : text[r]};
    }
    return cli_failed(w->job->c, dis__junit_write(w->job->v->junit, "dissent judge certify", row, w->n_requirements));
}

static int write_files(certify *w)
{
    const judge_values *v = w->job->v;
    const char *names[MAX_COVARIATES];
    dis_certificate_facts facts = dis_certificate_facts_default();
    for (size_t x = 0; x < w->n_covariates; x++) names[x] = w->covariate[x].name;
    facts.judge = judge_name(w);
    facts.classes = w->job->in.view.classes;
    facts.sources = w->source;
    facts.n_sources = w->n_sources;
    facts.requirements = w->requirement;
    facts.n_requirements = w->n_requirements;
    facts.covariates = names;
    facts.position = w->has_position ? &w->position : NULL;
    const char *const paths[] = {v->output, v->json};
    int code = 0;
    for (size_t i = 0; i < 2 && code == 0; i++)
        if (paths[i]) code = cli_failed(w->job->c, dis_certificate_write(w->judge, &facts, paths[i]));
    if (code == 0 && v->page) code = cli_failed(w->job->c, dis_certificate_write_page(w->judge, &facts, v->page));
    if (code == 0 && v->junit) code = write_junit(w);
    return code;
}

/* ---- all ---- */

static int finish(certify *w)
{
    const judge_command *job = w->job;
    char text[FAILURE];
    votes_input_print(&w->job->in);
    if (w->view.few_people)
        cli_warn(job->c,
                 "fewer than 5 people voted: intervals hold for new items but for these people only; other people "
                 "might answer differently");
    int code = write_files(w);
    if (code == 0 && !cli_is_dash(job->v->output) && !cli_is_dash(job->v->json)) print_all(w);
    if (code == 0) code = cli_flush(job->c);
    if (code != 0) return code;
    size_t r = 0;
    while (r < w->n_requirements && w->requirement[r].outcome == DIS_REQUIREMENT_MET) r++;
    if (r < w->n_requirements) {
        describe(&w->requirement[r], text);
        cli_print(job->c, "%snot certified%s: %s%s", cli_bold(job->c), cli_plain(job->c), text,
                  w->n_not_met > 1 ? " (first of several)" : "");
        return CLI_NOT_MET;
    }
    if (w->n_requirements)
        cli_print(job->c, "%scertified%s: all requirements are met", cli_bold(job->c), cli_plain(job->c));
    return 0;
}

int judge_certify(judge_command *job)
{
    certify w = {.job = job};
    int code = read_covariates(&w);
    if (code == 0) code = measure(&w);
    if (code == 0) code = judge_position_read(job, w.view.worker, &w.position, &w.has_position);
    if (code == 0) code = evaluate(&w);
    if (code == 0) code = list_sources(&w);
    if (code == 0) code = finish(&w);
    dis_judge_destroy(w.judge);
    for (size_t x = 0; x < MAX_COVARIATES; x++) free(w.value[x]);
    free(w.weight);
    free(w.source);
    free(w.hash);
    return code;
}
