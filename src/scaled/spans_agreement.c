/* Agreement between workers on positions and spans: see spans.c. Everything but the kappas is made of sums over tasks,
 * which a resample draws. */
#include "tool/arrays.h"
#include "scaled/spans.h"
#include "stats/bootstrap.h"
#include <math.h>

enum { MAX_CELLS = 20000000 };

/* Sums of a task; columns of a bootstrap. */
enum { OBSERVED, TOKEN_SAME, TOKEN_ALL, EXACT_SAME, SPAN_ALL, OVERLAP_SAME, FIRST_COUNT };

typedef struct {
    double *column;                   /* (FIRST_COUNT + n_classes, n_docs) */
    double *exact, *overlap, *marked; /* (n_workers): spans matched, and to be matched, of pairs */
    double *pair;                     /* (n_workers, n_workers, K, K) positions, NULL: too many */
    double *span_pair;                /* the same of spans */
    double *agreement;                /* (n_docs): share of agreeing pairs of positions */
} sums;

static bool overlaps(const dis__span *a, const dis__span *b)
{
    return a->label == b->label && a->start < b->end && b->start < a->end;
}

static bool is_same(const dis__span *a, const dis__span *b)
{
    return a->label == b->label && a->start == b->start && a->end == b->end;
}

static double *cell_of(const dis__spans *x, double *table, uint32_t a, uint32_t b, uint32_t k, uint32_t l)
{
    const size_t K = x->n_classes, W = x->args->view.n_workers;
    return &table[((a * W + b) * K + k) * K + l];
}

/* Spans of two workers on one task: i .. i_end - 1 and j .. j_end - 1. */
static void match(const dis__spans *x, const sums *t, size_t d, size_t i, size_t i_end, size_t j, size_t j_end)
{
    const size_t n = x->n_docs;
    const uint32_t a = x->s[i].worker, b = x->s[j].worker;
    double all = 0, exact = 0, either = 0;
    for (size_t k = i; k < i_end; k++) {
        bool found = false, near = false;
        if (x->s[k].label == DIS_NO_SPAN) continue;
        uint32_t other = DIS_NO_SPAN;
        for (size_t l = j; l < j_end; l++) {
            if (x->s[l].label == DIS_NO_SPAN) continue;
            found |= is_same(&x->s[k], &x->s[l]);
            near |= overlaps(&x->s[k], &x->s[l]);
            if (x->s[k].start == x->s[l].start && x->s[k].end == x->s[l].end) other = x->s[l].label;
        }
        all++;
        exact += 2 * found;
        either += near;
        if (t->span_pair) (*cell_of(x, t->span_pair, a, b, x->s[k].label, other))++;
    }
    for (size_t l = j; l < j_end; l++) {
        bool near = false, same_span = false;
        if (x->s[l].label == DIS_NO_SPAN) continue;
        for (size_t k = i; k < i_end; k++) {
            if (x->s[k].label == DIS_NO_SPAN) continue;
            near |= overlaps(&x->s[k], &x->s[l]);
            same_span |= x->s[k].start == x->s[l].start && x->s[k].end == x->s[l].end;
        }
        all++;
        either += near;
        if (t->span_pair && !same_span) (*cell_of(x, t->span_pair, a, b, DIS_NO_SPAN, x->s[l].label))++;
    }
    t->column[EXACT_SAME * n + d] += exact;
    t->column[OVERLAP_SAME * n + d] += either;
    t->column[SPAN_ALL * n + d] += all;
    t->exact[a] += exact, t->exact[b] += exact;
    t->overlap[a] += either, t->overlap[b] += either;
    t->marked[a] += all, t->marked[b] += all;
}

static void measure_piece(const dis__spans *x, const sums *t, size_t d, size_t piece, double *same, double *pairs)
{
    const size_t n = x->n_docs, first = x->vote_start[piece], last = x->vote_start[piece + 1];
    const double length = dis__spans_piece_length(x, piece), r = (double)(last - first);
    double apart = 0;
    if (r < 2) return;
    for (size_t a = first; a < last; a++) {
        t->column[(FIRST_COUNT + x->label[a]) * n + d] += length;
        for (size_t b = first; b < a; b++) {
            const uint32_t low = x->worker[b] < x->worker[a], k = x->label[low ? b : a], l = x->label[low ? a : b];
            apart += 2 * (k != l);
            t->column[TOKEN_SAME * n + d] += k == l && k != DIS_NO_SPAN ? 2 * length : 0;
            t->column[TOKEN_ALL * n + d] += length * ((k != DIS_NO_SPAN) + (l != DIS_NO_SPAN));
            *same += length * (k == l);
            *pairs += length;
            if (t->pair) *cell_of(x, t->pair, x->worker[low ? b : a], x->worker[low ? a : b], k, l) += length;
        }
    }
    t->column[OBSERVED * n + d] += length * apart / (r - 1);
}

static void add_up(const dis__spans *x, const sums *t)
{
    for (size_t d = 0; d < x->n_docs; d++) {
        double same = 0, pairs = 0;
        for (size_t p = x->piece_start[d]; p < x->piece_start[d + 1]; p++) measure_piece(x, t, d, p, &same, &pairs);
        t->agreement[d] = pairs > 0 ? same / pairs : NAN;
        for (size_t i = x->doc_start[d]; i < x->doc_start[d + 1]; i = dis__spans_worker_end(x, i))
            for (size_t j = dis__spans_worker_end(x, i); j < x->doc_start[d + 1]; j = dis__spans_worker_end(x, j))
                match(x, t, d, i, dis__spans_worker_end(x, i), j, dis__spans_worker_end(x, j));
    }
}

static double alpha_of(const double *s, size_t n_classes)
{
    double n = 0, squares = 0;
    for (size_t k = 0; k < n_classes; k++) {
        n += s[FIRST_COUNT + k];
        squares += s[FIRST_COUNT + k] * s[FIRST_COUNT + k];
    }
    const double expected = (n * n - squares) / (n - 1);
    return n < 2 ? NAN : expected > 0 ? 1 - s[OBSERVED] / expected : 1;
}

static double share(double part, double total)
{
    return total > 0 ? part / total : NAN;
}

enum { N_FIGURES = 4 };

static void figures_of(const double *s, size_t n_classes, double out[N_FIGURES])
{
    out[0] = alpha_of(s, n_classes);
    out[1] = share(s[TOKEN_SAME], s[TOKEN_ALL]);
    out[2] = share(s[EXACT_SAME], s[SPAN_ALL]);
    out[3] = share(s[OVERLAP_SAME], s[SPAN_ALL]);
}

static dis_status add_figures(const dis__spans *x, const sums *t)
{
    static const char *const name[][2] = {{"alpha_tokens", "Krippendorff's alpha of positions"},
                                          {"f1_tokens", "F1 of labelled positions"},
                                          {"f1_spans", "F1 of spans, exactly the same"},
                                          {"f1_spans_overlap", "F1 of spans, overlapping and of the same class"}};
    const size_t n_columns = FIRST_COUNT + x->n_classes, resamples = x->args->o->resamples;
    const double *column[FIRST_COUNT + DIS_SPAN_CLASSES];
    double all[FIRST_COUNT + DIS_SPAN_CLASSES] = {0}, value[N_FIGURES], *drawn = NULL, *one = NULL;
    dis_status status = DIS_OK;
    for (size_t c = 0; c < n_columns; c++) {
        column[c] = t->column + c * x->n_docs;
        for (size_t d = 0; d < x->n_docs; d++) all[c] += column[c][d];
    }
    figures_of(all, x->n_classes, value);
    if (resamples && n_columns <= DIS_BOOTSTRAP_MAX_VALUES) {
        const dis__bootstrap b = {.n_items = x->n_docs,
                                  .n_draws = x->n_docs,
                                  .n_resamples = resamples,
                                  .seed = x->args->o->seed};
        status = dis__alloc_array(&drawn, dis__saturating_size(resamples, n_columns, 0), sizeof *drawn);
        if (status == DIS_OK) status = dis__alloc_array(&one, resamples, sizeof *one);
        if (status == DIS_OK) status = dis__bootstrap_sums(x->args->ctx, &b, column, n_columns, drawn);
    }
    for (size_t m = 0; status == DIS_OK && m < N_FIGURES; m++) {
        dis_metric metric = isnan(value[m]) ? dis__metric_undefined("no task was marked by two workers")
                                            : (dis_metric){.value = value[m], .n = x->n_docs};
        for (size_t r = 0; drawn && r < resamples; r++) {
            double figure[N_FIGURES];
            figures_of(drawn + r * n_columns, x->n_classes, figure);
            one[r] = figure[m];
        }
        if (drawn && !metric.reason)
            metric.has_interval = dis__bootstrap_interval(one, resamples, &metric.ci_low, &metric.ci_high);
        dis__scaled_add_measure(x->out, name[m][0], name[m][1], metric);
    }
    dis__free(drawn);
    dis__free(one);
    return status;
}

/* The mean of Cohen's kappa over pairs of workers, weighted by what they share. */
static dis_metric mean_kappa(const dis__spans *x, const double *table)
{
    const size_t K = x->n_classes, W = x->args->view.n_workers;
    double sum = 0, weight = 0;
    size_t n = 0;
    if (!table) return dis__metric_undefined("too many workers and classes for tables of all pairs");
    for (size_t i = 0; i < W * W; i++) {
        const double *cell = table + i * K * K;
        double all = 0, same = 0, chance = 0;
        for (size_t k = 0; k < K * K; k++) all += cell[k];
        if (!(all > 0)) continue;
        for (size_t k = 0; k < K; k++) {
            double row = 0, column = 0;
            for (size_t l = 0; l < K; l++) {
                row += cell[k * K + l];
                column += cell[l * K + k];
            }
            same += cell[k * K + k] / all;
            chance += row / all * (column / all);
        }
        sum += all * (chance < 1 ? (same - chance) / (1 - chance) : 1);
        weight += all;
        n++;
    }
    return n ? (dis_metric){.value = sum / weight, .n = n} : dis__metric_undefined("no two workers share a task");
}

static dis_status add_tables(dis__spans *x, const sums *t)
{
    const size_t n = x->n_docs, W = x->args->view.n_workers;
    dis_scaled_column *c;
    double *workers, *spans, *length, *key, *docs, *found, *exact, *near;
    DIS_TRY(
        dis__scaled_add_table(x->out, "items", "tasks by the share of agreeing places, the lowest first", n, 5, &c));
    c[0] = (dis_scaled_column){.name = "task", .names = x->docs};
    c[1] = (dis_scaled_column){.name = "agreement", .values = t->agreement};
    DIS_TRY(dis__scaled_init_column(x->out, &c[2], "workers", n, &workers));
    DIS_TRY(dis__scaled_init_column(x->out, &c[3], "spans", n, &spans));
    DIS_TRY(dis__scaled_init_column(x->out, &c[4], "places", n, &length));
    DIS_TRY(dis__scaled_allocate(x->out, &key, n > W ? n : W, sizeof *key));
    for (size_t d = 0; d < n; d++) {
        for (size_t i = x->doc_start[d]; i < x->doc_start[d + 1]; i = dis__spans_worker_end(x, i)) workers[d]++;
        for (size_t i = x->doc_start[d]; i < x->doc_start[d + 1]; i++) spans[d] += x->s[i].label != DIS_NO_SPAN;
        if (x->piece_start[d + 1] > x->piece_start[d]) length[d] = (double)x->to[x->piece_start[d + 1] - 1];
        key[d] = -t->agreement[d];
    }
    DIS_TRY(dis__scaled_sort_table(x->out, &x->out->table[x->out->n_tables - 1], key));
    DIS_TRY(dis__scaled_add_table(x->out, "workers",
                                  "workers by the F1 of their spans with those of the others, the lowest first", W, 5,
                                  &c));
    c[0] = (dis_scaled_column){.name = "worker", .names = x->args->view.workers};
    DIS_TRY(dis__scaled_init_column(x->out, &c[1], "tasks", W, &docs));
    DIS_TRY(dis__scaled_init_column(x->out, &c[2], "spans", W, &found));
    DIS_TRY(dis__scaled_init_column(x->out, &c[3], "f1_spans", W, &exact));
    DIS_TRY(dis__scaled_init_column(x->out, &c[4], "f1_spans_overlap", W, &near));
    for (size_t d = 0; d < n; d++)
        for (size_t i = x->doc_start[d]; i < x->doc_start[d + 1]; i = dis__spans_worker_end(x, i))
            docs[x->s[i].worker]++;
    for (size_t i = 0; i < x->n; i++) found[x->s[i].worker] += x->s[i].label != DIS_NO_SPAN;
    for (size_t w = 0; w < W; w++) {
        exact[w] = share(t->exact[w], t->marked[w]);
        near[w] = share(t->overlap[w], t->marked[w]);
        key[w] = -exact[w];
    }
    return dis__scaled_sort_table(x->out, &x->out->table[x->out->n_tables - 1], key);
}

dis_status dis__spans_add_measures(dis__spans *x)
{
    const size_t W = x->args->view.n_workers, K = x->n_classes,
                 cells = dis__saturating_size(dis__saturating_size(W, W, 0), dis__saturating_size(K, K, 0), 0);
    sums t = {0};
    DIS_TRY(
        dis__scaled_allocate(x->out, &t.column, dis__saturating_size(FIRST_COUNT + K, x->n_docs, 0), sizeof *t.column));
    DIS_TRY(dis__scaled_allocate(x->out, &t.exact, 3 * W, sizeof *t.exact));
    DIS_TRY(dis__scaled_allocate(x->out, &t.agreement, x->n_docs, sizeof *t.agreement));
    t.overlap = t.exact + W;
    t.marked = t.overlap + W;
    if (cells <= MAX_CELLS) {
        DIS_TRY(dis__scaled_allocate(x->out, &t.pair, cells, sizeof *t.pair));
        DIS_TRY(dis__scaled_allocate(x->out, &t.span_pair, cells, sizeof *t.span_pair));
    }
    add_up(x, &t);
    dis__scaled_add_measure(x->out, "kappa_tokens", "Cohen's kappa of positions, mean of pairs", mean_kappa(x, t.pair));
    dis__scaled_add_measure(x->out, "kappa_spans", "Cohen's kappa of spans that one of two marked",
                            mean_kappa(x, t.span_pair));
    DIS_TRY(add_figures(x, &t));
    return add_tables(x, &t);
}
