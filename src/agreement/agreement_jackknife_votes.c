/* Coefficients without one vote. Items with the same pattern of votes change in the same way, so one vote of each class
 * of each pattern is left out, weighted by the number of such votes.
 *
 * With many patterns, only every n-th (pattern, class) is used, about MAX_WORK in total. That is precise enough for a
 * variance. */
#include "agreement/agreement_jackknife.h"
#include "core/memory/memory.h"
#include <math.h>

enum { MAX_WORK = 1 << 22, GRAIN = 64, MAX_JOBS = 64 };

dis_status dis__agreement_base_create(const dis__vote_patterns *patterns, const dis__coefficients *coefficients,
                                      size_t n_classes, size_t n_values, bool singles, dis__agreement_base *out)
{
    *out = (dis__agreement_base){.patterns = patterns,
                                 .coefficients = coefficients,
                                 .n_classes = n_classes,
                                 .n_values = n_values,
                                 .n_distances = dis__coefficients_count_distances(coefficients),
                                 .singles = singles};
    double *times = NULL;
    dis_status status = dis__alloc_array(&out->classes, n_classes, sizeof *out->classes);
    if (status == DIS_OK) status = dis__alloc_zeroed(&out->rank, n_classes, sizeof *out->rank);
    if (status == DIS_OK) status = dis__alloc_array(&out->value, n_values, sizeof *out->value);
    if (status == DIS_OK) status = dis__alloc_array(&times, patterns->n, sizeof *times);
    if (status == DIS_OK) {
        for (size_t p = 0; p < patterns->n; p++) times[p] = (double)patterns->pattern[p].items;
        dis__coefficients_compute_totals(coefficients, times, out->classes, out->rank, &out->totals);
        dis__agreement_base_compute_values(out, &out->totals, out->classes, out->value);
    }
    dis__free(times);
    return status;
}

void dis__agreement_base_destroy(dis__agreement_base *base)
{
    dis__free(base->classes);
    dis__free(base->rank);
    dis__free(base->value);
    *base = (dis__agreement_base){0};
}

void dis__agreement_base_compute_values(const dis__agreement_base *base, const dis__agreement_totals *t,
                                        const dis__class_sums *classes, double *values)
{
    dis__coefficient_values v;
    for (size_t i = 0; i < base->n_values; i++) values[i] = NAN;
    if (t->items < 1) return;
    dis__coefficients_from_totals(base->coefficients, t, classes, base->rank, &v);
    for (size_t m = 0; m < DIS_MEASURES_OF_PATTERNS; m++)
        if (m == DIS_MEASURE_PERCENT || !v.degenerate[m]) values[m] = v.value[m];
    values += DIS_MEASURES_OF_PATTERNS;
    for (size_t k = 0; base->n_values > DIS_MEASURES_OF_PATTERNS && k < base->n_classes; k++) {
        bool degenerate = false;
        double *of_class = values + k * DIS_CLASS_MEASURES;
        dis__class_compute_measures(&classes[k], &v, of_class, &degenerate);
        if (degenerate) of_class[1] = of_class[2] = NAN;
    }
}

void dis__item_totals_compute(const dis__agreement_base *base, const uint32_t *count, size_t n, uint64_t r,
                              const double apart[DIS_DISTANCES], dis__item_totals *out)
{
    const double votes = (double)r;
    const bool shared = r >= 2 || (r == 1 && base->singles), compared = r >= 2;
    out->totals = (dis__agreement_totals){.shared = shared, .items = compared, .votes = compared ? votes : 0};
    for (size_t d = 0; compared && d < base->n_distances; d++) {
        out->totals.mean[d] = apart[d] / (votes * (votes - 1));
        out->totals.paired[d] = apart[d] / (votes - 1);
    }
    for (size_t t = 0; t < n; t++) {
        const double c = (double)count[t];
        out->classes[t] = (dis__class_sums){.share = shared ? c / votes : 0};
        if (!compared) continue;
        out->classes[t].votes = c;
        out->classes[t].both = c * (c - 1) / (votes - 1);
        out->classes[t].parted = 2 * c * (votes - c) / (votes * (votes - 1));
    }
}

void dis__item_compute_distances(const dis__agreement_base *base, const dis__tally *tally, size_t n, double *near,
                                 double apart[DIS_DISTANCES])
{
    double d[DIS_DISTANCES], votes = 0;
    for (size_t i = 0; i < DIS_DISTANCES; i++) apart[i] = 0;
    for (size_t t = 0; t < n; t++) votes += (double)tally[t].count;
    for (size_t s = 0; s < n; s++) {
        double *to = near + s * DIS_DISTANCES;
        for (size_t i = 0; i < DIS_DISTANCES; i++) to[i] = 0;
        to[DIS_DISTANCE_NOMINAL] = votes - (double)tally[s].count;
        for (size_t t = 0; base->n_distances > 1 && t < n; t++) {
            dis__coefficients_compute_distances(base->coefficients, base->rank, tally[s].class, tally[t].class, d);
            for (size_t i = DIS_DISTANCE_NOMINAL + 1; i < DIS_DISTANCES; i++) to[i] += (double)tally[t].count * d[i];
        }
        for (size_t i = 0; i < base->n_distances; i++) apart[i] += (double)tally[s].count * to[i];
    }
}

/* ---- votes ---- */

typedef struct {
    const dis__agreement_base *base;
    size_t *first; /* (patterns) index of its first class among those of all patterns */
    size_t step, n_jobs;
    double *sums; /* (n_jobs, n_values + 1) of squared changes; the last: number of votes used */
} leaving;

typedef struct {
    dis__item_totals all, rest;
    dis__class_sums *classes; /* (n_classes) sums of all items except the current pattern */
    uint32_t *count;
    double *near, *value;
} leaving_room;

static dis_status room_create(const dis__agreement_base *b, leaving_room *m)
{
    const size_t n = b->n_classes;
    DIS_TRY(dis__alloc_array(&m->all.classes, n, sizeof *m->all.classes));
    DIS_TRY(dis__alloc_array(&m->rest.classes, n, sizeof *m->rest.classes));
    DIS_TRY(dis__alloc_array(&m->classes, n, sizeof *m->classes));
    DIS_TRY(dis__alloc_array(&m->count, n, sizeof *m->count));
    DIS_TRY(dis__alloc_array(&m->near, dis__saturating_size(n, DIS_DISTANCES, 0), sizeof *m->near));
    DIS_TRY(dis__alloc_array(&m->value, b->n_values, sizeof *m->value));
    for (size_t k = 0; k < n; k++) m->classes[k] = b->classes[k];
    return DIS_OK;
}

static void room_free(leaving_room *m)
{
    dis__free(m->all.classes);
    dis__free(m->rest.classes);
    dis__free(m->classes);
    dis__free(m->count);
    dis__free(m->near);
    dis__free(m->value);
}

/* All - item + the item without the vote. */
static dis__agreement_totals without(const dis__agreement_base *b, const leaving_room *m)
{
    dis__agreement_totals t = b->totals;
    t.items += m->rest.totals.items - m->all.totals.items;
    t.shared += m->rest.totals.shared - m->all.totals.shared;
    t.votes += m->rest.totals.votes - m->all.totals.votes;
    for (size_t d = 0; d < b->n_distances; d++) {
        t.mean[d] += m->rest.totals.mean[d] - m->all.totals.mean[d];
        t.paired[d] += m->rest.totals.paired[d] - m->all.totals.paired[d];
    }
    return t;
}

static void leave_out(const dis__agreement_base *b, const dis__vote_pattern *x, size_t t, const double *apart,
                      leaving_room *m, double *sums)
{
    double rest[DIS_DISTANCES];
    for (size_t d = 0; d < b->n_distances; d++) rest[d] = apart[d] - 2 * m->near[t * DIS_DISTANCES + d];
    m->count[t]--;
    dis__item_totals_compute(b, m->count, x->n, x->votes - 1, rest, &m->rest);
    m->count[t]++;
    for (size_t s = 0; s < x->n; s++) {
        const dis__class_sums *now = &m->rest.classes[s], *was = &m->all.classes[s];
        dis__class_sums *to = &m->classes[x->tally[s].class];
        to->votes += now->votes - was->votes;
        to->share += now->share - was->share;
        to->both += now->both - was->both;
        to->parted += now->parted - was->parted;
    }
    const dis__agreement_totals totals = without(b, m);
    const double votes = (double)x->items * (double)x->tally[t].count;
    dis__agreement_base_compute_values(b, &totals, m->classes, m->value);
    for (size_t v = 0; v < b->n_values; v++) {
        const double change = m->value[v] - b->value[v];
        sums[v] += isnan(change) ? 0 : votes * change * change;
    }
    sums[b->n_values] += votes;
    for (size_t s = 0; s < x->n; s++) m->classes[x->tally[s].class] = b->classes[x->tally[s].class];
}

static dis_status pattern_job(void *arg, size_t j, int thread)
{
    (void)thread;
    const leaving *w = arg;
    const dis__agreement_base *b = w->base;
    double *sums = w->sums + j * (b->n_values + 1);
    leaving_room m = {0};
    const dis_status status = room_create(b, &m);
    for (size_t v = 0; v <= b->n_values; v++) sums[v] = 0;
    const size_t last = dis__job_first(b->patterns->n, w->n_jobs, j + 1);
    for (size_t p = dis__job_first(b->patterns->n, w->n_jobs, j); p < last && status == DIS_OK; p++) {
        const dis__vote_pattern *x = &b->patterns->pattern[p];
        double apart[DIS_DISTANCES];
        bool prepared = false;
        for (size_t t = 0; t < x->n; t++) {
            if ((w->first[p] + t) % w->step != 0) continue;
            if (!prepared) {
                for (size_t s = 0; s < x->n; s++) m.count[s] = x->tally[s].count;
                dis__item_compute_distances(b, x->tally, x->n, m.near, apart);
                dis__item_totals_compute(b, m.count, x->n, x->votes, apart, &m.all);
                prepared = true;
            }
            leave_out(b, x, t, apart, &m, sums);
        }
    }
    room_free(&m);
    return status;
}

dis_status dis__agreement_jackknife_votes(dis_context *ctx, const dis__agreement_base *b, dis__agreement_jackknife *out)
{
    leaving w = {.base = b, .n_jobs = dis__n_jobs(b->patterns->n, GRAIN, MAX_JOBS)};
    DIS_TRY(dis__alloc_array(&out->votes, b->n_values, sizeof *out->votes));
    dis_status status = dis__alloc_array(&w.first, b->patterns->n, sizeof *w.first);
    if (status == DIS_OK)
        status = dis__alloc_array(&w.sums, dis__saturating_size(w.n_jobs, b->n_values + 1, 0), sizeof *w.sums);
    size_t n = 0;
    double all = 0; /* votes */
    for (size_t p = 0; p < b->patterns->n && status == DIS_OK; p++) {
        w.first[p] = n;
        n += b->patterns->pattern[p].n;
        all += (double)b->patterns->pattern[p].items * (double)b->patterns->pattern[p].votes;
    }
    w.step = dis__saturating_size(n, b->n_classes, 0) / MAX_WORK + 1;
    if (status == DIS_OK) status = dis__run_jobs(ctx, w.n_jobs, pattern_job, &w);
    for (size_t v = 0; v < b->n_values && status == DIS_OK; v++) {
        double sum = 0, votes = 0;
        for (size_t j = 0; j < w.n_jobs; j++) {
            sum += w.sums[j * (b->n_values + 1) + v];
            votes += w.sums[j * (b->n_values + 1) + b->n_values];
        }
        out->votes[v] = votes > 0 ? sum * (all / votes) : 0;
    }
    dis__free(w.first);
    dis__free(w.sums);
    return status;
}

void dis__agreement_jackknife_destroy(dis__agreement_jackknife *out)
{
    dis__free(out->annotators);
    dis__free(out->votes);
    *out = (dis__agreement_jackknife){0};
}
