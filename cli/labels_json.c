/* The summary of `dissent labels` for machines. Nothing in it depends on the machine or the number of threads: no
 * times, no thread count. Undefined values are null, with a reason where the cause is not plain; infinite ones are
 * "inf". */
#include "labels_job.h"
#include <math.h>
#include <string.h>

enum { SCHEMA = 1 };

static void put_count(dis_json *j, const char *key, uint64_t x)
{
    dis_json_key(j, key);
    dis_json_count(j, x);
}

static void put_real(dis_json *j, const char *key, double x)
{
    dis_json_key(j, key);
    dis_json_real(j, x);
}

static void put_text(dis_json *j, const char *key, const char *text)
{
    dis_json_key(j, key);
    dis_json_text(j, text);
}

static void put_bool(dis_json *j, const char *key, bool x)
{
    dis_json_key(j, key);
    dis_json_bool(j, x);
}

static dis_status put_file(dis_json *j, const char *path, const char *role)
{
    char hex[65];
    dis_json_begin_object(j);
    put_text(j, "path", path);
    put_text(j, "role", role);
    dis_status status = DIS_OK;
    if (strcmp(path, "-") == 0) {
        put_text(j, "sha256", NULL);
        put_text(j, "reason", "standard input cannot be read twice");
    } else if ((status = dis_file_sha256(path, hex)) == DIS_OK)
        put_text(j, "sha256", hex);
    dis_json_end_object(j);
    return status;
}

static dis_status put_inputs(const labels_job *job, dis_json *j)
{
    dis_status status = DIS_OK;
    dis_json_key(j, "inputs");
    dis_json_begin_array(j);
    for (size_t i = 0; i < job->n_paths && status == DIS_OK; i++) status = put_file(j, job->paths[i], "votes");
    if (status == DIS_OK && job->v->gold) status = put_file(j, job->v->gold, "gold");
    if (status == DIS_OK && job->v->init_state) status = put_file(j, job->v->init_state, "state");
    dis_json_end_array(j);
    return status;
}

static dis_status put_table(const labels_job *job, dis_json *j)
{
    const dis_votes_view *v = &job->look;
    labels_spread spread;
    const dis_status status = labels_votes_per_item(job, &spread);
    if (status != DIS_OK) return status;
    put_count(j, "items", v->n_items);
    if (v->start)
        put_count(j, "workers", v->n_workers);
    else
        put_text(j, "workers", NULL);
    put_count(j, "votes", v->n_votes);
    dis_json_key(j, "classes");
    dis_json_begin_array(j);
    for (size_t k = 0; k < v->n_classes; k++) {
        size_t length;
        const char *name = dis_names_get(v->classes, k, &length);
        dis_json_text_n(j, name, length);
    }
    dis_json_end_array(j);
    put_bool(j, "ordinal", job->v->ordinal);
    dis_json_key(j, "votes_per_item");
    dis_json_begin_object(j);
    put_real(j, "min", spread.least);
    put_real(j, "median", spread.median);
    put_real(j, "max", spread.most);
    dis_json_end_object(j);
    return DIS_OK;
}

static void put_notes(const labels_job *job, dis_json *j)
{
    const dis_votes_notes *n = &job->notes;
    dis_json_key(j, "notes");
    dis_json_begin_object(j);
    put_count(j, "rows", n->rows);
    put_count(j, "ties", n->ties);
    put_count(j, "bad_rows", n->bad_rows);
    put_count(j, "na", n->na);
    put_count(j, "dropped", n->dropped);
    put_count(j, "duplicates", n->duplicates);
    put_count(j, "renormalised", n->renormalised);
    put_count(j, "items_left_out", n->items_left_out);
    put_bool(j, "look_alike_classes", n->look_alike_classes);
    put_count(j, "gold", job->n_gold);
    put_count(j, "gold_without_votes", job->n_gold_unknown);
    dis_json_end_object(j);
}

static void put_methods(const labels_job *job, dis_json *j)
{
    dis_json_key(j, "methods");
    dis_json_begin_array(j);
    for (size_t m = 0; m < job->n_views; m++) {
        const labels_result *r = &job->view[m];
        dis_json_begin_object(j);
        put_text(j, "spec", r->spec);
        put_text(j, "name", r->look.method->name);
        put_count(j, "iterations", (uint64_t)r->look.iterations);
        put_bool(j, "converged", r->look.converged);
        put_count(j, "restart", (uint64_t)r->look.restart);
        put_text(j, "objective_is", r->look.method->objective);
        put_real(j, "objective", r->look.objective);
        dis_json_end_object(j);
    }
    dis_json_end_array(j);
}

static void put_combination(const labels_job *job, dis_json *j)
{
    dis_json_key(j, "combination");
    if (!job->combine) {
        dis_json_null(j);
        return;
    }
    dis_json_begin_object(j);
    put_text(j, "spec", job->combine);
    dis_json_key(j, "weights");
    dis_json_begin_array(j);
    for (size_t m = 0; m < job->n_views; m++) dis_json_real(j, job->did.weight[m]);
    dis_json_end_array(j);
    dis_json_key(j, "temperatures");
    dis_json_begin_array(j);
    for (size_t m = 0; m < job->n_views; m++)
        dis_json_real(j, job->did.temperature[m] > 0 ? job->did.temperature[m] : NAN);
    dis_json_end_array(j);
    dis_json_key(j, "on_bound");
    dis_json_begin_array(j);
    for (size_t m = 0; m < job->n_views; m++) dis_json_bool(j, job->did.on_bound[m]);
    dis_json_end_array(j);
    put_real(j, "objective", job->did.objective);
    put_count(j, "steps", (uint64_t)job->did.max_steps);
    dis_json_end_object(j);
}

/* A mean over items with its normal 95 % interval. */
static void put_mean(dis_json *j, const char *name, double sum, double squares, size_t n)
{
    const double mean = n ? sum / (double)n : NAN;
    const double variance = n > 1 ? (squares - sum * mean) / (double)(n - 1) : NAN;
    const double half = 1.959963984540054 * sqrt((variance < 0 ? 0 : variance) / (double)n);
    dis_json_key(j, name);
    dis_json_begin_object(j);
    put_real(j, "value", mean);
    put_real(j, "ci_low", mean - half);
    put_real(j, "ci_high", mean + half);
    put_count(j, "n", n);
    if (n < 2) put_text(j, "reason", n ? "one item has no interval" : "there are no items");
    dis_json_end_object(j);
}

static void put_metrics(const labels_job *job, dis_json *j)
{
    const size_t n = job->look.n_items, k = job->look.n_classes;
    double entropy = 0, entropy2 = 0, top = 0, top2 = 0;
    for (size_t i = 0; i < n; i++) {
        const double *p = job->p + i * k, h = dis_entropy(p, k), most = p[dis_argmax(p, k)];
        entropy += h;
        entropy2 += h * h;
        top += most;
        top2 += most * most;
    }
    dis_json_key(j, "metrics");
    dis_json_begin_object(j);
    put_mean(j, "entropy_nats", entropy, entropy2, n);
    put_mean(j, "largest_probability", top, top2, n);
    dis_json_end_object(j);
}

static void put_worst(const labels_job *job, dis_json *j)
{
    size_t worst[LABELS_WORST];
    const size_t n = labels_worst_workers(job, worst);
    dis_json_key(j, "least_reliable_workers");
    dis_json_begin_array(j);
    for (size_t i = 0; i < n; i++) {
        dis_json_begin_object(j);
        put_text(j, "worker", dis_names_get(job->look.workers, worst[i], NULL));
        put_count(j, "votes", job->n_voted[worst[i]]);
        put_real(j, "quality", job->quality[worst[i]]);
        dis_json_end_object(j);
    }
    dis_json_end_array(j);
}

dis_status labels_write_json(const labels_job *job, const char *path)
{
    dis_json *j;
    dis_status status = dis_json_open(path, &j);
    if (status != DIS_OK) return status;
    dis_json_begin_object(j);
    put_count(j, "schema_version", SCHEMA);
    put_text(j, "version", dis_version());
    put_text(j, "command", "labels");
    put_count(j, "seed", job->v->seed);
    status = put_inputs(job, j);
    if (status == DIS_OK) status = put_table(job, j);
    if (status == DIS_OK) {
        put_notes(job, j);
        put_methods(job, j);
        put_combination(job, j);
        put_metrics(job, j);
        put_worst(job, j);
    }
    dis_json_end_object(j);
    return dis_json_finish(j, status);
}
