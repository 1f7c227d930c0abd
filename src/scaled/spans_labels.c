/* Labels of pieces by the label methods, and spans of adjacent pieces with the same most probable class: see
 * spans.c. */
#include "scaled/spans.h"
#include "dissent/labels.h"
#include "tool/arrays.h"
#include <string.h>

static dis_status make(dis__spans *x, const dis_label_plan *choice, double **p)
{
    uint32_t *task;
    DIS_TRY(dis__scaled_allocate(x->out, &task, x->n_votes, sizeof *task));
    for (size_t i = 0; i < x->n_pieces; i++)
        for (size_t n = x->vote_start[i]; n < x->vote_start[i + 1]; n++) task[n] = (uint32_t)i;
    const dis_votes_arrays arrays = {.size = sizeof(dis_votes_arrays),
                                     .n_votes = x->n_votes,
                                     .n_items = x->n_pieces,
                                     .n_workers = x->args->view.n_workers,
                                     .n_classes = x->n_classes,
                                     .task = task,
                                     .worker = x->worker,
                                     .label = x->label};
    return dis__scaled_run_labels(x->args, &arrays, choice, p);
}

/* A row per piece, with the distribution over classes. */
static dis_status add_pieces(dis__spans *x, const double *p)
{
    const size_t n = x->n_pieces, K = x->n_classes;
    dis_scaled_column *c;
    double *from, *to, *entropy, *q;
    uint32_t *best;
    char *name;
    DIS_TRY(dis__scaled_add_table(x->out, "pieces", "soft labels of pieces between span boundaries", n, 5 + K, &c));
    c[0] = (dis_scaled_column){.name = "task", .names = x->docs, .index = x->piece_doc};
    DIS_TRY(dis__scaled_init_column(x->out, &c[1], "start", n, &from));
    DIS_TRY(dis__scaled_init_column(x->out, &c[2], "end", n, &to));
    DIS_TRY(dis__scaled_allocate(x->out, &best, n, sizeof *best));
    c[3] = (dis_scaled_column){.name = "label", .names = x->classes, .index = best};
    DIS_TRY(dis__scaled_init_column(x->out, &c[4], "entropy", n, &entropy));
    for (size_t i = 0; i < n; i++) {
        from[i] = (double)x->from[i];
        to[i] = (double)x->to[i];
        best[i] = (uint32_t)dis__argmax(p + i * K, K);
        entropy[i] = dis__entropy(p + i * K, K);
    }
    for (size_t k = 0; k < K; k++) {
        size_t length;
        const char *class = dis_names_get(x->classes, k, &length);
        DIS_TRY(dis__scaled_allocate(x->out, &name, length + 3, 1));
        memcpy(name, "p:", 2);
        memcpy(name + 2, class, length);
        DIS_TRY(dis__scaled_init_column(x->out, &c[5 + k], name, n, &q));
        for (size_t i = 0; i < n; i++) q[i] = p[i * K + k];
    }
    return DIS_OK;
}

static dis_status add_spans(dis__spans *x, const double *p)
{
    const size_t K = x->n_classes;
    size_t n = 0;
    uint32_t *doc, *label;
    double *from, *to, *mean, *workers;
    dis_scaled_column *c;
    DIS_TRY(dis__scaled_add_table(x->out, "labels", "spans whose places have the same most probable class", x->n_pieces,
                                  6, &c));
    dis_scaled_table *table = &x->out->table[x->out->n_tables - 1];
    DIS_TRY(dis__scaled_allocate(x->out, &doc, x->n_pieces, sizeof *doc));
    DIS_TRY(dis__scaled_allocate(x->out, &label, x->n_pieces, sizeof *label));
    c[0] = (dis_scaled_column){.name = "task", .names = x->docs, .index = doc};
    DIS_TRY(dis__scaled_init_column(x->out, &c[1], "start", x->n_pieces, &from));
    DIS_TRY(dis__scaled_init_column(x->out, &c[2], "end", x->n_pieces, &to));
    c[3] = (dis_scaled_column){.name = "label", .names = x->classes, .index = label};
    DIS_TRY(dis__scaled_init_column(x->out, &c[4], "p", x->n_pieces, &mean));
    DIS_TRY(dis__scaled_init_column(x->out, &c[5], "workers", x->n_pieces, &workers));
    for (size_t i = 0; i < x->n_pieces; i++) {
        const size_t best = dis__argmax(p + i * K, K);
        if (best == DIS_NO_SPAN) continue;
        const bool goes_on =
            n && doc[n - 1] == x->piece_doc[i] && to[n - 1] == (double)x->from[i] && label[n - 1] == best;
        n += !goes_on;
        if (!goes_on) {
            doc[n - 1] = x->piece_doc[i];
            label[n - 1] = (uint32_t)best;
            from[n - 1] = (double)x->from[i];
        }
        to[n - 1] = (double)x->to[i];
        mean[n - 1] += dis__spans_piece_length(x, i) * p[i * K + best];
        workers[n - 1] = (double)(x->vote_start[i + 1] - x->vote_start[i]);
    }
    for (size_t i = 0; i < n; i++) mean[i] /= to[i] - from[i];
    table->n_rows = n;
    return DIS_OK;
}

dis_status dis__spans_add_labels(dis__spans *x, const dis_label_plan *choice)
{
    double *p;
    DIS_TRY(make(x, choice, &p));
    dis_status status = add_spans(x, p);
    if (status == DIS_OK) status = add_pieces(x, p);
    dis_free(p);
    return status;
}
