/* Spans of texts: classes of stretches of places (characters or tokens, whatever the columns count).
 *
 * A task's places are cut where a span of anybody begins or ends; between two cuts every worker has one class, or O
 * outside of his spans. Whoever has a row for a task has looked at all of it, from 0 to the end of its last span. Where
 * spans of one worker overlap, the one read first counts (counted in a note).
 *
 * Labels: the label methods (the default recipe, or those that are named) on these pieces as items, O being a class;
 * neighbours with the same most probable class make a span.
 *
 * Agreement, every place counting once: nominal alpha; Cohen's kappa of pairs of workers, weighted by shared places; F1
 * of two workers' places outside of O. Of whole spans: F1 of spans that are exactly the same, of spans that overlap one
 * of the same class, and Cohen's kappa over the spans that one of two marked, "no span" being a class: there are no
 * places where both marked nothing, so it is low. Intervals resample tasks. The gamma of Mathet et al. (2015) is not
 * here: its alignments are an integer program for every resample of its chance model.
 *
 * Cost: pairs of workers within a task times its pieces. */
#include "scaled/scaled_internal.h"
#include "dissent/combine.h"
#include "dissent/fit.h"
#include "dissent/labels.h"
#include "dissent/recipe.h"
#include "stats/bootstrap.h"
#include "votes/scales.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CLASSES = 60, MAX_CELLS = 20000000, NONE = 0 };

typedef struct {
    uint32_t doc, worker, label; /* label 0: the task was looked at */
    uint64_t start, end;
    size_t row; /* in the order of reading */
} span;

typedef struct {
    const dis__scaled_args *args;
    dis_scaled *out;
    const dis_names *docs, *classes; /* classes[0] is O */
    size_t n_docs, n_classes;        /* with O */
    span *s;                         /* (n) by task, worker, row */
    size_t n;
    size_t *doc_start; /* (n_docs + 1) */
    /* pieces of tasks */
    size_t *piece_start; /* (n_docs + 1) */
    uint64_t *from, *to; /* (n_pieces) */
    uint32_t *piece_doc; /* (n_pieces) */
    size_t n_pieces;
    /* votes: a piece and a worker of its task */
    size_t *vote_start; /* (n_pieces + 1) */
    uint32_t *worker;
    uint16_t *label;
    size_t n_votes, n_overlaps;
} study;

/* ---- reading ---- */

typedef struct {
    const char *text;
    size_t n, item;
} named;

static int by_text(const void *x, const void *y)
{
    const named *a = x, *b = y;
    const int order = memcmp(a->text, b->text, a->n < b->n ? a->n : b->n);
    return order ? order : a->n < b->n ? -1 : a->n > b->n ? 1 : a->item < b->item ? -1 : 1;
}

static bool same_text(const named *a, const named *b)
{
    return a->n == b->n && memcmp(a->text, b->text, a->n) == 0;
}

/* Numbers of tasks in the order in which they were read first; doc (n_items). */
static dis_status number_docs(study *x, uint32_t *doc)
{
    const dis_votes_view *v = &x->args->look;
    named *at;
    char **text;
    uint32_t *first;
    size_t n = 0;
    DIS_TRY(dis__scaled_room(x->out, &at, v->n_items, sizeof *at));
    DIS_TRY(dis__scaled_room(x->out, &first, v->n_items, sizeof *first));
    for (size_t i = 0; i < v->n_items; i++) {
        size_t length;
        const char *name = dis_names_get(v->tasks, i, &length), *last = memrchr(name, DIS_PARTS, length);
        const char *middle = last ? memrchr(name, DIS_PARTS, (size_t)(last - name)) : NULL;
        if (!middle)
            return dis__fail(DIS_EDATA, "\"%.100s\" has no places; read the votes with their columns start and end",
                             name);
        at[i] = (named){.text = name, .n = (size_t)(middle - name), .item = i};
    }
    qsort(at, v->n_items, sizeof *at, by_text);
    for (size_t i = 0, group = 0; i < v->n_items; i++) { /* the first item of each group stands for it */
        if (!same_text(&at[group], &at[i])) group = i;
        first[at[i].item] = (uint32_t)at[group].item;
    }
    DIS_TRY(dis__alloc_zeroed(&text, v->n_items, sizeof *text));
    dis_status status = DIS_OK;
    for (size_t i = 0; i < v->n_items && status == DIS_OK; i++) {
        if (first[i] != i) {
            doc[i] = doc[first[i]];
            continue;
        }
        size_t length;
        const char *name = dis_names_get(v->tasks, i, &length), *end = memrchr(name, DIS_PARTS, length);
        end = memrchr(name, DIS_PARTS, (size_t)(end - name));
        status = dis__copy_text(&text[n], name, (size_t)(end - name));
        doc[i] = (uint32_t)n++;
    }
    x->n_docs = n;
    if (status == DIS_OK) status = dis__scaled_list(x->out, (const char *const *)text, n, &x->docs);
    for (size_t i = 0; i < v->n_items; i++) dis__free(text[i]);
    dis__free(text);
    return status;
}

static int by_place(const void *a, const void *b)
{
    const span *x = a, *y = b;
    if (x->doc != y->doc) return x->doc < y->doc ? -1 : 1;
    if (x->worker != y->worker) return x->worker < y->worker ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Classes in their order, O first. number (n_labels). */
static dis_status name_classes(study *x, uint32_t *number)
{
    const dis_votes_view *v = &x->args->look;
    const char **text;
    DIS_TRY(dis__alloc_array(&text, v->n_classes + 1, sizeof *text));
    x->n_classes = 0;
    text[x->n_classes++] = "O";
    for (size_t k = 0; k < v->n_classes; k++) {
        const char *name = dis_names_get(v->classes, k, NULL);
        number[k] = 0;
        if (strcmp(name, "O") == 0) continue;
        number[k] = (uint32_t)x->n_classes;
        text[x->n_classes++] = name;
    }
    const dis_status status = dis__scaled_list(x->out, text, x->n_classes, &x->classes);
    dis__free(text);
    return status;
}

static dis_status take(study *x)
{
    const dis_votes_view *v = &x->args->look;
    uint32_t *doc, *number;
    DIS_TRY(dis__scaled_room(x->out, &doc, v->n_items, sizeof *doc));
    DIS_TRY(dis__scaled_room(x->out, &number, v->n_classes, sizeof *number));
    DIS_TRY(dis__scaled_room(x->out, &x->s, v->n_votes, sizeof *x->s));
    DIS_TRY(name_classes(x, number));
    DIS_TRY(number_docs(x, doc));
    for (size_t i = 0; i < v->n_items; i++) {
        const char *name = dis_names_get(v->tasks, i, NULL), *end = strrchr(name, DIS_PARTS), *start = end;
        do start--;
        while (*start != DIS_PARTS);
        for (uint64_t n = v->start[i]; n < v->start[i + 1]; n++)
            x->s[x->n] = (span){.doc = doc[i],
                                .worker = v->worker[n],
                                .label = number[v->label8 ? v->label8[n] : v->label16[n]],
                                .start = strtoull(start + 1, NULL, 10),
                                .end = strtoull(end + 1, NULL, 10),
                                .row = x->n},
            x->n++;
    }
    qsort(x->s, x->n, sizeof *x->s, by_place);
    DIS_TRY(dis__scaled_room(x->out, &x->doc_start, x->n_docs + 1, sizeof *x->doc_start));
    for (size_t i = 0; i < x->n; i++) x->doc_start[x->s[i].doc + 1] = i + 1;
    return DIS_OK;
}

/* ---- pieces ---- */

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static dis_status cut(study *x)
{
    uint64_t *cuts;
    DIS_TRY(dis__scaled_room(x->out, &cuts, 2 * x->n + 1, sizeof *cuts));
    DIS_TRY(dis__scaled_room(x->out, &x->piece_start, x->n_docs + 1, sizeof *x->piece_start));
    DIS_TRY(dis__scaled_room(x->out, &x->from, 2 * x->n + 1, sizeof *x->from));
    DIS_TRY(dis__scaled_room(x->out, &x->to, 2 * x->n + 1, sizeof *x->to));
    DIS_TRY(dis__scaled_room(x->out, &x->piece_doc, 2 * x->n + 1, sizeof *x->piece_doc));
    for (size_t d = 0; d < x->n_docs; d++) {
        size_t n = 0;
        cuts[n++] = 0;
        for (size_t i = x->doc_start[d]; i < x->doc_start[d + 1]; i++)
            if (x->s[i].label != NONE) {
                cuts[n++] = x->s[i].start;
                cuts[n++] = x->s[i].end;
            }
        qsort(cuts, n, sizeof *cuts, by_number);
        for (size_t k = 1; k < n; k++) {
            if (cuts[k] == cuts[k - 1]) continue;
            x->from[x->n_pieces] = cuts[k - 1];
            x->to[x->n_pieces] = cuts[k];
            x->piece_doc[x->n_pieces++] = (uint32_t)d;
        }
        x->piece_start[d + 1] = x->n_pieces;
    }
    return DIS_OK;
}

/* The end of the spans of the worker that begin at i. */
static size_t worker_end(const study *x, size_t i)
{
    size_t end = i;
    while (end < x->doc_start[x->s[i].doc + 1] && x->s[end].worker == x->s[i].worker) end++;
    return end;
}

static dis_status vote(study *x)
{
    size_t n = 0;
    for (size_t d = 0; d < x->n_docs; d++)
        for (size_t i = x->doc_start[d]; i < x->doc_start[d + 1]; i = worker_end(x, i))
            n += x->piece_start[d + 1] - x->piece_start[d];
    DIS_TRY(dis__scaled_room(x->out, &x->vote_start, x->n_pieces + 1, sizeof *x->vote_start));
    DIS_TRY(dis__scaled_room(x->out, &x->worker, n, sizeof *x->worker));
    DIS_TRY(dis__scaled_room(x->out, &x->label, n, sizeof *x->label));
    for (size_t d = 0; d < x->n_docs; d++)
        for (size_t p = x->piece_start[d]; p < x->piece_start[d + 1]; p++) {
            for (size_t i = x->doc_start[d], end; i < x->doc_start[d + 1]; i = end) {
                end = worker_end(x, i);
                uint32_t label = NONE;
                for (size_t k = i; k < end; k++) {
                    const span *s = &x->s[k];
                    if (s->label == NONE || s->start > x->from[p] || s->end < x->to[p]) continue;
                    x->n_overlaps += label != NONE && label != s->label;
                    if (label == NONE) label = s->label;
                }
                x->worker[x->n_votes] = x->s[i].worker;
                x->label[x->n_votes++] = (uint16_t)label;
            }
            x->vote_start[p + 1] = x->n_votes;
        }
    if (x->n_overlaps)
        dis__scaled_note(x->out, "%zu piece%s where spans of one worker overlap: the first one counts", x->n_overlaps,
                         x->n_overlaps == 1 ? "" : "s");
    return DIS_OK;
}

/* ---- labels ---- */

static dis_status make(study *x, const dis_label_choice *choice, double **p)
{
    uint32_t *task;
    DIS_TRY(dis__scaled_room(x->out, &task, x->n_votes, sizeof *task));
    for (size_t i = 0; i < x->n_pieces; i++)
        for (size_t n = x->vote_start[i]; n < x->vote_start[i + 1]; n++) task[n] = (uint32_t)i;
    const dis_votes_arrays arrays = {.n_votes = x->n_votes,
                                     .n_items = x->n_pieces,
                                     .n_workers = x->args->look.n_workers,
                                     .n_classes = x->n_classes,
                                     .task = task,
                                     .worker = x->worker,
                                     .label = x->label};
    dis_votes *votes;
    dis_made *made;
    dis_fit_options how = dis_fit_options_default();
    dis_make_options making = dis_make_options_default();
    how.seed = x->args->o->seed;
    making.fit = &how;
    DIS_TRY(dis_votes_from_arrays(x->args->ctx, &arrays, &votes));
    const dis_status status = dis_make_labels(x->args->ctx, votes, choice, &making, &made);
    if (status == DIS_OK) {
        *p = dis_made_take_p(made);
        dis_made_destroy(made);
    }
    dis_votes_destroy(votes);
    return status;
}

static double places(const study *x, size_t piece)
{
    return (double)(x->to[piece] - x->from[piece]);
}

/* A row per piece, with the distribution over classes. */
static dis_status add_pieces(study *x, const double *p)
{
    const size_t n = x->n_pieces, K = x->n_classes;
    dis_scaled_column *c;
    double *from, *to, *entropy, *q;
    uint32_t *best;
    char *name;
    DIS_TRY(dis__scaled_add(x->out, "pieces", "soft labels of pieces that nobody cut", n, 5 + K, &c));
    c[0] = (dis_scaled_column){.name = "task", .names = x->docs, .index = x->piece_doc};
    DIS_TRY(dis__scaled_numbers(x->out, &c[1], "start", n, &from));
    DIS_TRY(dis__scaled_numbers(x->out, &c[2], "end", n, &to));
    DIS_TRY(dis__scaled_room(x->out, &best, n, sizeof *best));
    c[3] = (dis_scaled_column){.name = "label", .names = x->classes, .index = best};
    DIS_TRY(dis__scaled_numbers(x->out, &c[4], "entropy", n, &entropy));
    for (size_t i = 0; i < n; i++) {
        from[i] = (double)x->from[i];
        to[i] = (double)x->to[i];
        best[i] = (uint32_t)dis_argmax(p + i * K, K);
        entropy[i] = dis_entropy(p + i * K, K);
    }
    for (size_t k = 0; k < K; k++) {
        size_t length;
        const char *class = dis_names_get(x->classes, k, &length);
        DIS_TRY(dis__scaled_room(x->out, &name, length + 3, 1));
        memcpy(name, "p:", 2);
        memcpy(name + 2, class, length);
        DIS_TRY(dis__scaled_numbers(x->out, &c[5 + k], name, n, &q));
        for (size_t i = 0; i < n; i++) q[i] = p[i * K + k];
    }
    return DIS_OK;
}

static dis_status add_spans(study *x, const double *p)
{
    const size_t K = x->n_classes;
    size_t n = 0;
    uint32_t *doc, *label;
    double *from, *to, *mean, *workers;
    dis_scaled_column *c;
    DIS_TRY(
        dis__scaled_add(x->out, "labels", "spans whose places have the same most probable class", x->n_pieces, 6, &c));
    dis_scaled_table *table = &x->out->table[x->out->n_tables - 1];
    DIS_TRY(dis__scaled_room(x->out, &doc, x->n_pieces, sizeof *doc));
    DIS_TRY(dis__scaled_room(x->out, &label, x->n_pieces, sizeof *label));
    c[0] = (dis_scaled_column){.name = "task", .names = x->docs, .index = doc};
    DIS_TRY(dis__scaled_numbers(x->out, &c[1], "start", x->n_pieces, &from));
    DIS_TRY(dis__scaled_numbers(x->out, &c[2], "end", x->n_pieces, &to));
    c[3] = (dis_scaled_column){.name = "label", .names = x->classes, .index = label};
    DIS_TRY(dis__scaled_numbers(x->out, &c[4], "p", x->n_pieces, &mean));
    DIS_TRY(dis__scaled_numbers(x->out, &c[5], "workers", x->n_pieces, &workers));
    for (size_t i = 0; i < x->n_pieces; i++) {
        const size_t best = dis_argmax(p + i * K, K);
        if (best == NONE) continue;
        const bool goes_on =
            n && doc[n - 1] == x->piece_doc[i] && to[n - 1] == (double)x->from[i] && label[n - 1] == best;
        n += !goes_on;
        if (!goes_on) {
            doc[n - 1] = x->piece_doc[i];
            label[n - 1] = (uint32_t)best;
            from[n - 1] = (double)x->from[i];
        }
        to[n - 1] = (double)x->to[i];
        mean[n - 1] += places(x, i) * p[i * K + best];
        workers[n - 1] = (double)(x->vote_start[i + 1] - x->vote_start[i]);
    }
    for (size_t i = 0; i < n; i++) mean[i] /= to[i] - from[i];
    table->n_rows = n;
    return DIS_OK;
}

/* ---- agreement ---- */

/* Sums of a task; columns of a bootstrap. */
enum { OBSERVED, TOKEN_SAME, TOKEN_ALL, EXACT_SAME, SPAN_ALL, OVERLAP_SAME, FIRST_COUNT };

typedef struct {
    double *column;                   /* (FIRST_COUNT + n_classes, n_docs) */
    double *exact, *overlap, *marked; /* (n_workers): spans matched, and to be matched, of pairs */
    double *pair;                     /* (n_workers, n_workers, K, K) places, NULL: too many */
    double *span_pair;                /* the same of spans */
    double *agreement;                /* (n_docs): share of agreeing pairs of places */
} sums;

static bool overlaps(const span *a, const span *b)
{
    return a->label == b->label && a->start < b->end && b->start < a->end;
}

static bool is_same(const span *a, const span *b)
{
    return a->label == b->label && a->start == b->start && a->end == b->end;
}

static double *cell_of(const study *x, double *table, uint32_t a, uint32_t b, uint32_t k, uint32_t l)
{
    const size_t K = x->n_classes, W = x->args->look.n_workers;
    return &table[((a * W + b) * K + k) * K + l];
}

/* Spans of two workers on one task: i .. i_end - 1 and j .. j_end - 1. */
static void match(const study *x, const sums *t, size_t d, size_t i, size_t i_end, size_t j, size_t j_end)
{
    const size_t n = x->n_docs;
    const uint32_t a = x->s[i].worker, b = x->s[j].worker;
    double all = 0, exact = 0, either = 0;
    for (size_t k = i; k < i_end; k++) {
        bool found = false, near = false;
        if (x->s[k].label == NONE) continue;
        uint32_t other = NONE;
        for (size_t l = j; l < j_end; l++) {
            if (x->s[l].label == NONE) continue;
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
        bool near = false, there = false;
        if (x->s[l].label == NONE) continue;
        for (size_t k = i; k < i_end; k++) {
            if (x->s[k].label == NONE) continue;
            near |= overlaps(&x->s[k], &x->s[l]);
            there |= x->s[k].start == x->s[l].start && x->s[k].end == x->s[l].end;
        }
        all++;
        either += near;
        if (t->span_pair && !there) (*cell_of(x, t->span_pair, a, b, NONE, x->s[l].label))++;
    }
    t->column[EXACT_SAME * n + d] += exact;
    t->column[OVERLAP_SAME * n + d] += either;
    t->column[SPAN_ALL * n + d] += all;
    t->exact[a] += exact, t->exact[b] += exact;
    t->overlap[a] += either, t->overlap[b] += either;
    t->marked[a] += all, t->marked[b] += all;
}

static void look_at_piece(const study *x, const sums *t, size_t d, size_t piece, double *same, double *pairs)
{
    const size_t n = x->n_docs, first = x->vote_start[piece], last = x->vote_start[piece + 1];
    const double length = places(x, piece), r = (double)(last - first);
    double apart = 0;
    if (r < 2) return;
    for (size_t a = first; a < last; a++) {
        t->column[(FIRST_COUNT + x->label[a]) * n + d] += length;
        for (size_t b = first; b < a; b++) {
            const uint32_t low = x->worker[b] < x->worker[a], k = x->label[low ? b : a], l = x->label[low ? a : b];
            apart += 2 * (k != l);
            t->column[TOKEN_SAME * n + d] += k == l && k != NONE ? 2 * length : 0;
            t->column[TOKEN_ALL * n + d] += length * ((k != NONE) + (l != NONE));
            *same += length * (k == l);
            *pairs += length;
            if (t->pair) *cell_of(x, t->pair, x->worker[low ? b : a], x->worker[low ? a : b], k, l) += length;
        }
    }
    t->column[OBSERVED * n + d] += length * apart / (r - 1);
}

static void add_up(const study *x, const sums *t)
{
    for (size_t d = 0; d < x->n_docs; d++) {
        double same = 0, pairs = 0;
        for (size_t p = x->piece_start[d]; p < x->piece_start[d + 1]; p++) look_at_piece(x, t, d, p, &same, &pairs);
        t->agreement[d] = pairs > 0 ? same / pairs : NAN;
        for (size_t i = x->doc_start[d]; i < x->doc_start[d + 1]; i = worker_end(x, i))
            for (size_t j = worker_end(x, i); j < x->doc_start[d + 1]; j = worker_end(x, j))
                match(x, t, d, i, worker_end(x, i), j, worker_end(x, j));
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

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

enum { N_FIGURES = 4 };

static void figures_of(const double *s, size_t n_classes, double out[N_FIGURES])
{
    out[0] = alpha_of(s, n_classes);
    out[1] = share(s[TOKEN_SAME], s[TOKEN_ALL]);
    out[2] = share(s[EXACT_SAME], s[SPAN_ALL]);
    out[3] = share(s[OVERLAP_SAME], s[SPAN_ALL]);
}

static dis_status add_figures(const study *x, const sums *t)
{
    static const char *const name[][2] = {{"alpha_tokens", "Krippendorff's alpha of places"},
                                          {"f1_tokens", "F1 of places outside of O"},
                                          {"f1_spans", "F1 of spans, exactly the same"},
                                          {"f1_spans_overlap", "F1 of spans, overlapping and of the same class"}};
    const size_t n_columns = FIRST_COUNT + x->n_classes, resamples = x->args->o->resamples;
    const double *column[FIRST_COUNT + MAX_CLASSES];
    double all[FIRST_COUNT + MAX_CLASSES] = {0}, value[N_FIGURES], *drawn = NULL, *one = NULL;
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
        status = dis__alloc_array(&drawn, dis__size(resamples, n_columns, 0), sizeof *drawn);
        if (status == DIS_OK) status = dis__alloc_array(&one, resamples, sizeof *one);
        if (status == DIS_OK) status = dis__bootstrap_sums(x->args->ctx, &b, column, n_columns, drawn);
    }
    for (size_t m = 0; status == DIS_OK && m < N_FIGURES; m++) {
        dis_metric metric = isnan(value[m]) ? dis_metric_undefined("no task was marked by two workers")
                                            : (dis_metric){.value = value[m], .n = x->n_docs};
        for (size_t r = 0; drawn && r < resamples; r++) {
            double figure[N_FIGURES];
            figures_of(drawn + r * n_columns, x->n_classes, figure);
            one[r] = figure[m];
        }
        if (drawn && !metric.reason)
            metric.has_interval = dis__bootstrap_interval(one, resamples, &metric.ci_low, &metric.ci_high);
        dis__scaled_measure(x->out, name[m][0], name[m][1], metric);
    }
    dis__free(drawn);
    dis__free(one);
    return status;
}

/* The mean of Cohen's kappa over pairs of workers, each weighing by what they share. */
static dis_metric mean_kappa(const study *x, const double *table)
{
    const size_t K = x->n_classes, W = x->args->look.n_workers;
    double sum = 0, weight = 0;
    size_t n = 0;
    if (!table) return dis_metric_undefined("too many workers and classes for tables of all pairs");
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
    return n ? (dis_metric){.value = sum / weight, .n = n} : dis_metric_undefined("no two workers share a task");
}

static dis_status add_tables(study *x, const sums *t)
{
    const size_t n = x->n_docs, W = x->args->look.n_workers;
    dis_scaled_column *c;
    double *workers, *spans, *length, *key, *docs, *found, *exact, *near;
    DIS_TRY(dis__scaled_add(x->out, "items", "tasks by the share of agreeing places, the lowest first", n, 5, &c));
    c[0] = (dis_scaled_column){.name = "task", .names = x->docs};
    c[1] = (dis_scaled_column){.name = "agreement", .values = t->agreement};
    DIS_TRY(dis__scaled_numbers(x->out, &c[2], "workers", n, &workers));
    DIS_TRY(dis__scaled_numbers(x->out, &c[3], "spans", n, &spans));
    DIS_TRY(dis__scaled_numbers(x->out, &c[4], "places", n, &length));
    DIS_TRY(dis__scaled_room(x->out, &key, n > W ? n : W, sizeof *key));
    for (size_t d = 0; d < n; d++) {
        for (size_t i = x->doc_start[d]; i < x->doc_start[d + 1]; i = worker_end(x, i)) workers[d]++;
        for (size_t i = x->doc_start[d]; i < x->doc_start[d + 1]; i++) spans[d] += x->s[i].label != NONE;
        if (x->piece_start[d + 1] > x->piece_start[d]) length[d] = (double)x->to[x->piece_start[d + 1] - 1];
        key[d] = -t->agreement[d];
    }
    DIS_TRY(dis__scaled_sort(x->out, &x->out->table[x->out->n_tables - 1], key));
    DIS_TRY(dis__scaled_add(x->out, "workers",
                            "workers by the F1 of their spans with those of the others, the lowest first", W, 5, &c));
    c[0] = (dis_scaled_column){.name = "worker", .names = x->args->look.workers};
    DIS_TRY(dis__scaled_numbers(x->out, &c[1], "tasks", W, &docs));
    DIS_TRY(dis__scaled_numbers(x->out, &c[2], "spans", W, &found));
    DIS_TRY(dis__scaled_numbers(x->out, &c[3], "f1_spans", W, &exact));
    DIS_TRY(dis__scaled_numbers(x->out, &c[4], "f1_spans_overlap", W, &near));
    for (size_t d = 0; d < n; d++)
        for (size_t i = x->doc_start[d]; i < x->doc_start[d + 1]; i = worker_end(x, i)) docs[x->s[i].worker]++;
    for (size_t i = 0; i < x->n; i++) found[x->s[i].worker] += x->s[i].label != NONE;
    for (size_t w = 0; w < W; w++) {
        exact[w] = share(t->exact[w], t->marked[w]);
        near[w] = share(t->overlap[w], t->marked[w]);
        key[w] = -exact[w];
    }
    return dis__scaled_sort(x->out, &x->out->table[x->out->n_tables - 1], key);
}

static dis_status measure(study *x)
{
    const size_t W = x->args->look.n_workers, K = x->n_classes,
                 cells = dis__size(dis__size(W, W, 0), dis__size(K, K, 0), 0);
    sums t = {0};
    DIS_TRY(dis__scaled_room(x->out, &t.column, dis__size(FIRST_COUNT + K, x->n_docs, 0), sizeof *t.column));
    DIS_TRY(dis__scaled_room(x->out, &t.exact, 3 * W, sizeof *t.exact));
    DIS_TRY(dis__scaled_room(x->out, &t.agreement, x->n_docs, sizeof *t.agreement));
    t.overlap = t.exact + W;
    t.marked = t.overlap + W;
    if (cells <= MAX_CELLS) {
        DIS_TRY(dis__scaled_room(x->out, &t.pair, cells, sizeof *t.pair));
        DIS_TRY(dis__scaled_room(x->out, &t.span_pair, cells, sizeof *t.span_pair));
    }
    add_up(x, &t);
    dis__scaled_measure(x->out, "kappa_tokens", "Cohen's kappa of places, mean of pairs", mean_kappa(x, t.pair));
    dis__scaled_measure(x->out, "kappa_spans", "Cohen's kappa of spans that one of two marked",
                        mean_kappa(x, t.span_pair));
    DIS_TRY(add_figures(x, &t));
    return add_tables(x, &t);
}

static dis_status run(const dis__scaled_args *args, dis_scaled *out)
{
    study x = {.args = args, .out = out};
    dis_label_choice choice;
    double *p;
    DIS_TRY(dis_choose_labels(args->o->method, args->o->n_methods, args->o->combine, true, &choice));
    const char *method = choice.recipe ? choice.recipe->name : choice.combine ? choice.combine : choice.view[0];
    DIS_TRY(dis__copy_text(&out->method_text, method, strlen(method)));
    out->method = out->method_text;
    DIS_TRY(take(&x));
    if (x.n_classes > MAX_CLASSES)
        return dis__fail(DIS_ELIMIT, "%zu classes of spans, and at most %d are possible", x.n_classes, MAX_CLASSES);
    if (x.n_classes < 2) return dis__fail(DIS_EDATA, "nobody marked a span");
    DIS_TRY(cut(&x));
    DIS_TRY(vote(&x));
    DIS_TRY(make(&x, &choice, &p));
    dis_status status = add_spans(&x, p);
    if (status == DIS_OK) status = add_pieces(&x, p);
    dis_free(p);
    return status == DIS_OK ? measure(&x) : status;
}

const dis__scaled_row dis__scaled_spans = {.run = run};
