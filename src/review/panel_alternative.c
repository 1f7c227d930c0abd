/* The alternative-annotator test (Calderon, Reichart and Dror 2025): may a model stand in for a person?
 *
 * One person at a time is left out. On each item that the person and the model voted on, both are scored by how well
 * they agree with the remaining people: the share of them with the same label, or for numbers minus the root of the
 * mean squared difference. W_m is [the model scores at least as well], W_p the same for the person. The model wins
 * against a person when the mean of W_p - W_m is below epsilon by a one-sided t-test, p-values corrected over people by
 * Benjamini and Yekutieli. omega is the share of people it wins against, rho the mean over people of the mean of W_m.
 *
 * Items need min_people votes of people, people min_items of such items. Cost: the votes of people on items with the
 * model, times the votes of people on the item. */
#include "review/panel_internal.h"
#include "core/memory.h"
#include "stats/tails.h"
#include <math.h>

/* How well a label agrees with the votes of all people on the item but one for `without`. */
static double score(const dis__panel_data *d, size_t i, size_t label, size_t without)
{
    const size_t n = d->votes->n_classes;
    const uint32_t *count = d->people + i * n;
    const double others = d->n_votes[i] - 1.;
    if (!d->number) return (count[label] - (label == without)) / others;
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
        const double apart = d->number[label] - d->number[k];
        sum += (count[k] - (double)(k == without)) * apart * apart;
    }
    return -sqrt(sum / others);
}

/* Sums over the items of one person. */
typedef struct {
    double n, sum, squares, stands;
} person_sums;

static dis_status add_row(dis__stands *s, size_t *room, uint32_t item, bool stands)
{
    DIS_TRY(dis__reserve(&s->row, room, s->n, s->n + 1, sizeof *s->row));
    s->row[s->n++] = (dis__stand){.item = item, .stands = stands};
    return DIS_OK;
}

/* Items of each worker: (n_workers + 1) starts and the places of votes. */
typedef struct {
    uint64_t *first, *vote;
    uint32_t *item; /* (n_votes) */
} by_worker;

static dis_status list_votes(const dis_votes_view *v, by_worker *by)
{
    DIS_TRY(dis__alloc_zeroed(&by->first, v->n_workers + 2, sizeof *by->first));
    DIS_TRY(dis__alloc_array(&by->vote, v->n_votes, sizeof *by->vote));
    DIS_TRY(dis__alloc_array(&by->item, v->n_votes, sizeof *by->item));
    for (size_t t = 0; t < v->n_votes; t++) by->first[v->worker[t] + 2]++;
    for (size_t w = 1; w < v->n_workers + 2; w++) by->first[w] += by->first[w - 1];
    for (size_t i = 0; i < v->n_items; i++)
        for (uint64_t t = v->start[i]; t < v->start[i + 1]; t++) {
            by->vote[by->first[v->worker[t] + 1]++] = t;
            by->item[t] = (uint32_t)i;
        }
    return DIS_OK;
}

static dis_status compare_person(const dis__panel_data *d, size_t j, const by_worker *by, size_t w, dis__stands *s,
                                 size_t *room, person_sums *out)
{
    const dis_votes_view *v = d->votes;
    *out = (person_sums){0};
    for (uint64_t x = by->first[w]; x < by->first[w + 1]; x++) {
        const uint64_t t = by->vote[x];
        const size_t i = by->item[t], mine = v->label8 ? v->label8[t] : v->label16[t];
        const int32_t model = d->said[j * v->n_items + i];
        if (model < 0 || d->n_votes[i] < d->o->min_people || d->n_votes[i] < 2) continue;
        const double person = score(d, i, mine, mine), judge = score(d, i, (size_t)model, mine);
        const double apart = (person >= judge) - (double)(judge >= person);
        out->n++;
        out->sum += apart;
        out->squares += apart * apart;
        out->stands += judge >= person;
        DIS_TRY(add_row(s, room, (uint32_t)i, judge >= person));
    }
    return DIS_OK;
}

/* P(T <= t) of mean - epsilon, as SciPy's ttest_1samp has it: all values alike give 0 or 1. */
static double test(const person_sums *s, double epsilon)
{
    const double mean = s->sum / s->n, square = fmax(0, s->squares - s->sum * mean) / (s->n - 1);
    const double apart = mean - epsilon;
    if (square < 1e-15) return apart == 0 ? (double)NAN : apart < 0 ? 0 : 1;
    return dis__student_tail(-apart / sqrt(square / s->n), s->n - 1);
}

static dis_status compare_all(const dis__panel_data *d, size_t j, const by_worker *by, dis_panel_judge *judge,
                              dis__stands *s, double *p)
{
    size_t room = 0, starts = 0;
    double rho = 0;
    DIS_TRY(dis__reserve(&s->first, &starts, 0, 1, sizeof *s->first));
    s->first[0] = 0;
    for (size_t w = 0; w < d->votes->n_workers; w++) {
        person_sums one;
        if (!d->person[w]) continue;
        DIS_TRY(compare_person(d, j, by, w, s, &room, &one));
        if (one.n < (double)d->o->min_items || one.n < 2) {
            s->n = s->first[s->n_compared]; /* too few: forgotten */
            continue;
        }
        p[s->n_compared] = test(&one, d->o->epsilon);
        rho += one.stands / one.n;
        DIS_TRY(dis__reserve(&s->first, &starts, s->n_compared + 1, s->n_compared + 2, sizeof *s->first));
        s->first[++s->n_compared] = s->n;
    }
    judge->people = s->n_compared;
    judge->winning_rate = NAN;
    judge->advantage = dis_metric_undefined("no person shares enough items with it");
    if (s->n_compared == 0) return DIS_OK;
    DIS_TRY(dis__false_discovery(p, s->n_compared, true, p));
    for (size_t h = 0; h < s->n_compared; h++) judge->won += p[h] <= d->o->fdr;
    judge->winning_rate = (double)judge->won / (double)judge->people;
    judge->advantage =
        (dis_metric){.value = rho / (double)s->n_compared, .ci_low = NAN, .ci_high = NAN, .n = s->n_compared};
    judge->passed = judge->winning_rate >= .5;
    return DIS_OK;
}

dis_status dis__panel_alternative(const dis__panel_data *d, size_t j, dis_panel_judge *judge, dis__stands *stands)
{
    by_worker by = {0};
    double *p = NULL;
    *stands = (dis__stands){0};
    dis_status status = list_votes(d->votes, &by);
    if (status == DIS_OK) status = dis__alloc_array(&p, d->votes->n_workers, sizeof *p);
    if (status == DIS_OK) status = compare_all(d, j, &by, judge, stands, p);
    dis__free(by.first);
    dis__free(by.vote);
    dis__free(by.item);
    dis__free(p);
    return status;
}

double dis__panel_advantage(const dis__stands *s, const uint8_t *times)
{
    double sum = 0, people = 0;
    for (size_t h = 0; h < s->n_compared; h++) {
        double n = 0, stands = 0;
        for (uint64_t r = s->first[h]; r < s->first[h + 1]; r++) {
            const double m = times ? times[s->row[r].item] : 1;
            n += m;
            stands += m * s->row[r].stands;
        }
        if (n > 0) {
            sum += stands / n;
            people++;
        }
    }
    return people > 0 ? sum / people : (double)NAN;
}
