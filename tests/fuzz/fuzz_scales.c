/* Votes of every scale: labels, agreement and the tables of items and workers. The first byte chooses the scale, the
 * second the options. The rest is either a file as it is, or four bytes per vote, from which rows are written: small
 * mutations then change single votes. Votes that are read must give results whose numbers are finite or absent, and
 * metrics that have a value or a reason. */
#include "fuzz.h"
#include "fuzz_file.h"
#include "fuzz_check_votes.h"
#include "dissent/dissent.h"
#include <math.h>

enum { RAW = 1, MEASURES_ONLY = 2, RESAMPLES = 4, ALL_DUPLICATES = 8, OTHER_METHOD = 16, NA = 32, REVIEW = 64 };
enum { MAX_RAW = 4096, MAX_VOTES = 200 };

/* ---- rows ---- */

static void row_of_class(FILE *out, const uint8_t v[4])
{
    fprintf(out, "t%d,w%d,%d\n", v[0] % 16, v[1] % 8, v[2] % 6);
}

static void row_of_set(FILE *out, const uint8_t v[4])
{
    fprintf(out, "t%d,w%d,", v[0] % 16, v[1] % 8);
    for (int k = 0, first = 1; k < 8; k++)
        if (v[2] >> k & 1) {
            fprintf(out, "%s%c", first ? "" : "|", 'a' + k);
            first = 0;
        }
    fputc('\n', out);
}

static void row_of_number(FILE *out, const uint8_t v[4])
{
    static const char *const extreme[] = {"1.7976931348623157e308",
                                          "-1.7976931348623157e308",
                                          "5e-324",
                                          "-5e-324",
                                          "9223372036854775807",
                                          "1e154",
                                          "-0",
                                          "1e-160"};
    fprintf(out, "t%d,w%d,", v[0] % 16, v[1] % 8);
    if (v[3] & 1)
        fprintf(out, "%s\n", extreme[v[2] % 8]);
    else
        fprintf(out, "%de%d\n", (int)v[2] - 128, (v[3] >> 1) * 5 - 320 > 306 ? 306 : (v[3] >> 1) * 5 - 320);
}

static void row_of_pair(FILE *out, const uint8_t v[4])
{
    static const char *const winner[] = {"a", "b", "tie"};
    const int a = v[0] % 5, b = v[0] / 5 % 5;
    fprintf(out, "t%d,w%d,%c,%c,%s\n", v[3] % 3, v[1] % 8, 'A' + a, 'A' + (a == b ? (b + 1) % 5 : b), winner[v[2] % 3]);
}

static void row_of_span(FILE *out, const uint8_t v[4])
{
    const int start = v[2], end = v[2] + 1 + v[3] % 16;
    if (v[3] >> 4 == 15)
        fprintf(out, "d%d,w%d,,,\n", v[0] % 4, v[1] % 8);
    else
        fprintf(out, "d%d,w%d,%d,%d,%c\n", v[0] % 4, v[1] % 8, start, end, 'A' + (v[3] >> 4) % 4);
}

static const struct {
    dis_scale scale;
    const char *header, *label, *method;
    void (*row)(FILE *out, const uint8_t v[4]);
} scales[] = {
    {DIS_SCALE_NOMINAL, "task,worker,label\n", NULL, "dawid-skene", row_of_class},
    {DIS_SCALE_ORDINAL, "task,worker,label\n", NULL, "ordinal", row_of_class},
    {DIS_SCALE_MULTI_LABEL, "task,worker,label\n", "label[|]", "majority", row_of_set},
    {DIS_SCALE_NUMERIC, "task,worker,label\n", NULL, "random-effects:shrink=.001,iterations=30", row_of_number},
    {DIS_SCALE_PAIRWISE, "task,worker,a,b,winner\n", NULL, "bradley-terry:reliability=no", row_of_pair},
    {DIS_SCALE_SPANS, "task,worker,start,end,label\n", NULL, "majority", row_of_span},
};

static const char *write_rows(size_t s, const uint8_t *data, size_t size)
{
    const char *path = fuzz_path("a");
    FILE *out = fopen(path, "wb");
    MUST(out);
    fputs(scales[s].header, out);
    for (size_t i = 0; i + 4 <= size && i < 4 * MAX_VOTES; i += 4) scales[s].row(out, data + i);
    fclose(out);
    return path;
}

/* ---- what must hold ---- */

static void check_metric(const dis_metric *m)
{
    MUST(m->reason ? isnan(m->value) : isfinite(m->value));
    if (m->has_interval) MUST(isfinite(m->ci_low) && isfinite(m->ci_high) && m->ci_low <= m->ci_high);
}

static void check_table(const dis_scaled_table *t)
{
    for (size_t c = 0; c < t->n_columns; c++) {
        const dis_scaled_column *x = &t->columns[c];
        for (size_t i = 0; i < t->n_rows; i++)
            if (x->names)
                MUST((x->index ? x->index[i] : i) < dis_names_count(x->names));
            else
                MUST(!isinf(x->values[i]));
    }
    MUST(dis_scaled_table_write(t, fuzz_path("w"), "csv", 100) == DIS_OK);
}

static void run_scaled(const dis_votes *votes, size_t s, unsigned flags)
{
    dis_scaled_options o = dis_scaled_options_default();
    dis_scaled *result;
    o.resamples = flags & RESAMPLES ? 20 : 0;
    o.measures_only = flags & MEASURES_ONLY;
    o.method = &scales[s].method;
    o.n_methods = flags & OTHER_METHOD ? 1 : 0;
    if (dis_scaled_run(NULL, votes, &o, &result) != DIS_OK) return;
    const dis_scaled_view v = dis_scaled_get_view(result);
    for (size_t i = 0; i < v.n_tables; i++) check_table(&v.tables[i]);
    for (size_t i = 0; i < v.n_measures; i++) check_metric(&v.measures[i].value);
    dis_scaled_destroy(result);
}

static void run_labels(const dis_votes *votes, size_t s, unsigned flags)
{
    dis_label_plan choice = dis_label_plan_default();
    dis_label_result *result;
    MUST(dis_label_plan_parse(&scales[s].method, flags & OTHER_METHOD ? 1 : 0, NULL, true, &choice) == DIS_OK);
    if (dis_label_result_run(NULL, votes, &choice, NULL, &result) != DIS_OK) return;
    const dis_votes_view v = dis_votes_get_view(votes);
    double *p = dis_label_result_move_p(result);
    for (size_t i = 0; i < v.n_items; i++) {
        double sum = 0;
        for (size_t k = 0; k < v.n_classes; k++) sum += p[i * v.n_classes + k];
        MUST(fabs(sum - 1) < 1e-9);
    }
    dis_free(p);
    dis_label_result_destroy(result);
}

static void run_agreement(const dis_votes *votes, unsigned flags)
{
    dis_agreement_options o = dis_agreement_options_default();
    dis_agreement *result;
    o.parts = DIS_AGREEMENT_ALL;
    o.resamples = flags & RESAMPLES ? 20 : 0;
    if (dis_agreement_run(NULL, votes, &o, &result) != DIS_OK) return;
    const dis_agreement_view v = dis_agreement_get_view(result);
    for (size_t i = 0; i < v.n_metrics; i++) check_metric(&v.metric[i]);
    for (size_t w = 0; v.workers && w < v.n_workers; w++)
        MUST(!isinf(v.workers[w].agreement) && !isinf(v.workers[w].alpha_without_worker));
    dis_agreement_destroy(result);
}

static void run_review(const dis_votes *votes)
{
    dis_review *result;
    if (dis_review_run(NULL, votes, NULL, &result) != DIS_OK) return;
    const dis_review_view v = dis_review_get_view(result);
    char reason[400];
    for (size_t r = 0; r < v.n_items; r++) MUST(dis_review_format_item_reason(result, votes, r, reason, sizeof reason));
    for (size_t r = 0; r < v.n_workers; r++) {
        MUST(v.workers[r].worker < v.n_workers && !isinf(v.workers[r].accuracy) && !isinf(v.workers[r].evidence));
        MUST(dis_review_format_worker_reason(result, votes, r, reason, sizeof reason));
    }
    dis_review_destroy(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const na[] = {""};
    if (size < 2 || size > MAX_RAW) return 0;
    const size_t s = data[0] % (sizeof scales / sizeof *scales);
    const unsigned flags = data[1];
    const char *path = flags & RAW ? fuzz_file("a", data + 2, size - 2) : write_rows(s, data + 2, size - 2);
    dis_votes_options o = dis_votes_options_default();
    dis_votes *votes;
    o.format = "csv";
    o.scale = scales[s].scale;
    o.label = scales[s].label;
    if (o.scale == DIS_SCALE_PAIRWISE) o.task = "task";
    o.duplicates = flags & ALL_DUPLICATES ? DIS_DUPLICATES_ALL : DIS_DUPLICATES_FIRST;
    o.na = na;
    o.n_na = flags & NA ? 1 : 0;
    if (dis_votes_read(NULL, &path, 1, &o, &votes) != DIS_OK) return 0;
    check_votes(votes);
    if (dis_scale_get(o.scale)->has_own_labels) {
        run_scaled(votes, s, flags);
    } else {
        run_labels(votes, s, flags);
        run_agreement(votes, flags);
        if (flags & REVIEW) run_review(votes);
    }
    dis_votes_destroy(votes);
    return 0;
}
