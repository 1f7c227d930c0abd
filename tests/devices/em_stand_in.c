/* A device for EM passes in plain loops, in place of libdissent-cuda.so (DISSENT_CUDA): what the host sends, in small
 * pieces, is what passes are made from, so that packing, pieces, tables and errors are tested without a GPU. It has no
 * tricks: sums of logarithms, in double.
 *
 *     STUB_AT=N    the N-th pass fails: the device is lost
 *     STUB_BYTES=N more than N bytes of votes do not fit */
#include "devices/stand_in.h"
#include "labels/em/em_device.h"
#include "core/random/random.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1000 * 8 /* bytes: many pieces, none of them round */, LONG = 30, PART = 7 };

typedef struct {
    const dis__em_device *device;
    dis__em_shape g;
    char piece[PIECE];
    void *array[DIS_EM_N_SENDS];
    double *rates, *sums, *p, *x;
    bool started; /* a pass */
    long passes;
} stand_in;

static void close_it(void *session)
{
    stand_in *s = session;
    for (int i = 0; i < DIS_EM_N_SENDS; i++) free(s->array[i]);
    free(s->rates);
    free(s->sums);
    free(s->p);
    free(s->x);
    free(s);
}

static dis_status open_it(const dis__em_device *device, const dis__em_shape *g, dis__em_tables *tables, void **session)
{
    const size_t table = g->n_rows * g->row, sizes[] = {8, 4, 4, 8, 4, 4};
    if (getenv("STUB_BYTES") && 4 * g->n_votes > strtoull(getenv("STUB_BYTES"), NULL, 10))
        return device->row->host->fail(DIS_ELIMIT, "the memory of device cuda:0 is used up (0 of 1 MiB are free)");
    stand_in *s = calloc(1, sizeof *s);
    s->device = device;
    s->g = *g;
    for (int i = 0; i < DIS_EM_N_SENDS; i++)
        s->array[i] = calloc((i == DIS_EM_SEND_VOTES ? g->n_votes : g->n_items) + 1, sizes[i]); /* parts: n_long */
    s->rates = calloc(table + 1, sizeof *s->rates);
    s->sums = calloc(table + 1, sizeof *s->sums);
    s->p = calloc(g->n_items * g->n_classes + 1, sizeof *s->p);
    s->x = calloc(2 * g->n_states, sizeof *s->x);
    *tables = (dis__em_tables){.rates = s->rates, .sums = s->sums};
    *session = s;
    return DIS_OK;
}

static dis_status buffer(void *session, void **at, size_t *bytes)
{
    *at = ((stand_in *)session)->piece;
    *bytes = PIECE;
    return DIS_OK;
}

static dis_status send_it(void *session, size_t what, size_t offset, size_t bytes)
{
    stand_in *s = session;
    memcpy((char *)s->array[what] + offset, s->piece, bytes);
    return DIS_OK;
}

static dis_status receive(void *session, size_t offset, size_t bytes, size_t *got, const void **from)
{
    stand_in *s = session;
    *got = bytes < PIECE ? bytes : PIECE;
    memcpy(s->piece, (const char *)s->p + offset, *got);
    *from = s->piece;
    return DIS_OK;
}

static size_t label_of(const stand_in *s, uint32_t vote)
{
    return vote & ((1u << s->g.label_bits) - 1);
}

static size_t row_of(const stand_in *s, uint32_t vote)
{
    const size_t worker = vote >> s->g.label_bits;
    return s->g.pairs && !s->g.by_label ? worker : (worker * s->g.n_classes + label_of(s, vote)) * s->g.row;
}

static void share(const stand_in *s, size_t i, uint64_t key, int gold, double *x)
{
    const dis__em_shape *g = &s->g;
    const uint64_t *start = s->array[DIS_EM_SEND_START], *signature = s->array[DIS_EM_SEND_SIGNATURE];
    const uint32_t *votes = s->array[DIS_EM_SEND_VOTES];
    for (size_t k = 0; k < g->n_classes; k++) {
        double part = 0, sum = 0, n = (double)(start[i + 1] - start[i]), *of = x + k * g->n_groups;
        for (uint64_t v = start[i]; v < start[i + 1]; v++) part += label_of(s, votes[v]) == k;
        part = gold >= 0 ? (double)((int)k == gold) : n > 0 ? part / n : 1 / (double)g->n_classes;
        for (size_t m = 0; m < g->n_groups; m++) {
            of[m] = 1;
            if (g->n_groups == 1) continue;
            const dis_random_block r = dis__philox(signature[i], k << 32 | m / 4 * 4, key);
            of[m] = log(((double)r.word[m % 4] + .5) * 0x1p-32);
        }
        for (size_t m = 0; m < g->n_groups; m++) sum += of[m];
        for (size_t m = 0; m < g->n_groups; m++) of[m] *= part / sum;
    }
}

/* Logarithms, so that nothing is too small; returns the log normaliser. */
static double score(const stand_in *s, size_t i, const double *prior, bool hard, int gold, double *x)
{
    const dis__em_shape *g = &s->g;
    const uint64_t *start = s->array[DIS_EM_SEND_START];
    const uint32_t *votes = s->array[DIS_EM_SEND_VOTES];
    const double never = -1e8;
    double top = -INFINITY, total = 0;
    size_t best = 0;
    for (size_t k = 0; k < g->n_states; k++) {
        x[k] = prior[k] > 0 ? log(prior[k]) : never;
        for (uint64_t v = start[i]; v < start[i + 1]; v++) {
            const double *row = s->rates + row_of(s, votes[v]);
            if (g->pairs && label_of(s, votes[v]) != k) continue;
            x[k] += row[g->pairs ? 0 : k] > 0 ? log(row[g->pairs ? 0 : k]) : never;
        }
        if (gold >= 0 && (int)(k / g->n_groups) != gold) x[k] = -INFINITY;
        if (x[k] > top) best = k;
        if (x[k] > top) top = x[k];
    }
    /* products that no double holds count as 0, but where all of an item are so */
    for (size_t k = 0; k < g->n_states && top > -700 * log(2); k++)
        if (x[k] < -1022 * log(2)) x[k] = -INFINITY;
    for (size_t k = 0; k < g->n_states; k++) total += x[k] = hard ? (double)(k == best) : exp(x[k] - top);
    for (size_t k = 0; k < g->n_states; k++) x[k] = x[k] / total < 0x1p-1022 ? 0 : x[k] / total;
    return top + log(total);
}

/* Whether the items of many votes are those that were told. */
static bool long_items_are_right(const stand_in *s)
{
    const uint64_t *start = s->array[DIS_EM_SEND_START];
    const uint32_t *item = s->array[DIS_EM_SEND_LONG], *part = s->array[DIS_EM_SEND_PARTS];
    size_t n = 0, parts = 0;
    for (size_t i = 0; i < s->g.n_items; i++) {
        const uint64_t votes = start[i + 1] - start[i];
        if (votes <= LONG) continue;
        if (n >= s->g.n_long || item[n] != i || part[n] != parts) return false;
        parts += (votes + PART - 1) / PART;
        n++;
    }
    return n == s->g.n_long && parts == s->g.n_parts && (n == 0 || part[n] == parts);
}

static dis_status start_pass(void *session, const dis__em_device_pass *pass)
{
    stand_in *s = session;
    if (s->started) return s->device->row->host->fail(DIS_EBUG, "a pass is under way");
    if (!long_items_are_right(s)) return s->device->row->host->fail(DIS_EBUG, "other long items");
    s->started = pass->prior != NULL;
    return DIS_OK;
}

static dis_status end_pass(void *session, dis__em_device_pass *pass)
{
    stand_in *s = session;
    const dis__em_shape *g = &s->g;
    const uint64_t *start = s->array[DIS_EM_SEND_START];
    const uint32_t *votes = s->array[DIS_EM_SEND_VOTES];
    const int32_t *known = s->array[DIS_EM_SEND_GOLD];
    if (!s->started) return s->device->row->host->fail(DIS_EBUG, "no pass is under way");
    s->started = false;
    if (getenv("STUB_AT") && ++s->passes == atol(getenv("STUB_AT")))
        return s->device->row->host->fail(DIS_EIO, "a pass over the votes on device cuda:0: it is lost");
    memset(pass->class_sum, 0, g->n_states * sizeof *pass->class_sum);
    if (pass->sum) memset(s->sums, 0, g->n_rows * g->row * sizeof *s->sums);
    pass->log_z = 0;
    for (size_t i = 0; i < g->n_items; i++) {
        double *x = s->x;
        const int gold = g->gold ? known[i] : -1;
        if (pass->step == DIS_EM_SHARES)
            share(s, i, pass->key, gold, x);
        else
            pass->log_z += score(s, i, pass->prior, pass->step == DIS_EM_HARD, gold, x);
        for (size_t k = 0; k < g->n_states; k++) pass->class_sum[k] += x[k];
        for (uint64_t v = start[i]; pass->sum && v < start[i + 1]; v++)
            for (size_t k = 0; k < g->n_states; k++)
                if (!g->pairs || label_of(s, votes[v]) == k) s->sums[row_of(s, votes[v]) + (g->pairs ? 0 : k)] += x[k];
        for (size_t k = 0; k < g->n_classes; k++) {
            s->p[i * g->n_classes + k] = 0;
            for (size_t m = 0; m < g->n_groups; m++) s->p[i * g->n_classes + k] += x[k * g->n_groups + m];
        }
    }
    return DIS_OK;
}

static dis_status count_labels(void *session, uint64_t *counts)
{
    stand_in *s = session;
    const dis__em_shape *g = &s->g;
    const uint64_t *start = s->array[DIS_EM_SEND_START];
    const uint32_t *votes = s->array[DIS_EM_SEND_VOTES];
    const int32_t *known = s->array[DIS_EM_SEND_GOLD];
    memset(counts, 0, (2 * g->n_classes + 2) * sizeof *counts);
    for (size_t i = 0; i < g->n_items; i++) {
        uint64_t n[4] = {0};
        size_t max = 0, label = 0;
        if (start[i] == start[i + 1] || (g->gold && known[i] >= 0)) continue;
        for (uint64_t v = start[i]; v < start[i + 1]; v++) n[label_of(s, votes[v])]++;
        for (size_t k = 1; k < g->n_classes; k++) {
            if (n[k] > n[max]) max = k;
            if (s->p[i * g->n_classes + k] > s->p[i * g->n_classes + label]) label = k;
        }
        counts[max]++;
        counts[g->n_classes + label]++;
        counts[2 * g->n_classes]++;
        counts[2 * g->n_classes + 1] += n[label] == 0;
    }
    return DIS_OK;
}

void stand_in_add_em(dis__device_row *row)
{
    static dis__em_device device;
    device = (dis__em_device){.row = row,
                              .max_states = 1024,
                              .long_votes = LONG,
                              .part_votes = PART,
                              .open = open_it,
                              .buffer = buffer,
                              .send = send_it,
                              .start_pass = start_pass,
                              .end_pass = end_pass,
                              .count_classes = 4,
                              .count_labels = count_labels,
                              .receive = receive,
                              .close = close_it};
    row->em = (dis__device_table){.functions = &device, .size = sizeof device};
}
